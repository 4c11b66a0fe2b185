package notebook

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The assignments have the form of the notebooks, and nbgrader can release and
// grade them: an answer is a function with its solution between the markers and
// nothing else, every check is locked and has points, and there is one essay.
func TestTheAssignments(t *testing.T) {
	files, err := filepath.Glob("../../notebooks/assignments/source/*/*.ipynb")
	if err != nil || len(files) != 8 {
		t.Fatalf("%d assignments, want 4 in Go and 4 in Python: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			nb := open(t, file)
			answer, check := goAnswer, "course.Check"
			if err := nb.CheckKernel(); strings.HasSuffix(file, "-python.ipynb") {
				answer, check = pythonAnswer, "course.check("
				if spec := nb.Metadata["kernelspec"].(map[string]any); spec["name"] != "python3" || spec["language"] != "python" {
					t.Errorf("the kernel is %v, want python3 for python", spec)
				}
			} else if err != nil {
				t.Error(err)
			}
			if folder := filepath.Base(filepath.Dir(file)); folder+".ipynb" != filepath.Base(file) {
				t.Errorf("the folder is %s", folder)
			}
			previous, names, essays, points := "", map[string]bool{}, 0, 0.0
			for i, c := range nb.Cells {
				if c.Type == "code" {
					checkCodeCell(t, i+1, c, previous)
				}
				previous = c.Type
				grader, _ := c.Metadata["nbgrader"].(map[string]any)
				solution, grade, locked := grader["solution"] == true, grader["grade"] == true, grader["locked"] == true
				if solution != strings.Contains(c.Source, "BEGIN SOLUTION") || solution != strings.Contains(c.Source, "END SOLUTION") {
					t.Errorf("cell %d: solution is %v, and the markers say otherwise", i+1, solution)
				}
				if grader == nil {
					if strings.Contains(c.Source, check) {
						t.Errorf("cell %d has a check and no points", i+1)
					}
					continue
				}
				name, _ := grader["grade_id"].(string)
				if name == "" || names[name] {
					t.Errorf("cell %d: the name %q is empty or taken", i+1, name)
				}
				names[name] = true
				switch {
				case c.Type == "markdown":
					essays++
				case solution && !answer.MatchString(c.Source):
					t.Errorf("cell %d is more than a function and its solution:\n%s", i+1, c.Source)
				case grade && (!locked || solution || !strings.Contains(c.Source, check)):
					t.Errorf("cell %d has points and is no locked check", i+1)
				}
				p, _ := strconv.ParseFloat(fmt.Sprint(grader["points"]), 64)
				if grade != (p > 0) {
					t.Errorf("cell %d: grade is %v, points are %v", i+1, grade, grader["points"])
				}
				points += p
			}
			if essays != 1 || !names["essay"] {
				t.Errorf("%d essays, want one, named essay", essays)
			}
			if points < 20 || points > 25 {
				t.Errorf("%v points, want 20 to 25", points)
			}
		})
	}
}

// These match a function whose body is the solution only. Other code in the
// body would be unused in the stub, or unreachable after its panic.
var (
	goAnswer     = regexp.MustCompile(`(?s)^(//[^\n]*\n)?func [^\n]*\{\n\t// BEGIN SOLUTION\n.*\n\t// END SOLUTION\n\}$`)
	pythonAnswer = regexp.MustCompile(`(?s)^def [^\n]*:\n    """[^\n]*"""\n    ### BEGIN SOLUTION\n(    [^\n]*\n)+    ### END SOLUTION$`)
)
