//go:build unix

package jupyter

import (
	"context"
	"encoding/json"
	"os"
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

// A cell that calls Explore waits for a page that answers; without a page it
// ends by itself.
func TestGoNB_explore_without_a_page(t *testing.T) {
	k := startGoNB(t)
	start := time.Now()
	r := execute(t, k, exploreCell)
	if r.Failed || !strings.Contains(shown(r), "display_data:At λ = ") {
		t.Errorf("failed = %v, shows %.300q", r.Failed, shown(r))
	}
	if d := time.Since(start); d > 40*time.Second {
		t.Errorf("it takes %v", d)
	}
}

const exploreCell = "import (\n\"github.com/roundofflab/roundoff/pkg/study\"\n\"github.com/roundofflab/roundoff/pkg/viz/nb\"\n)\n\n" +
	"%%\nnb.Explore(study.ExploreLambda())"

// When a page moves a slider, the running cell answers with the figure of that
// setting, and an interrupt ends the cell as a success. The test takes the part
// of the page: when the script that opens the channel of GoNB arrives, the test
// opens the channel and sends the messages that the script would send.
func TestGoNB_explore_follows(t *testing.T) {
	k := startGoNB(t)
	send := func(typ string, content any) {
		t.Helper()
		if _, err := k.send(k.shell, typ, content); err != nil {
			t.Error(err)
		}
	}
	say := func(address string, value any) {
		send("comm_msg", map[string]any{"comm_id": "page", "data": map[string]any{"address": address, "value": value}})
	}
	var address string
	var frames []string
	var over bool
	ok := watch(t, k, exploreCell, func(m message) {
		var c struct{ Data map[string]any }
		if json.Unmarshal(m.Content, &c) != nil {
			return
		}
		html, _ := c.Data["text/html"].(string)
		if found := exploreAddress.FindStringSubmatch(html); found != nil {
			address = found[1]
		}
		if found := kernelID.FindStringSubmatch(html); found != nil {
			send("comm_open", map[string]any{"comm_id": "page", "target_name": "gonb_comm", "kernel_id": found[1], "data": map[string]any{}})
		}
		if m.Header.Type != "comm_msg" {
			return
		}
		value, _ := c.Data["value"].(string)
		switch c.Data["address"] {
		case "#comm_open_ack":
			say(address, "1:0,32,11")
		case "#heartbeat/ping":
			say("#heartbeat/pong", true)
		case address + "/frame":
			if value == "over" {
				over = true
				return
			}
			frames = append(frames, value)
			switch len(frames) {
			case 1:
				say(address, "2:0,32,23")
			case 2:
				if err := k.interrupt(); err != nil {
					t.Error(err)
				}
			}
		}
	})
	if !ok || !over || len(frames) != 2 {
		t.Fatalf("success = %v, over = %v, %d frames", ok, over, len(frames))
	}
	for i, want := range []string{"At λ = 3 ", "At λ = 6 "} {
		if !strings.Contains(frames[i], want) {
			t.Errorf("frame %d: %.300s, want %q", i, frames[i], want)
		}
	}
}

var (
	exploreAddress = regexp.MustCompile(`"address":"(/roundoff-[^"]+)"`)
	kernelID       = regexp.MustCompile(`/api/kernels/([^/"]*)/channels`)
)
