// Package playground answers the questions of the playground page. A question
// and its answer are JSON, so that the same code serves a browser, where it
// runs as WebAssembly, and tests, where it runs natively.
package playground
