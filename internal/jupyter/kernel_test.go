//go:build unix

package jupyter

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/roundofflab/roundoff/internal/notebook"
)

// start returns a running fake kernel, which is closed when the test ends.
func start(t *testing.T, mode string, env ...string) *Kernel {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	k, err := Start(t.Context(), fakeSpec(t, mode), t.TempDir(), env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k
}

// execute runs a cell that must not fail.
func execute(t *testing.T, k *Kernel, code string) *Result {
	t.Helper()
	r, err := k.Execute(t.Context(), code)
	if err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	return r
}

// shown returns the outputs in one line, such as "stdout:a|display_data:b".
func shown(r *Result) string {
	var list []string
	for _, o := range r.Outputs {
		switch o.Type {
		case "stream":
			list = append(list, o.Name+":"+o.Text)
		case "error":
			list = append(list, "error:"+o.ErrName+" "+o.ErrValue+" "+strings.Join(o.Traceback, ","))
		default:
			s, _ := o.Data["text/plain"].(string)
			list = append(list, o.Type+":"+s)
		}
	}
	return strings.ReplaceAll(strings.Join(list, "|"), "\n", ";")
}

func TestExecute(t *testing.T) {
	k := start(t, "message")
	for _, c := range []struct{ name, code, want string }{
		{"merges_a_stream", "print a\nprint b\nwarn c\nprint d", "stdout:a;b;|stderr:c;|stdout:d;"},
		{"keeps_displays_apart", "display a\ndisplay b", "display_data:a|display_data:b"},
		{"updates_a_display", "display a\nprint x\nupdate b", "display_data:b|stdout:x;"},
		{"ignores_strangers", "stranger\nprint a", "stdout:a;"},
		{"clears_at_once", "print a\nclear", ""},
		{"clears_when_something_follows", "print a\nclear wait\nprint b", "stdout:b;"},
		{"keeps_what_is_to_be_cleared_until_then", "print a\nclear wait", "stdout:a;"},
		{"shows_an_error", "print a\nfail", "stdout:a;|error:E it went wrong here,there"},
		{"shows_a_result", `result {"x": 1.0}`, "execute_result:"},
		{"runs_nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shown(execute(t, k, c.code)); got != c.want {
				t.Errorf("%q shows %q, want %q", c.code, got, c.want)
			}
		})
	}
	t.Run("says_whether_the_cell_failed", func(t *testing.T) {
		if r := execute(t, k, "print a"); r.Failed || r.Reason != "" {
			t.Errorf("print: failed = %v, %q", r.Failed, r.Reason)
		}
		if r := execute(t, k, "fail"); !r.Failed || r.Reason != "it went wrong" {
			t.Errorf("fail: failed = %v, %q", r.Failed, r.Reason)
		}
	})
	t.Run("counts", func(t *testing.T) {
		n := execute(t, k, "print").Count
		if m := execute(t, k, "print").Count; n < 1 || m != n+1 {
			t.Errorf("counts %d, %d", n, m)
		}
	})
	t.Run("updates_a_display_of_an_earlier_cell", func(t *testing.T) {
		r := execute(t, k, "display a")
		execute(t, k, "update later")
		if got, want := shown(r), "display_data:later"; got != want {
			t.Errorf("shows %q, want %q", got, want)
		}
	})
	t.Run("tells_of_each_output_when_it_begins", func(t *testing.T) {
		var begun []string
		seen := func(o *notebook.Output) { begun = append(begun, o.Type+" "+o.Text) }
		if _, err := k.Watch(t.Context(), "print a\nprint b\ndisplay c\nupdate d\nwarn e\nclear wait\nprint f\nclear\nfail", seen); err != nil {
			t.Fatal(err)
		}
		const want = "stream a;|display_data |stream e;|stream f;|error "
		if got := strings.ReplaceAll(strings.Join(begun, "|"), "\n", ";"); got != want {
			t.Errorf("told of %q, want %q", got, want)
		}
	})
	t.Run("takes_large_outputs", func(t *testing.T) {
		if got, want := len(execute(t, k, "big").Outputs[0].Text), 4<<20; got != want {
			t.Errorf("%d bytes, want %d", got, want)
		}
	})
}

func TestStart(t *testing.T) {
	t.Run("sets_folder_and_environment", func(t *testing.T) {
		k := start(t, "", "BOTH=caller")
		dir, _ := filepath.EvalSymlinks(k.cmd.Dir)
		for _, c := range []struct{ code, want string }{
			{"pwd", dir}, {"env FROM_SPEC", "spec"}, {"env BOTH", "caller"}, {"env TMPDIR", k.scratch},
		} {
			if got := execute(t, k, c.code).Outputs[0].Text; got != c.want {
				t.Errorf("%s = %q, want %q", c.code, got, c.want)
			}
		}
	})
	t.Run("hides_the_key", func(t *testing.T) {
		k := start(t, "")
		files, _ := filepath.Glob(filepath.Join(k.scratch, "kernel-*.json"))
		if len(files) != 1 {
			t.Fatalf("%d connection files", len(files))
		}
		if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("connection file: %v, %v", info.Mode(), err)
		}
		if k.conn.IP != "127.0.0.1" {
			t.Errorf("the kernel listens on %s", k.conn.IP)
		}
	})
	for _, c := range []struct {
		name string
		argv []string
		want string
	}{
		{"reports_a_kernel_that_ends", []string{"/bin/sh", "-c", "echo no gonb here >&2; exit 7"}, "exit status 7\nno gonb here"},
		{"reports_a_missing_program", []string{"/no/such/kernel"}, "no such file"},
		{"reports_an_empty_command", nil, "argv is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			_, err := Start(t.Context(), Spec{Argv: c.argv}, t.TempDir(), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error with %q", err, c.want)
			}
			if left, _ := os.ReadDir(tmp); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	for name, begin := range map[string]string{
		"starts_again_where_a_port_is_taken": "taken " + filepath.Join(t.TempDir(), "once"),
		"dials_again_when_it_is_cut_off":     "cut",
	} {
		t.Run(name, func(t *testing.T) {
			k := start(t, "", "FAKE_BEGIN="+begin)
			if got := shown(execute(t, k, "print a")); got != "stdout:a;" {
				t.Errorf("shows %q", got)
			}
		})
	}
	for name, spec := range map[string]Spec{
		"gives_up_with_its_context":                            {Argv: []string{"sleep", "3600"}},
		"gives_up_with_its_context_on_one_who_does_not_answer": fakeSpec(t, ""),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			begun := time.Now()
			_, err := Start(ctx, spec, t.TempDir(), []string{"FAKE_BEGIN=mute"})
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > startTime/2 {
				t.Errorf("%v after %v, want a deadline exceeded at once", err, time.Since(begun))
			}
		})
	}
}

func TestInterrupt(t *testing.T) {
	for _, mode := range []string{"message", "signal"} {
		t.Run("by_"+mode+"_stops_the_cell_only", func(t *testing.T) {
			k := start(t, mode)
			late := errors.New("too late")
			ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, late)
			defer cancel()
			r, err := k.Execute(ctx, "print a\nsleep")
			if err != late || shown(r) != "stdout:a;interrupted" {
				t.Errorf("%v, shows %q", err, shown(r))
			}
			if got := shown(execute(t, k, "print b")); got != "stdout:b;" {
				t.Errorf("the next cell shows %q", got)
			}
		})
	}
}

func TestClose(t *testing.T) {
	gone := func(t *testing.T, pid int) {
		t.Helper()
		for range 100 {
			if syscall.Kill(pid, 0) == syscall.ESRCH || zombie(pid) {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("process %d lives on", pid)
	}
	t.Run("leaves_nothing", func(t *testing.T) {
		k := start(t, "message")
		child, err := strconv.Atoi(execute(t, k, "child").Outputs[0].Text)
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Close(); err != nil {
			t.Error(err)
		}
		gone(t, k.cmd.Process.Pid)
		gone(t, child)
		if _, err := os.Stat(k.scratch); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("temporary files left: %v", err)
		}
		if err := k.Close(); err != nil {
			t.Errorf("closed twice: %v", err)
		}
		if _, err := k.Execute(t.Context(), "print a"); err == nil {
			t.Error("a closed kernel executes")
		}
	})
	t.Run("kills_what_does_not_listen", func(t *testing.T) {
		if testing.Short() {
			t.Skip("waits 12 s for a cell that ignores interrupt and termination")
		}
		k := start(t, "message")
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := k.Execute(ctx, "deaf")
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "did not stop") {
			t.Errorf("%v", err)
		}
		if err := k.Close(); err != nil {
			t.Error(err)
		}
		gone(t, k.cmd.Process.Pid)
	})
}

// zombie reports whether a process has ended and its parent has not yet waited
// for it.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestExecute_reports_a_broken_kernel(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"die", "exit status 3\nlast words"},
		{"forge", "wrong signature"},
		{"garble", "content of a message"},
	} {
		t.Run(c.code, func(t *testing.T) {
			k := start(t, "message")
			if _, err := k.Execute(t.Context(), c.code); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error with %q", err, c.want)
			}
			if err := k.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestReadSpec(t *testing.T) {
	spec, err := ReadSpec("../../tools/kernels/gonb/kernel.json")
	if err != nil {
		t.Fatal(err)
	}
	if spec.Language != "go" || spec.InterruptMode != "message" || spec.Env["GOPROXY"] != "off" {
		t.Errorf("%+v", spec)
	}
	argv := Spec{Argv: []string{"k", "-f={connection_file}", "{resource_dir}/x"}, dir: "d"}.command("c.json")
	if got, want := strings.Join(argv, " "), "k -f=c.json d/x"; got != want {
		t.Errorf("command %q, want %q", got, want)
	}
	for _, c := range []struct{ content, want string }{
		{"{", "unexpected end"}, {`{"argv": []}`, "argv is empty"},
		{`{"argv": ["x"], "interrupt_mode": "shout"}`, `interrupt_mode "shout"`},
	} {
		path := filepath.Join(t.TempDir(), "kernel.json")
		os.WriteFile(path, []byte(c.content), 0o600)
		if _, err := ReadSpec(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.content, err, c.want)
		}
	}
	if _, err := ReadSpec("no/such/file"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestTail_keeps_the_end(t *testing.T) {
	var l tail
	for i := range 3000 {
		l.Write([]byte(strconv.Itoa(i) + "\n"))
	}
	if s := l.String(); len(s) > tailSize || !strings.HasSuffix(s, "2998\n2999") {
		t.Errorf("%d bytes, ending in %q", len(s), s[len(s)-20:])
	}
}
