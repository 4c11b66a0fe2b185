package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/sweep"
)

// smallSweep is a sweep of eight draws, of two machines and of an order.
func smallSweep(more ...string) []string {
	return append([]string{"-devices", "ieee,hopper/2", "-plans", "split", "-dist", "U(0,1),pairing", "-m", "4", "-n", "2", "-k", "16,40", "-seeds", "1:2"}, more...)
}

// computeShards computes all n shards of a sweep and returns their files.
func computeShards(t *testing.T, n int, args []string) (files []string) {
	t.Helper()
	for i := 1; i <= n; i++ {
		files = append(files, fmt.Sprintf("%d-of-%d.csv", i, n))
		askSweep(t, 0, append(args, "-shard", fmt.Sprintf("%d/%d", i, n), "-o", files[i-1])...)
	}
	return files
}

// joinOf returns what -join writes and prints of some files.
func joinOf(t *testing.T, files []string) (file, stdout string) {
	t.Helper()
	stdout, _ = askSweep(t, 0, append([]string{"-join", "-o", "joined.csv"}, files...)...)
	return string(readBytes(t, "joined.csv")), stdout
}

func readBytes(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// readPart returns the part of a sweep that a file has.
func readPart(t *testing.T, name string) sweep.Part {
	t.Helper()
	part, err := sweep.ReadPart(bytes.NewReader(readBytes(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	return part
}

// writePart writes a file with a part.
func writePart(t *testing.T, name string, part sweep.Part) {
	t.Helper()
	var b bytes.Buffer
	if err := part.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// What shards join to is the same, byte for byte, for every number of them and
// in every order, and its rows are those of the sweep that is not divided, but
// for the times. There may be more shards than draws.
func TestShards_join_to_the_sweep(t *testing.T) {
	for name, args := range map[string][]string{
		"plan":     smallSweep(),
		"standard": strings.Fields("-standard -devices volta-mma-binary16-binary32 -dist U(0,1) -k 7,100 -seeds 1:2"),
		"atlas":    strings.Fields("-atlas -devices volta-mma-binary16-binary32 -dist U(0,1) -k 16,128 -seeds 1:2"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			want, wantPrinted := joinOf(t, computeShards(t, 1, args))
			for _, n := range []int{3, 13} {
				files := computeShards(t, n, args)
				files[0], files[2] = files[2], files[0]
				if got, printed := joinOf(t, files); got != want || printed != wantPrinted {
					t.Errorf("%d shards join to\n%.300s\n%s\none is\n%.300s\n%s", n, got, printed, want, wantPrinted)
				}
			}
			if first, _, _ := strings.Cut(want, "\n"); first != "# roundoff sweep "+commandFor(args) {
				t.Errorf("%s", first)
			}
			whole, _ := askSweep(t, 0, append(args, "-o", "whole.csv")...)
			joined := readRows(t, "joined.csv")
			rows := readRows(t, "whole.csv")
			for i := range rows {
				rows[i].Product, rows[i].Exact = 0, 0
			}
			var a, b bytes.Buffer
			if sweep.Write(&a, "", joined); len(rows) == 0 || sweep.Write(&b, "", rows) != nil || a.String() != b.String() {
				t.Errorf("the sweep is\n%.2000s\nwant\n%.2000s", b.String(), a.String())
			}
			if name != "plan" && !strings.HasSuffix(whole, wantPrinted) { // after the time that it took
				t.Errorf("printed %s\nwant %s", wantPrinted, whole)
			}
		})
	}
}

// commandFor returns arguments as a shard writes them.
func commandFor(args []string) string {
	words := strings.Join(args, " ")
	if words[:2] == "-d" {
		split, _ := findPlan("plans", "split", question.PlannedProduct{})
		return strings.NewReplacer("U(0,1),pairing", "'U(0,1),pairing'", "-plans split", "-plans '"+split.String()+"'").Replace(words)
	}
	return strings.ReplaceAll(words, "U(0,1)", "'U(0,1)'")
}

// A shard goes on with the draws of its file, and computes what is whole not
// at all.
func TestShard_goes_on(t *testing.T) {
	t.Chdir(t.TempDir())
	args := smallSweep("-shard", "1/2", "-o", "a.csv")
	askSweep(t, 0, args...)
	want := readBytes(t, "a.csv")
	part := readPart(t, "a.csv")
	if len(part.Draws) != 4 || part.Missing() != 0 {
		t.Fatalf("%d draws, %d missing", len(part.Draws), part.Missing())
	}

	part.Draws[0][0].Why = "as it was" // what no computation says
	marked := part
	marked.Draws = part.Draws[:1]
	writePart(t, "a.csv", marked)
	if _, stderr := askSweep(t, 0, args...); !strings.Contains(stderr, "4 draws, 3 of them to be computed\n") {
		t.Error(stderr)
	}
	got := readPart(t, "a.csv")
	if len(got.Draws) != 4 || got.Draws[0][0].Why != "as it was" {
		t.Errorf("%d draws, %+v", len(got.Draws), got.Draws[0][0])
	}
	got.Draws[0][0].Why = ""
	if writePart(t, "b.csv", got); !bytes.Equal(readBytes(t, "b.csv"), want) {
		t.Error("other bytes after going on")
	}

	writePart(t, "a.csv", part)
	before := readBytes(t, "a.csv")
	stdout, _ := askSweep(t, 0, args...)
	if !strings.HasPrefix(stdout, "a.csv is whole: shard 1/2, 4 draws, ") || !bytes.Equal(readBytes(t, "a.csv"), before) {
		t.Errorf("%s, or the file is another", stdout)
	}

	if err := os.WriteFile("a.csv", want[:len(want)-100], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, stderr := askSweep(t, 0, args...); !strings.Contains(stderr, "damaged or cut off") || !bytes.Equal(readBytes(t, "a.csv"), want) {
		t.Errorf("%s, or the file is another", stderr)
	}
}

// A file of a shard has a draw as soon as it is time to save it.
func TestShardFile_is_saved_in_time(t *testing.T) {
	t.Chdir(t.TempDir())
	askSweep(t, 0, smallSweep("-shard", "1/4", "-o", "a.csv")...)
	part := readPart(t, "a.csv")
	rows := part.Draws[0]
	part.File, part.Draws = "b.csv", nil
	f := &shardFile{Part: part}
	if err := f.save(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		every time.Duration
		want  string // of the file, after one draw more
	}{{time.Hour, `"rows":[],`}, {0, fmt.Sprintf(`"rows":[%d,%d],`, len(rows), len(rows))}} {
		f.every = c.every
		if err := f.keep(rows); err != nil {
			t.Fatal(err)
		}
		if text := string(readBytes(t, "b.csv")); !strings.Contains(text, c.want) {
			t.Errorf("saved every %v: %.500s", c.every, text)
		}
	}
}

// Files that are not all shards of one sweep are refused with a sentence that
// names them, and stay as they are.
func TestShards_that_do_not_fit(t *testing.T) {
	t.Chdir(t.TempDir())
	computeShards(t, 2, smallSweep())
	computeShards(t, 3, smallSweep())
	other := smallSweep("-n", "3", "-shard", "2/2")
	askSweep(t, 0, append(other, "-o", "other.csv")...)
	askSweep(t, 0, smallSweep("-o", "whole.csv")...)
	text := readBytes(t, "2-of-2.csv")
	changed := bytes.Replace(text, []byte(",holds,"), []byte(",data,"), 1)
	for name, data := range map[string][]byte{"short.csv": text[:len(text)-7], "head.csv": text[:50], "empty.csv": nil, "changed.csv": changed} {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	part := readPart(t, "2-of-2.csv")
	part.Version = "v9.9.9"
	writePart(t, "version.csv", part)
	part = readPart(t, "2-of-2.csv")
	part.Draws = part.Draws[:3]
	writePart(t, "begun.csv", part)
	all, _ := filepath.Glob("*.csv")
	before := map[string]string{}
	for _, name := range all {
		before[name] = string(readBytes(t, name))
	}
	for args, want := range map[string]string{
		"-join 1-of-2.csv other.csv":             "1-of-2.csv is a shard of roundoff sweep -devices ieee,hopper/2",
		"-join 1-of-2.csv version.csv":           "1-of-2.csv is by version " + question.Version() + ", version.csv by version v9.9.9, want shards by one",
		"-join 1-of-2.csv short.csv":             "short.csv: sweep: shard 2/2 is damaged or cut off",
		"-join 1-of-2.csv changed.csv":           "changed.csv: sweep: shard 2/2 is damaged or cut off",
		"-join 1-of-2.csv head.csv":              "head.csv: sweep: a manifest that is damaged or cut off (50 bytes)",
		"-join 1-of-2.csv empty.csv":             "empty.csv: no shard of a sweep, as 1-of-2.csv is, want shards alone or none",
		"-join whole.csv 1-of-2.csv":             "1-of-2.csv: a shard of a sweep, as whole.csv is not, want shards alone or none",
		"-join 1-of-2.csv 2-of-2.csv 1-of-2.csv": "1-of-2.csv and 1-of-2.csv are both shard 1/2, want each once",
		"-join 2-of-3.csv":                       "2 of 3 shards are missing: 1,3",
		"-join -partial 1-of-2.csv other.csv":    "1-of-2.csv is a shard of roundoff sweep -devices ieee,hopper/2",
		"-join -partial 2-of-2.csv short.csv":    "short.csv: sweep: shard 2/2 is damaged or cut off",
		"-join -partial whole.csv":               "whole.csv: no shard of a sweep, want shards with -partial",
		"-join 1-of-2.csv 2-of-3.csv":            "1-of-2.csv is shard 1/2, 2-of-3.csv shard 2/3, want shards of as many",
		"-join 1-of-2.csv begun.csv":             "begun.csv has 3 draws of 4, want all: the command that began shard 2/2 goes on with it",
		"-shard 2/2 -o whole.csv":                "whole.csv: sweep: no shard of a sweep, which begins with a manifest; it stays as it is, want another -o",
		"-shard 2/2 -o head.csv":                 "head.csv: sweep: a manifest that is damaged or cut off (50 bytes); it stays",
		"-shard 2/2 -o version.csv":              "version.csv is by version v9.9.9, the sweep asked for by version " + question.Version(),
		"-shard 2/2 -o other.csv":                "other.csv is a shard of roundoff sweep -devices ieee,hopper/2",
		"-shard 2/2 -o 1-of-2.csv":               "1-of-2.csv is shard 1/2, not 2/2; it stays as it is, want another -o",
		"-shard 2/2 -o 2-of-3.csv":               "2-of-3.csv is shard 2/3, the sweep asked for shard 2/2",
		"-shard 2/2 -o .":                        ". is no file, which a shard reads when it is started again; it stays as it is, want another -o",
		"-shard 0/2 -o new.csv":                  `-shard: sweep: shard "0/2", want one of how many`,
	} {
		t.Run(args, func(t *testing.T) {
			line := strings.Fields(args)
			if line[0] == "-shard" {
				line = smallSweep(line...)
			} else {
				line = append(line, "-o", "new.csv")
			}
			_, stderr := askSweep(t, 1, line...)
			if !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%q, want %q", stderr, want)
			}
		})
	}
	for _, args := range []string{"-shard 1/2", "-shard 1/2 -o a.csv -join b.csv", "-shard 1/2 -o a.csv -hunt 1s", "-partial -o a.csv"} {
		if _, stderr := askSweep(t, 2, strings.Fields(args)...); !strings.Contains(stderr, "-shard writes the file of -o") && !strings.Contains(stderr, "-hunt prints") &&
			!strings.Contains(stderr, "-partial goes with -join") {
			t.Errorf("%s: %q", args, stderr)
		}
	}
	after, _ := filepath.Glob("*")
	if len(after) != len(all) {
		t.Errorf("%v, want %v", after, all)
	}
	for name, text := range before {
		if string(readBytes(t, name)) != text {
			t.Errorf("%s has changed", name)
		}
	}
}

// With -partial the shards that there are join, what is missing is said, and a
// sweep that is whole is the same.
func TestJoin_partial(t *testing.T) {
	t.Chdir(t.TempDir())
	files := computeShards(t, 3, smallSweep())
	want, _ := joinOf(t, files)
	if _, stderr := askSweep(t, 0, append([]string{"-join", "-partial", "-o", "p.csv"}, files...)...); stderr != "" || string(readBytes(t, "p.csv")) != want {
		t.Errorf("%q, or other bytes", stderr)
	}
	part := readPart(t, files[1])
	part.Draws = part.Draws[:1]
	writePart(t, files[1], part)
	const lack = "4 of 8 draws: shards 3 are missing, shard 2/3 lacks 2"
	if _, stderr := askSweep(t, 0, "-join", "-partial", "-o", "p.csv", files[0], files[1]); stderr != "roundoff sweep: "+lack+"\n" {
		t.Errorf("%q, want %q", stderr, lack)
	}
	if text := string(readBytes(t, "p.csv")); !strings.Contains(text, "\n# "+lack+"\n") || readRows(t, "p.csv")[0].Runs != 2 {
		t.Errorf("%.600s", text)
	}
}

// The script of the job array of Slurm and of the Indexed Job of Kubernetes
// computes all shards, given what either sets, and the job gives it what it
// asks for.
func TestJobs_of_a_sweep(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh")
	}
	script, err := filepath.Abs("../../deploy/sweep/shard.sh")
	if err != nil {
		t.Fatal(err)
	}
	job := string(readBytes(t, "../../deploy/sweep/job.yaml"))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	value := func(pattern string) string {
		m := regexp.MustCompile(pattern).FindStringSubmatch(job)
		if m == nil {
			t.Fatalf("no %s in the job", pattern)
		}
		return m[1]
	}
	if n := value(`completions: (\d+)`); n != value(`name: SHARDS\n +value: "(\d+)"`) {
		t.Errorf("completions is not SHARDS, %s", n)
	}
	if value(`command: \[sh, (\S+)/shard\.sh\]`) != value(`name: job\n +mountPath: (\S+)`) || value(`name: RESULTS\n +value: (\S+)`) != value(`name: results\n +mountPath: (\S+)`) {
		t.Error("the script or the results are not where they are mounted")
	}
	var args []string
	for _, word := range regexp.MustCompile(`"[^"]*"|[^\s,]+`).FindAllString(value(`args: \[(.*)\]`), -1) {
		args = append(args, strings.Trim(word, `"`))
	}
	args = append(args, "-devices", "ieee", "-m", "2", "-n", "2", "-k", "16", "-seeds", "1") // less of the same
	const n = 2
	t.Chdir(t.TempDir())
	start := func(dir string, env ...string) error {
		c := exec.Command(sh, append([]string{script}, args...)...)
		c.Env = append(os.Environ(), "AS_COMMAND=1", "ROUNDOFF="+self, "SHARDS="+strconv.Itoa(n), "RESULTS="+dir)
		c.Env = append(c.Env, env...)
		said, err := c.CombinedOutput()
		t.Logf("%s", said)
		return err
	}
	var joined []string
	for variable, first := range map[string]int{"SLURM_ARRAY_TASK_ID": 1, "JOB_COMPLETION_INDEX": 0} {
		if err := os.Mkdir(variable, 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if err := start(variable, fmt.Sprintf("%s=%d", variable, first+i)); err != nil {
				t.Errorf("%s %d: %v", variable, i, err)
			}
		}
		files, _ := filepath.Glob(variable + "/shard-*-of-*.csv")
		text, _ := joinOf(t, files)
		joined = append(joined, text)
	}
	if joined[0] != joined[1] {
		t.Errorf("one is\n%.300s\nthe other\n%.300s", joined[0], joined[1])
	}
	if err := start("."); err == nil {
		t.Error("a shard without a number")
	}
}
