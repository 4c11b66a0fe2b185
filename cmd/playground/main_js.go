// Command playground, built for js/wasm, answers the questions of the
// playground page: it sets the function roundoff, which takes a question as
// JSON text and returns the answer as JSON text. Built for any other system, it
// writes the page.
package main

import (
	"syscall/js"

	"github.com/roundofflab/roundoff/internal/playground"
)

func main() {
	js.Global().Set("roundoff", js.FuncOf(func(_ js.Value, args []js.Value) any {
		if len(args) != 1 || args[0].Type() != js.TypeString {
			return `{"error":"roundoff takes one text"}`
		}
		return string(playground.Answer([]byte(args[0].String())))
	}))
	select {}
}
