package nb

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/renameio/v2/maybe"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/comms"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"github.com/roundofflab/roundoff/internal/progress"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// How long Explore waits for the page to answer, for the first move of a
// control, and for the next.
var (
	answerTime = 5 * time.Second
	firstMove  = 8 * time.Second
	nextMove   = time.Minute
)

// Explore displays a chart with controls that it follows. All that the explorer
// keeps is drawn beforehand and moves on every page that runs scripts, in a
// notebook saved and opened again as well; where none run there is the picture
// of the start.
//
// In a notebook whose page answers, the cell goes on for eight seconds, and a
// minute after every move: as long, the controls have all their values and this
// program draws what is set. An interrupt ends it, as a success. GoNB reaches
// the page through ws:// at the root of its host, which a hub and https do not
// serve: there the cell ends after five seconds, and the page has what is kept.
//
// When ROUNDOFF_OUT is set nobody is there to move anything: Explore writes the
// figure of the start as [Show] does, and NAME.html, the whole as a page of its
// own.
func Explore(e viz.Explorer) {
	f := e.Figure(e.Start()...)
	id := "roundoff-" + gonbui.UniqueId()
	out := os.Getenv("ROUNDOFF_OUT")
	address := ""
	if gonbui.IsNotebook && out == "" {
		address = "/" + id
	}
	if out == "" && !gonbui.IsNotebook {
		return
	}
	html, err := drawAll(e, id, address)
	must(f, err)
	if out != "" {
		dir := filepath.Join(out, "figures")
		must(f, export(dir, f))
		must(f, maybe.WriteFile(filepath.Join(dir, f.Name()+".html"), viz.Page(f, html), 0o644))
	}
	if !gonbui.IsNotebook {
		return
	}
	if firstOfKernel() {
		html = viz.Script() + html
	}
	gonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{
		protocol.MIMETextHTML:  html,
		protocol.MIMETextPlain: viz.Caption(f),
	}})
	must(f, gonbui.Error())
	gonbui.Sync()
	if address != "" {
		follow(e, address)
	}
}

// drawAll returns the HTML of the explorer, and reports how many of its charts
// are drawn.
func drawAll(e viz.Explorer, id, address string) (string, error) {
	task := progress.Start(len(e.Settings()))
	defer task.End()
	draw := e.Draw
	e.Draw = func(at []int) *viz.Chart {
		defer task.Step(1)
		return draw(at)
	}
	return e.HTML(id, address)
}

// request is a setting that the page asks for, the how-manyth of its questions.
type request struct {
	n  int
	at []int
}

// follow answers the page until nothing more is moved.
func follow(e viz.Explorer, address string) {
	asked := make(chan request, 64)
	comms.Subscribe(address, func(_, text string) {
		if r, ok := parseRequest(text); ok && e.Has(r.at) {
			asked <- r
		}
	})
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	defer signal.Stop(stop)

	patience, last := time.NewTimer(answerTime), 0
	for {
		select {
		case r := <-asked:
			for len(asked) > 0 { // where the reader is by now
				if next := <-asked; next.n > r.n {
					r = next
				}
			}
			if r.n <= last {
				continue
			}
			frame, err := e.Frame(r.at...)
			if err != nil {
				panic(fmt.Sprintf("nb: setting %v: %v", r.at, err))
			}
			comms.Send(address+"/frame", frame)
			if last == 0 {
				patience.Reset(firstMove)
			} else {
				patience.Reset(nextMove)
			}
			last = r.n
			continue
		case <-patience.C:
		case <-stop:
		}
		break
	}
	if last > 0 { // somebody is there
		comms.Send(address+"/frame", "over")
		gonbui.Sync()
	}
}

// parseRequest reads "3:0,12,1", the third question, which is for that setting.
func parseRequest(text string) (r request, ok bool) {
	n, setting, ok := strings.Cut(text, ":")
	if !ok {
		return r, false
	}
	var err error
	if r.n, err = strconv.Atoi(n); err != nil {
		return r, false
	}
	for s := range strings.SplitSeq(setting, ",") {
		v, err := strconv.Atoi(s)
		if err != nil {
			return r, false
		}
		r.at = append(r.at, v)
	}
	return r, true
}
