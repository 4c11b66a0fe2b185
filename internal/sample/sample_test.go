package sample

import "testing"

func TestSample(t *testing.T) {
	x := []float64{3, -1, 2, -7}
	if got := Median(x); got != 0.5 {
		t.Errorf("median %v, want 0.5", got)
	}
	if got := Median(x[:3]); got != 2 {
		t.Errorf("median %v, want 2", got)
	}
	if got := RMS([]float64{3, -4, 0, 0}); got != 2.5 {
		t.Errorf("root mean square %v, want 2.5", got)
	}
	if x[0] != 3 {
		t.Error("the sample has been sorted")
	}
}
