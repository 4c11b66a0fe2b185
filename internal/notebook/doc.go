// Package notebook reads and writes Jupyter notebooks, files of nbformat
// version 4.
//
// Parsing a notebook and writing it again preserves its content: keys that this
// package does not know are kept, at every level. The form is always that of
// Jupyter itself: keys sorted, indented by one blank, text as a list of lines,
// no HTML escapes, a newline at the end. Versions of a file therefore differ
// only where their contents differ.
//
//	nb, err := notebook.Parse(data)
//	nb.ClearOutputs()
//	data, err = nb.Bytes()
//
// The package opens no files and does not depend on kernels.
//
// The format is described in Jupyter's nbformat documentation, "The Notebook
// file format".
package notebook
