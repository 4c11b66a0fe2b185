//go:build unix

package nb

import (
	"encoding/gob"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"github.com/roundofflab/roundoff/internal/progress"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// kernel imitates GoNB: it reads the displayed data from one pipe and
// acknowledges each sync on another. The outputs are sent to the channel in the
// order of display, a sync as the word "sync".
func kernel(t *testing.T) <-chan string {
	t.Helper()
	dir := t.TempDir()
	to, from := filepath.Join(dir, "to"), filepath.Join(dir, "from")
	for _, p := range []string{to, from} {
		if err := syscall.Mkfifo(p, 0o600); err != nil {
			t.Skipf("no named pipes here: %v", err)
		}
	}
	t.Setenv(protocol.GONB_PIPE_ENV, to)
	t.Setenv(protocol.GONB_PIPE_BACK_ENV, from)
	t.Setenv(protocol.GONB_TMP_DIR_ENV, dir)
	gonbui.IsNotebook = true
	t.Cleanup(func() { gonbui.IsNotebook = false })

	outputs := make(chan string, 100)
	go func() {
		r, err := os.Open(to)
		if err != nil {
			panic(err)
		}
		w, err := os.OpenFile(from, os.O_WRONLY, 0)
		if err != nil {
			panic(err)
		}
		in, out := gob.NewDecoder(r), gob.NewEncoder(w)
		for {
			var d protocol.DisplayData
			if in.Decode(&d) != nil {
				return
			}
			if v, ok := d.Data[protocol.MIMECommValue].(protocol.CommValue); ok {
				outputs <- "sync"
				_ = out.Encode(&protocol.CommValue{Address: protocol.GonbuiSyncAckAddress, Value: v.Value})
				continue
			}
			for _, mime := range []protocol.MIMEType{protocol.MIMETextHTML, protocol.MIMETextMarkdown} {
				if s, ok := d.Data[mime].(string); ok {
					outputs <- s
				}
			}
		}
	}()
	return outputs
}

func TestInNotebook(t *testing.T) {
	outputs := kernel(t)
	next := func(what string, ok func(string) bool) {
		t.Helper()
		select {
		case s := <-outputs:
			if !ok(s) {
				t.Errorf("got %.200q, want %s", s, what)
			}
		default:
			t.Fatalf("call returned before %s arrived", what)
		}
	}
	chartIs := func(withScript bool) func(string) bool {
		return func(s string) bool {
			return strings.Contains(s, `alt="Two samples"`) && strings.HasPrefix(s, viz.Script()) == withScript
		}
	}
	sync := func(s string) bool { return s == "sync" }

	Show(scheme(), table())
	next("a schematic without script", func(s string) bool { return strings.Contains(s, "<img") && !strings.Contains(s, "<script") })
	next("a table", func(s string) bool { return strings.Contains(s, "<table") })
	next("sync", sync)

	Show(chart())
	next("a chart with the script", chartIs(true))
	next("sync", sync)

	Show(chart())
	next("a chart without the script", chartIs(false))
	next("sync", sync)

	Markdown("**%d** samples", 2)
	next("markdown", func(s string) bool { return s == "**2** samples" })
	next("sync", sync)

	t.Run("bar", func(t *testing.T) {
		progress.Show = newBar
		defer func() { progress.Show = nil }()
		task := progress.Start(4)
		task.Step(1)
		time.Sleep(progress.Patience + progress.Interval/2)
		task.End()
		next("a bar", func(s string) bool { return strings.Contains(s, "<progress") && strings.Contains(s, "25 %") })
		next("nothing in its place", func(s string) bool { return s == "" })
		next("sync", sync)
	})

	t.Setenv(protocol.GONB_JUPYTER_KERNEL_ID_ENV, "a-1")
	Explore(slider())
	next("the figure, who answers, and the frames", func(s string) bool {
		return strings.Contains(s, `alt="x = 1"`) && strings.Contains(s, `"kernel":"a-1"`) && strings.Contains(s, `"code":"!ROUNDOFF_SETTING=1:@ '`) &&
			strings.Contains(s, `"frames":{`)
	})
	next("sync", sync)
}
