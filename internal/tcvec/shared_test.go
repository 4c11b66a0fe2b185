package tcvec

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/roundofflab/roundoff/internal/vectest"
	"github.com/roundofflab/roundoff/internal/vector"
)

// processors is the folder of results of processors, beside $ROUNDOFF_VECTORS.
const processors = "../silicon-cpu"

// The emulation returns what a processor returned, payloads of NaN included.
func TestProcessorsPassOnNaN(t *testing.T) {
	for _, file := range vectest.Published(t, processors+"/*.tcv.gz") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			r, d := openRows(t, file)
			nan := 0
			rows := eachRow(t, r, func(i int, row Row) {
				if x := d.C.Decode(row.D); x != x {
					nan++
				}
				if got := row.Compute(d); got != row.D {
					t.Errorf("row %d: %#x, want %#x", i, got, row.D)
				}
			})
			if rows != r.Header.Count || nan < 50 {
				t.Errorf("%d rows, %d of them NaN, want %d and 50", rows, nan, r.Header.Count)
			}
		})
	}
}

// TestShared checks the vectors in the folders model and silicon of
// $ROUNDOFF_VECTORS or, if it is not set, of shared/vectors beside the
// repository, and those of processors.
func TestShared(t *testing.T) {
	for folder, least := range map[string]int{"model": 1000, "silicon": 1000, processors: 5000} {
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

// TestSharedProducts computes the same vectors as elements of matrix products,
// which take other ways than single dot products.
func TestSharedProducts(t *testing.T) {
	for _, folder := range []string{"model", "silicon", processors} {
		for _, file := range vectest.Published(t, folder+"/*.tcv.gz") {
			t.Run(folder+"/"+filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				in, err := os.Open(file)
				if err != nil {
					t.Fatal(err)
				}
				defer in.Close()
				r, err := NewReader(in)
				if err != nil {
					t.Fatal(err)
				}
				n, err := r.CheckProducts(70)
				if err != nil {
					t.Fatal(err)
				}
				if n.Mismatches > 0 || n.Rows < 500 || n.Graded < n.Rows/3 && r.Header.A != "fp64" {
					t.Errorf("%+v, want no mismatch", n)
				}
			})
		}
	}
}

// The products have the same bits on processors with fewer vector instructions.
// What this one does not have cannot be switched off.
func TestSharedProductsOnLesserProcessors(t *testing.T) {
	if testing.Short() {
		t.Skip("six times as long as the products")
	}
	for _, off := range []string{"cpu.avx512fp16=off", "cpu.avx512vnni=off", "cpu.avx512vnni=off,cpu.avx512fp16=off", "cpu.avx512f=off", "cpu.avx2=off"} {
		t.Run(off, func(t *testing.T) {
			if bits := vector.Detect().Bits; bits < 256 || bits < 512 && strings.HasPrefix(off, "cpu.avx512") {
				t.Skip("there is none here")
			}
			cmd := exec.Command(os.Args[0], "-test.run=^TestSharedProducts$")
			cmd.Env = append(os.Environ(), "GODEBUG="+off)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
