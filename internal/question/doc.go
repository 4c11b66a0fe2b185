// Package question contains what a command and the library for other languages
// ask of the packages: devices, formats, recipes and laws by the names that
// people type, and questions about bounds with their answers.
package question
