package reproduce

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/roundofflab/roundoff/internal/notebook"
)

func TestLongestFirst(t *testing.T) {
	var notebooks []*notebook.Notebook
	for _, text := range []string{
		"*Running time:* about 5 seconds.", "*Running time:* about 30 seconds: much.", "nothing is said", "*Running time:* about 5 seconds.", "*Running time:* about 1 second",
	} {
		notebooks = append(notebooks, &notebook.Notebook{Cells: []*notebook.Cell{{Type: "markdown", Source: "# 1. Title\n" + text}}})
	}
	if got, want := longestFirst(notebooks), []int{1, 0, 3, 4, 2}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Five tasks take 3, 1, 1, 4 and 1 s. The k-th begins when the first of those
// before it ends, and no more than n run at a time.
func TestAtATime(t *testing.T) {
	seconds := []int{3, 1, 1, 4, 1}
	for n, want := range map[int][]int{1: {0, 3, 4, 5, 9}, 2: {0, 0, 1, 2, 3}, 3: {0, 0, 0, 1, 1}, 9: {0, 0, 0, 0, 0}} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, begins := time.Now(), make([]int, len(seconds))
				var tasks []func() error
				for i, s := range seconds {
					tasks = append(tasks, func() error {
						begins[i] = int(time.Since(start).Seconds())
						time.Sleep(time.Duration(s) * time.Second)
						return nil
					})
				}
				if err := atATime(n, tasks); err != nil || !slices.Equal(begins, want) {
					t.Errorf("they begin at %v s, want %v; %v", begins, want, err)
				}
			})
		})
	}
}

// The second task fails after 1 s. The first and the third run on, and the
// first fails as well; the fourth is not called.
func TestAtATime_calls_nothing_after_an_error(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls, ends atomic.Int32
		first, second := errors.New("first"), errors.New("second")
		task := func(seconds int, err error) func() error {
			return func() error {
				calls.Add(1)
				time.Sleep(time.Duration(seconds) * time.Second)
				ends.Add(1)
				return err
			}
		}
		err := atATime(3, []func() error{task(2, first), task(1, second), task(3, nil), task(1, nil)})
		if calls.Load() != 3 || ends.Load() != 3 {
			t.Errorf("%d calls, of which %d were waited for, want 3", calls.Load(), ends.Load())
		}
		if err == nil || err.Error() != "first\nsecond" {
			t.Errorf("%v, want both errors in order", err)
		}
	})
}
