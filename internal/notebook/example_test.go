package notebook_test

import (
	"fmt"

	"github.com/roundofflab/roundoff/internal/notebook"
)

const small = `{"cells": [
 {"cell_type": "markdown", "metadata": {}, "source": ["# What is γₙ?\n", "A question."]},
 {"cell_type": "code", "execution_count": 3, "metadata": {}, "source": "%%\nfmt.Println(1 < 2)",
  "outputs": [{"output_type": "stream", "name": "stdout", "text": "true\n"}]}],
 "metadata": {"kernelspec": {"name": "gonb", "language": "go"}}, "nbformat": 4, "nbformat_minor": 4}`

// A notebook is parsed, its title is read, and its outputs are removed before
// it is stored.
func Example() {
	nb, err := notebook.Parse([]byte(small))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(nb.Title(), nb.CheckKernel())
	fmt.Printf("%q\n", nb.CodeCells()[0].Outputs[0].Text)

	nb.ClearOutputs()
	data, err := nb.Bytes()
	fmt.Printf("%s%v\n", data, err)
	// Output:
	// What is γₙ? <nil>
	// "true\n"
	// {
	//  "cells": [
	//   {
	//    "cell_type": "markdown",
	//    "metadata": {},
	//    "source": [
	//     "# What is γₙ?\n",
	//     "A question."
	//    ]
	//   },
	//   {
	//    "cell_type": "code",
	//    "execution_count": null,
	//    "metadata": {},
	//    "outputs": [],
	//    "source": [
	//     "%%\n",
	//     "fmt.Println(1 < 2)"
	//    ]
	//   }
	//  ],
	//  "metadata": {
	//   "kernelspec": {
	//    "language": "go",
	//    "name": "gonb"
	//   }
	//  },
	//  "nbformat": 4,
	//  "nbformat_minor": 4
	// }
	// <nil>
}
