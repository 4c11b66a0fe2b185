// Package notebook reads and writes Jupyter notebooks, files of nbformat
// version 4.
//
// A notebook that is parsed and written again says the same thing: every key
// this package does not know, at any level, is kept. The form is always the
// same one, that of Jupyter itself: keys sorted, indented by one blank, text as
// a list of lines, no HTML escapes, a newline at the end. So a file differs
// from its last version only where its content does.
//
//	nb, err := notebook.Parse(data)
//	nb.ClearOutputs()
//	data, err = nb.Bytes()
//
// The package touches no file and knows nothing of kernels.
//
// The format is described in Jupyter's nbformat documentation, "The Notebook
// file format".
package notebook
