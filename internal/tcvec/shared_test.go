package tcvec

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/roundofflab/roundoff/internal/vectest"
)

// TestShared checks the vectors in the folders model and silicon of
// $ROUNDOFF_VECTORS or, if it is not set, of shared/vectors beside the
// repository.
func TestShared(t *testing.T) {
	for folder, least := range map[string]int{"model": 1000, "silicon": 1000} {
		for _, file := range vectest.Published(t, folder+"/*.tcv.gz") {
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
