package progress

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A task within a task is a part of the outer's next step.
func TestShare(t *testing.T) {
	outer := Start(4)
	outer.Step(1)
	want := func(share float64) {
		t.Helper()
		if got := Share(); got != share {
			t.Errorf("share %v, want %v", got, share)
		}
	}
	want(0.25)
	inner := Start(2)
	want(0.25)
	inner.Step(1)
	want(0.375)
	inner.Step(5) // more steps than announced
	want(0.5)
	inner.End()
	outer.Step(1)
	want(0.5)
	outer.End()
	want(0)
}

type recorder struct {
	shares *[]float64
	ended  *bool
}

func (r recorder) Update(share float64) { *r.shares = append(*r.shares, share) }
func (r recorder) End()                 { *r.ended = true }

// In a bubble of synctest the clock is simulated, so that a busy machine does
// not affect the test.
func TestShow(t *testing.T) {
	defer func() { Show = nil }()
	var shares []float64
	ended, displays := false, 0
	Show = func() Display { displays++; return recorder{&shares, &ended} }

	t.Run("leaves_what_is_short_alone", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			task := Start(1)
			time.Sleep(Patience - 1)
			task.Step(1)
			task.End()
			if displays != 0 {
				t.Errorf("%d displays", displays)
			}
		})
	})
	t.Run("updates_what_is_long_and_is_over_with_it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			task := Start(2)
			part := Start(1)
			time.Sleep(Patience + 2*Interval + 1)
			part.End()
			task.Step(1)
			time.Sleep(2 * Interval)
			task.End()
			if want := []float64{0, 0, 0, 0.5, 0.5}; displays != 1 || !ended || !slices.Equal(shares, want) {
				t.Errorf("%d displays, ended = %v, shares %v, want %v", displays, ended, shares, want)
			}
		})
	})
	t.Run("tells_no_share_of_what_is_over", func(t *testing.T) {
		for range 1000 { // ends at the moment of an update
			synctest.Test(t, func(t *testing.T) {
				shares = nil
				task := Start(1)
				task.Step(1)
				time.Sleep(Patience + Interval)
				task.End()
				if slices.Contains(shares, 0) {
					t.Fatalf("shares %v", shares)
				}
			})
		}
	})
}
