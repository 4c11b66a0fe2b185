// Package jupyter runs code in a Jupyter kernel: it starts the kernel, sends it
// the text of one cell after the other, collects the outputs of each, and ends
// the kernel. It does what a notebook server does, without the server, so that
// notebooks can run on a machine that has only Go.
//
//	spec, err := jupyter.ReadSpec("tools/kernels/gonb/kernel.json")
//	k, err := jupyter.Start(ctx, spec, "notebooks", nil)
//	defer k.Close()
//	r, err := k.Execute(ctx, "%%\nfmt.Println(1 + 1)")
//
// An error of the cell, such as a panic, is in the result. An error of Execute
// means that the kernel was interrupted, died, or violated the protocol. All
// connections are on the loopback interface of this machine, and every message
// is signed with a key of this one kernel.
//
// The protocol is described in Jupyter's jupyter_client documentation,
// "Messaging in Jupyter". This package implements version 5 over ZeroMQ, with
// the channels shell, control and iopub.
package jupyter
