package licences

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNotices(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"LICENSE", "LICENSE-d3", "license.md", "license.go", "license_test.go", "noticed", "THIRD_PARTY_LICENSES/Sun", "src/LICENSE"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("text of "+name+"\n\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Notices([]Part{{"part", "v1", dir}})
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, name := range []string{"LICENSE", "LICENSE-d3", "THIRD_PARTY_LICENSES/Sun", "license.md"} {
		want += "\n\n---- part v1: " + name + "\n\ntext of " + name + "\n"
	}
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if _, err := Notices([]Part{{Name: "bare", Folder: filepath.Join(dir, "src", "..", "THIRD_PARTY_LICENSES")}}); err == nil || !strings.Contains(err.Error(), "bare: no licence") {
		t.Errorf("error %v of what has no licence", err)
	}
}
