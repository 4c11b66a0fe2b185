package tcvec

import (
	"os"
	"path/filepath"
	"testing"
)

// TestShared runs the vectors in folders model and silicon of
// $ROUNDOFF_VECTORS, or else of shared/vectors beside the repository.
func TestShared(t *testing.T) {
	root := os.Getenv("ROUNDOFF_VECTORS")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "vectors")
	}
	for folder, least := range map[string]int{"model": 1000, "silicon": 1000} {
		files, err := filepath.Glob(filepath.Join(root, folder, "*.tcv.gz"))
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			t.Skipf("no vectors in %s: set ROUNDOFF_VECTORS to the folder that holds model and silicon", root)
		}
		for _, file := range files {
			t.Run(folder+"/"+filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				r, err := os.Open(file)
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				n, err := Check(r)
				if err != nil {
					t.Fatal(err)
				}
				if n.Mismatches > 0 || n.Rows < 500 || n.Graded < least/3 {
					t.Errorf("%+v, want no mismatch", n)
				}
			})
		}
	}
}
