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

	"github.com/google/renameio/v2"
)

// Provenance says where the results of a GPU come from.
type Provenance struct {
	GPU          string `json:"gpu"`          // name and compute capability
	Architecture string `json:"architecture"` // as package tcore names it
	Driver       string `json:"driver"`       // the newest CUDA that it supports
	Library      string `json:"library"`      // cuBLAS with its version
	Date         string `json:"date"`         // of the run, as in 2006-01-02
}

// Origin says how the results of a GPU came here.
type Origin struct {
	Provenance      // zero if there are none
	Measured   bool // now, by the GPU of this machine, and not recorded earlier
	Missed     bool // a GPU was asked for, and there is none
}

// Emulated reports whether there are no results of a GPU, so that the emulation
// stands in for one.
func (o Origin) Emulated() bool { return o.GPU == "" }

// String says in a sentence or two what a caption must tell.
func (o Origin) String() string {
	s := ""
	if o.Missed {
		s = "ROUNDOFF_DEVICE asks for a GPU, and there is none here. "
	}
	from := fmt.Sprintf("on %s, CUDA %s, %s, %s", o.GPU, o.Driver, o.Library, o.Date)
	switch {
	case o.Emulated():
		return s + "No record of this from silicon exists yet: what is shown is the emulation on this processor"
	case o.Measured:
		return s + "Measured " + from
	}
	return s + "Recorded " + from + "; no GPU was asked here"
}

//go:embed recorded
var embedded embed.FS

// recorded holds the records of the repository.
var recorded fs.FS = embedded

// fromSilicon reads the record of an experiment: measured now if the
// environment variable ROUNDOFF_DEVICE is gpu and there is a GPU, or else the
// one in the repository. If neither is there, the record stays as it is. The
// GPU is asked through the command roundoff, so that no program that imports
// this package links what a GPU takes.
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

// askGPU has the command roundoff run the experiment. It returns nil if there
// is no GPU.
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
	const noGPU = 3 // what roundoff exits with
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

// decodeRecord reads a record and where it comes from, which it must tell.
func decodeRecord(name string, data []byte, record any, from *Provenance) error {
	if err := errors.Join(json.Unmarshal(data, record), json.Unmarshal(data, from)); err != nil {
		return fmt.Errorf("paper: record %s: %w", name, err)
	}
	if from.GPU == "" {
		return fmt.Errorf("paper: record %s names no GPU", name)
	}
	return nil
}

// A Record is the results of a GPU as they are kept: JSON that tells its
// Provenance.
type Record interface {
	File() string // its name in a folder of records
}

// WriteRecord writes the record to its file in the folder, whole or not at all.
func WriteRecord(dir string, r Record) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err == nil {
		err = renameio.WriteFile(filepath.Join(dir, r.File()), append(data, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("paper: writing %s: %w", r.File(), err)
	}
	return nil
}
