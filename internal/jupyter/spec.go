package jupyter

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A Spec describes how to start a kernel: the content of a kernel.json.
type Spec struct {
	Argv          []string          `json:"argv"` // command; {connection_file} is a path
	DisplayName   string            `json:"display_name"`
	Language      string            `json:"language"`
	InterruptMode string            `json:"interrupt_mode"` // "message", or "signal" when empty
	Env           map[string]string `json:"env"`            // added to the environment

	dir string // folder of kernel.json, for {resource_dir} in Argv
}

// ReadSpec returns the kernelspec in the file path.
func ReadSpec(path string) (Spec, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Spec{}, fmt.Errorf("jupyter: no kernelspec: %w", err)
	}
	s := Spec{dir: filepath.Dir(path)}
	if err := json.Unmarshal(data, &s); err != nil {
		return Spec{}, fmt.Errorf("jupyter: kernelspec %s: %w", path, err)
	}
	if err := s.check(); err != nil {
		return Spec{}, fmt.Errorf("jupyter: kernelspec %s: %w", path, err)
	}
	return s, nil
}

func (s Spec) check() error {
	if len(s.Argv) == 0 {
		return errors.New("argv is empty")
	}
	switch s.InterruptMode {
	case "", "signal", "message":
		return nil
	}
	return fmt.Errorf(`interrupt_mode %q, want "signal" or "message"`, s.InterruptMode)
}

// command returns the arguments that start the kernel with the given connection
// file.
func (s Spec) command(connectionFile string) []string {
	r := strings.NewReplacer("{connection_file}", connectionFile, "{resource_dir}", s.dir)
	argv := make([]string, len(s.Argv))
	for i, arg := range s.Argv {
		argv[i] = r.Replace(arg)
	}
	return argv
}

// environ returns the environment of the kernel: that of this process, then
// that of the kernelspec, then extra, each as "key=value". If a key occurs more
// than once, the last value counts.
func (s Spec) environ(extra []string) []string {
	env := os.Environ()
	for k, v := range s.Env {
		env = append(env, k+"="+v)
	}
	return append(env, extra...)
}
