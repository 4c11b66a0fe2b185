//go:build unix

package jupyter

import (
	"context"
	"encoding/json"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"testing"
	"time"
)

// startGoNB returns a running GoNB kernel, in the folder of the notebooks.
func startGoNB(t *testing.T) *Kernel {
	t.Helper()
	if testing.Short() {
		t.Skip("runs a GoNB kernel")
	}
	for _, tool := range []string{"gonb", "goimports"} {
		if _, err := os.Stat("../../.bin/" + tool); err != nil {
			t.Skipf("no .bin/%s: make tools builds it", tool)
		}
	}
	spec, err := ReadSpec("../../tools/kernels/gonb/kernel.json")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("ROUNDOFF_OUT", "")
	k, err := Start(t.Context(), spec, "../../notebooks", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

// watch runs a cell and passes every message about it to seen, until the cell
// has ended. It returns whether the cell succeeded.
func watch(t *testing.T, k *Kernel, code string, seen func(m message)) bool {
	t.Helper()
	id, err := k.send(k.shell, "execute_request", map[string]any{
		"code": code, "silent": false, "store_history": true,
		"user_expressions": struct{}{}, "allow_stdin": false, "stop_on_error": true,
	})
	if err != nil {
		t.Fatal(err)
	}
	late := time.After(2 * time.Minute)
	replied, idle, ok := false, false, false
	for !replied || !idle {
		select {
		case m := <-k.replies:
			if m.Parent.ID == id && m.Header.Type == "execute_reply" {
				replied, ok = true, strings.Contains(string(m.Content), `"status":"ok"`)
			}
		case m := <-k.published:
			idle = idle || m.Parent.ID == id && m.idle()
			seen(m)
		case <-late:
			t.Fatal("the cell does not end")
		case <-k.alive.Done():
			t.Fatal(context.Cause(k.alive))
		}
	}
	return ok
}

// A cell that does not end by itself stops when it is interrupted, whether it
// sleeps, computes or waits, and the kernel runs the next cell.
func TestGoNB_interrupt(t *testing.T) {
	if signal.Ignored(os.Interrupt) {
		t.Skip("who started the tests ignores interrupts, and so do kernels that they start")
	}
	k := startGoNB(t)
	for name, code := range map[string]string{
		"sleep":       "time.Sleep(time.Hour)",
		"computation": "for n := 0; ; n++ {\n}",
		"product":     "for {\npaper.DefaultGEMM.Run()\n}",
	} {
		t.Run("stops_a_"+name, func(t *testing.T) {
			begun := false
			ok := watch(t, k, "%%\nfmt.Println(\"begun\")\n"+code, func(m message) {
				if m.Header.Type == "stream" && strings.Contains(string(m.Content), "begun") {
					begun = true
					if err := k.interrupt(); err != nil {
						t.Error(err)
					}
				}
			})
			if ok || !begun {
				t.Errorf("begun = %v, success = %v", begun, ok)
			}
			if r := execute(t, k, "%%\nfmt.Println(6 * 7)"); !strings.Contains(shown(r), "stdout:42;") {
				t.Errorf("the next cell shows %q", shown(r))
			}
		})
	}
}

// A cell that calls Explore ends, and afterwards the kernel executes what the
// page sends when a slider moves: it prints the figure of that setting, also
// when another cell has run in between.
func TestGoNB_explore_answers(t *testing.T) {
	t.Setenv("GONB_JUPYTER_KERNEL_ID", "a-1")
	k := startGoNB(t)
	var code string
	ok := watch(t, k, exploreCell, func(m message) {
		if found := exploreCode.FindStringSubmatch(string(m.Content)); found != nil {
			if err := json.Unmarshal([]byte(`"`+found[1]+`"`), &code); err != nil {
				t.Error(err)
			}
			if err := json.Unmarshal([]byte(`"`+code+`"`), &code); err != nil {
				t.Error(err)
			}
		}
	})
	if !ok || code == "" {
		t.Fatalf("success = %v, code %q", ok, code)
	}
	for setting, want := range map[string]string{"0,32,11": "At λ = 3 ", "0,32,23": "At λ = 6 "} {
		if r := execute(t, k, strings.Replace(code, "@", setting, 1)); r.Failed || !strings.Contains(shown(r), want) {
			t.Errorf("setting %s: failed = %v, shows %.300q, want %q", setting, r.Failed, shown(r), want)
		}
		if r := execute(t, k, "%%\nfmt.Println(6 * 7)"); !strings.Contains(shown(r), "stdout:42;") {
			t.Errorf("the next cell shows %q", shown(r))
		}
	}
}

const exploreCell = "import (\n\"github.com/roundofflab/roundoff/pkg/study\"\n\"github.com/roundofflab/roundoff/pkg/viz/nb\"\n)\n\n" +
	"%%\nnb.Explore(study.ExploreLambda())"

// exploreCode finds the code in the script of the figure, a string of JSON in
// another.
var exploreCode = regexp.MustCompile(`\\"code\\":\\"(.*?)\\",\\"controls`)
