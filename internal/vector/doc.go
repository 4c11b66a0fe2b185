// Package vector asks the processor for its vector instructions.
package vector
