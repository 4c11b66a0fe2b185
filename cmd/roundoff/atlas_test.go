package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// askAtlas runs roundoff atlas and returns what it printed. It fails unless the
// status is as wanted.
func askAtlas(t *testing.T, status int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	if got := run(context.Background(), append([]string{"atlas"}, args...), &out, &err); got != status {
		t.Fatalf("atlas %v: status %d, want %d: %s%s", args, got, status, out.String(), err.String())
	}
	return out.String(), err.String()
}

// folderOf returns the files of a folder by their names.
func folderOf(t *testing.T, folder string) map[string]string {
	t.Helper()
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range list {
		files[f.Name()] = string(readBytes(t, filepath.Join(folder, f.Name())))
	}
	return files
}

var atlasSweep = strings.Fields("-atlas -devices volta-mma-binary16-binary32,arm-bfdot-bfloat16-binary32 -dist U(0,1),N(0,1) -k 16,128 -seeds 1:2")

// One process, three shards, and three shards that were joined give the same
// data set, byte for byte.
func TestAtlas_is_the_same_however_it_is_swept(t *testing.T) {
	t.Chdir(t.TempDir())
	askSweep(t, 0, append(atlasSweep, "-o", "one.csv")...)
	shards := computeShards(t, 3, atlasSweep)
	joinOf(t, shards)
	askAtlas(t, 0, append([]string{"make", "-o", "shards"}, shards[2], shards[0], shards[1])...)
	askAtlas(t, 0, "make", "-o", "joined", "joined.csv")
	askAtlas(t, 0, "make", "-o", "one", "one.csv")
	want := folderOf(t, "one")
	if len(want) != 8 {
		t.Errorf("%d files, want 8", len(want))
	}
	for _, folder := range []string{"shards", "joined"} {
		got := folderOf(t, folder)
		for name := range want {
			if got[name] != want[name] {
				t.Errorf("%s/%s is not one/%s", folder, name, name)
			}
		}
	}
	if out, _ := askAtlas(t, 0, "check", "one"); !strings.Contains(out, "roundoff sweep -atlas -devices volta-mma-binary16-binary32,arm-bfdot-bfloat16-binary32 -dist 'U(0,1),N(0,1)' -k 16,128 -seeds 1:2\n") ||
		!strings.Contains(out, "2 devices, 2 machines, 8 cells") {
		t.Error(out)
	}
	out, _ := askAtlas(t, 0, "show", "-k", "128", "-dist", "N(0,1)", "one")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[1], "volta") || !strings.HasPrefix(lines[2], "arm") {
		t.Error(out)
	}
	out, _ = askAtlas(t, 0, "show", "-k", "128", "-dist", "N(0,1)", "-device", "arm", "one")
	if !strings.HasPrefix(out, "arm-bfdot-bfloat16-binary32, N(0,1), K = 128: 2 products, 64 outputs;") || !strings.Contains(out, "nothing of the data, sizes") {
		t.Error(out)
	}

	// A sweep that is no atlas does not take the place of one, nor does one that
	// is damaged.
	askSweep(t, 0, "-devices", "ieee", "-m", "2", "-n", "2", "-k", "8", "-seeds", "1", "-o", "other.csv")
	_, said := askAtlas(t, 1, "make", "-o", "one", "other.csv")
	if !strings.Contains(said, "want those of a command and a version") {
		t.Error(said)
	}
	_, said = askAtlas(t, 1, "make", "-o", "one", shards[0], shards[1])
	if !strings.Contains(said, "1 of 3 shards are missing: 3") {
		t.Error(said)
	}
	for name, text := range folderOf(t, "one") {
		if text != want[name] {
			t.Errorf("%s was changed", name)
		}
	}
	if err := os.WriteFile("one/mine.txt", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, said = askAtlas(t, 1, "make", "-o", "one", "joined.csv")
	if !strings.Contains(said, "one has mine.txt, which is no file of an atlas") {
		t.Error(said)
	}
	if err := os.Truncate("shards/bounds.npz", 1000); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", "shards"}, {"show", "shards"}, {"page", "-o", "page.html", "shards"}} {
		if _, said = askAtlas(t, 1, args...); !strings.Contains(said, "bounds.npz has not the checksum") {
			t.Error(said)
		}
	}
	if _, err := os.Stat("page.html"); err == nil {
		t.Error("a page was written of what is damaged")
	}
}

// So it is with recipes, of which the commands tell what the data set has.
func TestAtlas_of_recipes_is_the_same_however_it_is_swept(t *testing.T) {
	t.Chdir(t.TempDir())
	recipes := strings.Fields("-atlas -recipe torchao-e4m3-row,int8-row -dist U(0,1),softmax(1)×N(0,1) -k 128 -seeds 1:2")
	askSweep(t, 0, append(recipes, "-o", "one.csv")...)
	askAtlas(t, 0, append([]string{"make", "-o", "shards"}, computeShards(t, 3, recipes)...)...)
	askAtlas(t, 0, "make", "-o", "one", "one.csv")
	got := folderOf(t, "shards")
	for name, want := range folderOf(t, "one") {
		if got[name] != want {
			t.Errorf("shards/%s is not one/%s", name, name)
		}
	}
	if out, _ := askAtlas(t, 0, "check", "one"); !strings.Contains(out, "0 cells, 0 rows of bounds; 2 recipes, 14 cells, ") || !strings.HasSuffix(out, " 0 violated\n") {
		t.Error(out)
	}
	if out, _ := askAtlas(t, 0, "show", "-recipe", "all", "-dist", "U(0,1)", "one"); strings.Count(out, "\n") != 8 || !strings.Contains(out, "int32  ") {
		t.Error(out)
	}
	out, _ := askAtlas(t, 0, "show", "-recipe", "torchao-e4m3-row", "-device", "hopper-mma", "-dist", "U(0,1)", "one")
	if !strings.HasPrefix(out, "hopper-mma-e4m3-binary32, torchao-e4m3-row, U(0,1), K = 128: 2 products, 64 outputs;") || !strings.Contains(out, "\naccumulated: mean ") ||
		!strings.Contains(out, "quantisation  matrices      yes ") {
		t.Error(out)
	}
	if _, said := askAtlas(t, 1, "show", "-recipe", "int8-tensor", "one"); !strings.Contains(said, "-recipe int8-tensor is not in the atlas, want one of torchao-e4m3-row, int8-row, or all") {
		t.Error(said)
	}
	askAtlas(t, 0, "page", "-o", "page.html", "one")
}

func TestAtlas_refuses_what_is_not_in_it(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"show -device hoper", "-device hoper is not in the atlas, want one of ada, ampere"},
		{"show -in int8", "-in int8 is not in the atlas, want one of bfloat16, binary16"},
		{"show -dist U(3,4)", "-dist U(3,4) is not in the atlas, want one of U("},
		{"show -recipe int3", "-recipe int3 is not in the atlas, want one of torchao-e4m3-tensor"},
		{"show -recipe all -in binary16", "-in binary16 is not in the atlas, want one of bfloat16"},
		{"show -recipe int8-row -k 16", "-k 16 is not in the atlas, want one of 128 1024"},
		{"show -recipe int8-row -device hopper", "none of these together"},
		{"show -k 17", "-k 17 is not in the atlas, want one of 16 128"},
		{"show -device volta -in e4m3", "none of these together"},
		{"show none", "none: atlas: there is no manifest.json"},
		{"check .", "there is no manifest.json"},
	} {
		if _, said := askAtlas(t, 1, strings.Fields(c.args)...); !strings.Contains(said, c.want) {
			t.Errorf("atlas %s: %s, want %q", c.args, said, c.want)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"make -o folder", "want -o FOLDER and the files of a sweep"}, {"make a.csv", "want -o FOLDER"}, {"show a b", "want one folder"}, {"page", "want -o FILE.html"}, {"find", "unknown command"},
	} {
		if _, said := askAtlas(t, 2, strings.Fields(c.args)...); !strings.Contains(said, c.want) {
			t.Errorf("atlas %s: %s, want %q", c.args, said, c.want)
		}
	}
}

func TestSweep_of_the_atlas_has_its_own_plan(t *testing.T) {
	for _, c := range []struct {
		status     int
		args, want string
	}{
		{2, "-atlas -m 4", "-m with -atlas, which has its own"}, {2, "-atlas -ranges=false", "-ranges with -atlas"}, {2, "-atlas -told moments", "-told with -atlas"},
		{2, "-atlas -standard", "-standard and -atlas are two plans"}, {2, "-atlas -join a.csv", "-atlas is a plan, want none with -join"}, {2, "-standard -recipe int8-row", "-recipe with -standard"}, {1, "-atlas -k 5", "nothing of that is in the atlas plan"},
	} {
		if _, said := askSweep(t, c.status, strings.Fields(c.args)...); !strings.Contains(said, c.want) {
			t.Errorf("sweep %s: %s, want %q", c.args, said, c.want)
		}
	}
}
