package viz

import (
	"image"
	"image/color"
	"testing"
)

// An image of at most 256 colours is converted to a palette without change; any
// other is returned unchanged.
func TestIndexed(t *testing.T) {
	for _, colours := range []int{1, 2, 256, 257, 1000} {
		img := image.NewRGBA(image.Rect(0, 0, 50, 40))
		for i := range 2000 {
			n := i % colours
			if n > 0 { // the first colour is transparent
				img.Set(i%50, i/50, color.RGBA{uint8(n), uint8(n >> 8), 7, 255})
			}
		}
		z := indexed(img)
		if _, ok := z.(*image.Paletted); ok != (colours <= 256) {
			t.Errorf("%d colours: palette %v", colours, ok)
		}
		for i := range 2000 {
			if got, want := color.RGBAModel.Convert(z.At(i%50, i/50)), img.At(i%50, i/50); got != want {
				t.Fatalf("%d colours: pixel %d is %v, want %v", colours, i, got, want)
			}
		}
	}
}
