//go:build unix

package nb

import (
	"encoding/gob"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// kernel stands in for GoNB: it takes what is displayed from one pipe and says
// on another that a sync was seen. The outputs arrive in the order of display,
// a sync as the word "sync".
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

	Show(viz.FigureErrors(), table())
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
}
