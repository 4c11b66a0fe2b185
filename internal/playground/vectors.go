package playground

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/fnv"

	"github.com/roundofflab/roundoff/internal/tcvec"
)

// Vectors asks to check a file of test vectors, as the command "roundoff
// vectors check" does. The page does not ask it; a test does, to see that the
// program inside the page computes what it does elsewhere.
type Vectors struct {
	File string `json:"file"` // contents of a *.tcv.gz, decompressed, in base64
}

// A VectorsAnswer says how many rows there are and how many of the graded ones
// differ from the file. Digest is a hash of all results, graded or not.
type VectorsAnswer struct {
	Rows       int    `json:"rows"`
	Graded     int    `json:"graded"`
	Mismatches int    `json:"mismatches"`
	Digest     string `json:"digest"`
}

// Answer returns the answer. An error says what is wrong with the file.
func (q Vectors) Answer() (*VectorsAnswer, error) {
	file, err := base64.StdEncoding.DecodeString(q.File)
	if err != nil {
		return nil, fmt.Errorf("file: %w", err)
	}
	r, err := tcvec.NewPlainReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	digest := fnv.New64a()
	tally, err := r.Check(func(code uint64) { digest.Write(binary.LittleEndian.AppendUint64(nil, code)) })
	return &VectorsAnswer{tally.Rows, tally.Graded, tally.Mismatches, fmt.Sprintf("%016x", digest.Sum64())}, err
}
