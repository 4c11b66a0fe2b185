package paper

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/roundofflab/roundoff/internal/atomicfile"
)

// Provenance describes the GPU, the software and the date of a measurement.
type Provenance struct {
	GPU          string `json:"gpu"`          // name and compute capability
	Architecture string `json:"architecture"` // in the names of package tcore
	Driver       string `json:"driver"`       // the newest CUDA version that the driver supports
	Library      string `json:"library"`      // cuBLAS with its version
	Date         string `json:"date"`         // date of the run, in the format 2006-01-02
}

// Origin says whether the results of a GPU were measured, read from a record,
// or emulated.
type Origin struct {
	Provenance      // zero if there are no results of a GPU
	Measured   bool // measured during this run by the GPU of this machine, not read from a record
	Missed     bool // ROUNDOFF_DEVICE asks for a GPU, but this machine has none
}

// Emulated reports whether there are no results of a GPU and the emulation
// replaces them.
func (o Origin) Emulated() bool { return o.GPU == "" }

// String returns the origin in one or two sentences, for captions.
func (o Origin) String() string {
	s := ""
	if o.Missed {
		s = "ROUNDOFF_DEVICE asks for a GPU, and there is none here. "
	}
	from := fmt.Sprintf("on %s, CUDA %s, %s, %s", o.GPU, o.Driver, o.Library, o.Date)
	switch {
	case o.Emulated():
		return s + "No GPU has been asked this: it is the emulation on this processor"
	case o.Measured:
		return s + "Measured " + from
	}
	return s + "Recorded " + from + "; no GPU was asked here"
}

//go:embed recorded
var embedded embed.FS

// recorded is the file system with the records of the repository.
var recorded fs.FS = embedded

// fromSilicon reads the results of an experiment on a GPU into record. If the
// environment variable ROUNDOFF_DEVICE is gpu and there is a GPU, it measures
// them; otherwise it reads the record in the repository. If there is none,
// record is unchanged and the origin is emulated. The measurement runs in the
// command roundoff, so that programs that import this package do not link the
// CUDA libraries.
func fromSilicon(experiment, file string, flags []string, record any) (o Origin, err error) {
	switch device := os.Getenv("ROUNDOFF_DEVICE"); device {
	case "":
	case "gpu":
		data, err := askGPU(experiment, file, flags)
		if err != nil {
			return o, err
		}
		if data != nil {
			o.Measured = true
			return o, decodeRecord(experiment, data, record, &o.Provenance)
		}
		o.Missed = true
	default:
		return o, fmt.Errorf("paper: ROUNDOFF_DEVICE = %q, want gpu or nothing", device)
	}
	data, err := fs.ReadFile(recorded, "recorded/"+file)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err != nil {
		return o, fmt.Errorf("paper: %w", err)
	}
	return o, decodeRecord(file, data, record, &o.Provenance)
}

// askGPU runs the experiment in the command roundoff and returns the record
// that it writes, or nil if there is no GPU.
func askGPU(experiment, file string, flags []string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "roundoff")
	if err != nil {
		return nil, fmt.Errorf("paper: %w", err)
	}
	defer os.RemoveAll(dir)
	args := append([]string{"gpu", "experiment"}, flags...)
	cmd := exec.Command("roundoff", append(args, dir, experiment)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	const noGPU = 3 // exit status of roundoff if there is no GPU
	var exit *exec.ExitError
	switch err := cmd.Run(); {
	case errors.As(err, &exit) && exit.ExitCode() == noGPU:
		return nil, nil
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("paper: ROUNDOFF_DEVICE = gpu takes the command roundoff, go build -o .bin/ ./cmd/roundoff: %w", err)
	case err != nil:
		return nil, fmt.Errorf("paper: %s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(said.String()))
	}
	data, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return nil, fmt.Errorf("paper: %w", err)
	}
	return data, nil
}

// decodeRecord decodes a record and its provenance. It returns an error if the
// record names no GPU.
func decodeRecord(name string, data []byte, record any, from *Provenance) error {
	if err := errors.Join(json.Unmarshal(data, record), json.Unmarshal(data, from)); err != nil {
		return fmt.Errorf("paper: record %s: %w", name, err)
	}
	if from.GPU == "" {
		return fmt.Errorf("paper: record %s names no GPU", name)
	}
	return nil
}

// A Record contains the results of a GPU in the form in which they are stored:
// JSON with a [Provenance].
type Record interface {
	File() string // name of its file in a folder of records
}

// WriteRecord writes the record to its file in the folder dir. The file is
// replaced atomically. It returns an error if encoding or writing fails.
func WriteRecord(dir string, r Record) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err == nil {
		err = atomicfile.WriteFile(filepath.Join(dir, r.File()), append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("paper: writing %s: %w", r.File(), err)
	}
	return nil
}
