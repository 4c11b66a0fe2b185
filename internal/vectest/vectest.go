// Package vectest finds and opens test vectors for the tests of other packages.
package vectest

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Published returns the test vectors that match a pattern such as
// silicon/*.tcv.gz in the folder of the environment variable ROUNDOFF_VECTORS
// or, if it is not set, in shared/vectors beside the repository. The test must
// run two folders below the root of the repository. If there are no files,
// Published skips the test.
func Published(t testing.TB, pattern string) []string {
	t.Helper()
	root := os.Getenv("ROUNDOFF_VECTORS")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "vectors")
	}
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("no %s in %s: set ROUNDOFF_VECTORS to the folder that holds it", pattern, root)
	}
	return files
}

// Open returns the decompressed contents of a gzip file, which is closed when
// the test ends.
func Open(t testing.TB, path string) io.Reader {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}
