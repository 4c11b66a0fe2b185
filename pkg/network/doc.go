// Package network reads trained networks: which products of matrices they
// compute, and with which weights. It also computes what they compute, with
// products of your own. It knows nothing of rounding errors.
//
//	m, err := network.Open("model.onnx")
//	for _, p := range m.Products {
//		b, err := p.Weights() // K × N, the right factor
//	}
//	out, err := m.Run(inputs, network.Exactly) // or another way to multiply
//
// A file is read where it is needed: the description of a network first, the
// weights of one product at a time. No number of a file is believed: an array
// is made after its size has been compared with the bytes that there are.
//
// Sources: ONNX 2024, whose fields are read from the file by hand, because
// libraries for Protocol Buffers want a message in memory as a whole;
// safetensors 2024.
package network
