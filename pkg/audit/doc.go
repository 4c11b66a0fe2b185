// Package audit says what quantisation does to one layer of a network: a
// product D = AB of activations A and weights B.
//
// With Â and B̂ the quantised factors, E = ÂB̂ - AB is what quantisation adds.
// It is predicted from the errors of the elements, and measured beside. What
// the device adds is measured on the emulated device: D̂ - ÂB̂. Each has a
// bound that holds always, since both matrices are known.
//
//	l, err := audit.NewLayer(a, b)
//	e, err := l.Errors(quant.NVFP4(quant.Vector16), quant.NVFP4(quant.Vector16), devices.All(), 128)
//	e.Predicted, e.Measured, e.Bound // rms(E)/rms(D), and what it is at most
//
// How errors pass from layer to layer is measured: the network is computed with
// all its products so, beside the exact ones.
//
//	r, err := audit.NewRun(model, inputs)
//	o, err := r.With(audit.Arithmetic{OnA: recipe, OnB: recipe})
//	o.Products[2].Alone, o.Products[2].Inherited, o.Products[2].Both
package audit
