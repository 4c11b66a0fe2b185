// Package jupyter runs code in a Jupyter kernel: it starts the kernel, sends it
// the text of one cell after the other, gathers what each shows, and ends it.
// It is what a notebook server does, without the server, so notebooks run where
// there is nothing but Go.
//
//	spec, err := jupyter.ReadSpec("tools/kernels/gonb/kernel.json")
//	k, err := jupyter.Start(ctx, spec, "notebooks", nil)
//	defer k.Close()
//	r, err := k.Execute(ctx, "%%\nfmt.Println(1 + 1)")
//
// An error of the cell (a panic, say) is in the result; an error of Execute
// means that the kernel was interrupted, died, or spoke another language.
// Everything stays on the loopback interface of this machine, and every message
// is signed with a key of this one kernel.
//
// The protocol is described in Jupyter's jupyter_client documentation,
// "Messaging in Jupyter"; this package speaks version 5 of it over ZeroMQ: the
// channels shell, control and iopub.
package jupyter
