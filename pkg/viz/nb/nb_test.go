package nb

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/roundofflab/roundoff/pkg/viz"
)

func chart() *viz.Chart {
	c := viz.NewChart("edf", "Two samples.", "Seed 1.")
	p := c.Panel("", viz.Axis{Label: "t"}, viz.Axis{Label: "F"})
	p.EDF(viz.Series{Label: "observed"}, []float64{1, 2})
	return c
}

func table() *viz.Table {
	t := viz.NewTable("tab", "One row.", "", []string{"n"})
	t.Row("1")
	return t
}

func TestShow(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("ROUNDOFF_OUT", dir)
	t.Setenv("ROUNDOFF_NOTEBOOK", "02-dot-product")
	figs := []viz.Figure{chart(), table(), scheme()}
	Show(figs...)
	Show(figs[0]) // overwrites the files

	var orders []float64
	for i, f := range figs {
		read := func(ext string) []byte {
			b, err := os.ReadFile(filepath.Join(dir, "figures", f.Name()+ext))
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		t.Run(f.Name()+"/writes_what_the_figure_draws", func(t *testing.T) {
			for ext, draw := range map[string]func() ([]byte, error){".svg": f.SVG, ".png": f.PNG, ".csv": f.CSV} {
				if want, err := draw(); err != nil || string(read(ext)) != string(want) {
					t.Errorf("%s differs, %v", ext, err)
				}
			}
		})
		t.Run(f.Name()+"/keeps_the_contract", func(t *testing.T) {
			var r map[string]any
			if err := json.Unmarshal(read(".json"), &r); err != nil {
				t.Fatal(err)
			}
			kind := []string{"figure", "table", "schematic"}[i]
			if len(r) != 7 || r["name"] != f.Name() || r["finding"] != f.Finding() || r["details"] != f.Details() || r["notebook"] != "02-dot-product" || r["kind"] != kind {
				t.Errorf("%v", r)
			}
			if h := r["html"].(string); strings.HasPrefix(h, "<table") != (kind == "table") || h != "" && kind != "table" {
				t.Errorf("html %q", h)
			}
			orders = append(orders, r["order"].(float64))
		})
	}
	t.Run("counts_upward", func(t *testing.T) {
		if !(orders[1] <= orders[2] && orders[2] <= orders[0]) {
			t.Errorf("orders %v", orders)
		}
		for range 1000 {
			if a, b := order(), order(); a >= b {
				t.Fatalf("%d after %d", b, a)
			}
		}
	})
	t.Run("leaves_no_other_file", func(t *testing.T) {
		files, err := os.ReadDir(filepath.Join(dir, "figures"))
		if err != nil || len(files) != 4*len(figs) {
			t.Errorf("%v, %v", files, err)
		}
		for _, f := range files {
			if i, err := f.Info(); err != nil || i.Mode().Perm()&0o444 != 0o444 {
				t.Errorf("%s cannot be read by all: %v", f.Name(), err)
			}
		}
	})
}

func TestShowFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, out, want string
		figs            []viz.Figure
	}{
		{"where_nothing_can_be_written", file, "nb: figure edf: ", []viz.Figure{chart()}},
		{"without_a_figure", "", "nb: Show of no figure", nil},
		{"with_nil", "", "nb: figure 0 is nil", []viz.Figure{nil}},
		{"with_an_unknown_kind", t.TempDir(), "unknown kind nb.other", []viz.Figure{other{chart()}}},
		{"with_one_that_cannot_be_drawn", t.TempDir(), "nb: figure edf: no ink", []viz.Figure{broken{chart()}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("ROUNDOFF_OUT", c.out)
			defer func() {
				if got, ok := recover().(string); !ok || !strings.Contains(got, c.want) {
					t.Errorf("panic %q, want %q", got, c.want)
				}
			}()
			Show(c.figs...)
		})
	}
}

type other struct{ *viz.Chart }

type broken struct{ *viz.Chart }

func (broken) PNG() ([]byte, error) { return nil, errors.New("no ink") }

// The record of a figure comes after the figure.
func TestExportStopsAtTheFirstError(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "edf.csv"), 0o700); err != nil {
		t.Fatal(err)
	}
	d, err := viz.Draw(chart())
	if err != nil {
		t.Fatal(err)
	}
	if err := export(dir, d); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if _, err := os.Stat(filepath.Join(dir, "edf.json")); !os.IsNotExist(err) {
		t.Errorf("there is a record of a figure that is not there: %v", err)
	}
}

func TestFirstOfKernel(t *testing.T) {
	t.Setenv("GONB_TMP_DIR", t.TempDir())
	if !firstOfKernel() || firstOfKernel() || firstOfKernel() {
		t.Error("the first chart of a kernel is not told from later ones")
	}
	t.Setenv("GONB_TMP_DIR", "")
	if !firstOfKernel() || !firstOfKernel() {
		t.Error("without a folder every chart must bring the script")
	}
}

func scheme() *viz.Schematic {
	s := viz.NewSchematic("scheme", "One box.", "", 200, 100)
	s.Node(viz.Rect(20, 20, 180, 80), 5, viz.White, "*a*")
	return s
}

func TestParseRequest(t *testing.T) {
	for text, want := range map[string]string{
		"1:0": "1 [0] false", "2:0,12,1": "2 [0 12 1] false", "2:0,12:files": "2 [0 12] true",
		"": "error", "1": "error", "1:": "error", "one:1": "error", "1:1,": "error", "1:1:1": "error", "1:files": "error",
	} {
		got := "error"
		if r, err := parseRequest(text); err == nil {
			got = fmt.Sprint(r.explorer, r.at, r.files)
		}
		if got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// slider returns an explorer of one point, which a slider moves.
func slider() viz.Explorer {
	return viz.Explorer{
		Controls: []viz.Control{{Label: "x", Values: []string{"1", "2", "3"}, Kept: []int{0, 2}}},
		Draw: func(at []int) *viz.Chart {
			c := viz.NewChart("slider", fmt.Sprintf("x = %d.", at[0]+1), "One point.")
			p := c.Panel("", viz.Axis{Label: "x", Min: 0, Max: 4}, viz.Axis{Label: "y", Min: 0, Max: 4})
			p.Points(viz.Series{Label: "point"}, []float64{float64(at[0] + 1)}, []float64{1})
			return c
		},
	}
}

// The program of a cell whose page asks runs anew until it comes to the call of
// Explore that is asked, prints that figure, and ends.
func TestExplore_answers(t *testing.T) {
	if _, asked := os.LookupEnv(question); asked {
		fmt.Println("before")
		Explore(viz.Explorer{Controls: slider().Controls, Draw: func([]int) *viz.Chart { panic("the other explorer draws") }})
		Explore(slider())
		fmt.Println("after")
		return
	}
	ask := func(text string) (string, error) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestExplore_answers$")
		cmd.Env = append(os.Environ(), question+"="+text)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for text, files := range map[string]bool{"2:1": false, "2:1:files": true} {
		out, err := ask(text)
		want, err2 := slider().Frame(files, 1)
		if err != nil || err2 != nil || out != "before\n\n"+want+"\n" {
			t.Errorf("%s: %v, %v, printed %.300q", text, err, err2, out)
		}
	}
	for _, text := range []string{"2:3", "2:0,0", "no"} {
		if out, err := ask(text); err == nil || !strings.Contains(out, "ROUNDOFF_SETTING") {
			t.Errorf("%q: %v, printed %.300q", text, err, out)
		}
	}
}

// What a page asks is found when the next cell has taken the program's place.
func TestAnswering(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GONB_TMP_DIR", dir)
	if kernel, code := answering(); kernel != "" || code != "" {
		t.Errorf("without a kernel %q answers %q", kernel, code)
	}
	t.Setenv("GONB_JUPYTER_KERNEL_ID", "it's")
	args, n := os.Args, explorers
	defer func() { os.Args, explorers = args, n }()
	os.Args, explorers = []string{args[0], "-test.run=^TestExplore_answers$", "-test.v=false"}, 2
	kernel, code := answering()
	if kernel != "it's" || strings.Contains(code, args[0]) || !strings.Contains(code, dir) {
		t.Errorf("kernel %q, code %q, want a program in %s", kernel, code, dir)
	}
	code = strings.Replace(strings.TrimPrefix(code, "!"), "@", "0", 1)
	out, err := exec.Command("/bin/bash", "-c", code).CombinedOutput()
	if want, err2 := slider().Frame(false, 0); err != nil || err2 != nil || !strings.HasSuffix(string(out), want+"\n") {
		t.Errorf("%s: %v, %v, printed %.300q", code, err, err2, out)
	}
}

func TestRemoveOldest(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"b", "c", "a"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Unix(int64(i), 0)); err != nil {
			t.Fatal(err)
		}
	}
	removeOldest(dir, 3)
	removeOldest(dir, 2)
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 2 || filepath.Base(left[0]) != "a" || filepath.Base(left[1]) != "c" {
		t.Errorf("left: %v, want a and c", left)
	}
}
