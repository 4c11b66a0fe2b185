package nb

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/comms"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"github.com/roundofflab/roundoff/internal/atomicfile"
	"github.com/roundofflab/roundoff/internal/progress"
	"github.com/roundofflab/roundoff/pkg/viz"
)

// How long Explore waits for the page to answer, for the first move of a
// control, and for each further move.
var (
	answerTime = 5 * time.Second
	firstMove  = 8 * time.Second
	nextMove   = time.Minute
)

// Explore displays a chart with controls. The settings that the explorer keeps
// are drawn in advance and work on every page that runs scripts, also in a
// notebook that was saved and reopened. A page without scripts shows the
// picture of the initial setting.
//
// In a notebook whose page answers, the cell stays active for eight seconds,
// and for one minute after every move. During this time the controls offer all
// their values, and this program draws the setting. An interrupt ends the cell
// successfully. GoNB reaches the page through ws:// at the root of its host,
// which neither a hub nor https serves: there the cell ends after five seconds,
// and the page offers the settings drawn in advance.
//
// If ROUNDOFF_OUT is set, nobody can move a control: Explore writes the figure
// of the initial setting as [Show] does, and NAME.html, a page with the chart
// and its controls. Outside a notebook, without ROUNDOFF_OUT, it displays
// nothing.
//
// Explore panics if the explorer is invalid, as [viz.Explorer.Figure] does, or
// if a figure cannot be drawn or written.
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
		must(f, atomicfile.WriteFile(filepath.Join(dir, f.Name()+".html"), viz.Page(f, html)))
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

// drawAll returns the HTML of the explorer and reports progress after each of
// its charts.
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

// request is a setting that the page asks for; n is the number of the request.
type request struct {
	n  int
	at []int
}

// follow answers the requests of the page until no control has been moved for
// some time.
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
			for len(asked) > 0 { // skip to the latest request
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
	if last > 0 { // the page has answered
		comms.Send(address+"/frame", "over")
		gonbui.Sync()
	}
}

// parseRequest parses a request such as "3:0,12,1", the third one, for the
// setting 0, 12, 1.
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
