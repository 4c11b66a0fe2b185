package reproduce

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"slices"
)

// fewColours returns the picture in data, the content of a PNG file, with at
// most n colours, also as PNG, and its size in pixels. The colours are the most
// frequent ones; each of the others is replaced by the nearest of them. A
// drawing of lines and text keeps a quarter of its bytes, and looks the same.
func fewColours(data []byte, n int) ([]byte, image.Point, error) {
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, image.Point{}, err
	}
	count := map[color.NRGBA]int{}
	eachPixel(img, func(_, _ int, c color.NRGBA) { count[c]++ })
	frequent := slices.SortedFunc(maps.Keys(count), func(a, b color.NRGBA) int {
		return cmp.Or(count[b]-count[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B), int(a.A)-int(b.A))
	})
	var palette color.Palette
	for _, c := range frequent[:min(n, len(frequent))] {
		palette = append(palette, c)
	}
	nearest := map[color.NRGBA]uint8{}
	for c := range count {
		nearest[c] = uint8(palette.Index(c))
	}
	small := image.NewPaletted(img.Bounds(), palette)
	eachPixel(img, func(x, y int, c color.NRGBA) { small.SetColorIndex(x, y, nearest[c]) })
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, small)
	return b.Bytes(), img.Bounds().Size(), err
}

func eachPixel(img image.Image, f func(x, y int, c color.NRGBA)) {
	r := img.Bounds()
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			f(x, y, color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA))
		}
	}
}

// alike reports whether two PNG files show the same to the eye: at most one
// pixel in a thousand differs by more than a quarter of the range of a channel.
// Other machines and other versions of Go draw edges a little differently.
func alike(a, b []byte) bool {
	x, errX := png.Decode(bytes.NewReader(a))
	y, errY := png.Decode(bytes.NewReader(b))
	if errX != nil || errY != nil || x.Bounds() != y.Bounds() {
		return false
	}
	differ := 0
	eachPixel(x, func(i, j int, c color.NRGBA) {
		d := color.NRGBAModel.Convert(y.At(i, j)).(color.NRGBA)
		if max(apart(c.R, d.R), apart(c.G, d.G), apart(c.B, d.B), apart(c.A, d.A)) > 64 {
			differ++
		}
	})
	return 1000*differ <= x.Bounds().Dx()*x.Bounds().Dy()
}

func apart(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }
