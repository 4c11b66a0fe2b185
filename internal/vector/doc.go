// Package vector reports which vector instructions the processor has.
package vector
