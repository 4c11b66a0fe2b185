// Package infer finds out how an unknown matrix unit adds, from its answers
// alone.
//
// A [Box] computes d = c + Σ xᵢyᵢ on codes. Told are only the formats of its
// operands and their number, its [Shape]. [Learn] asks it some ten thousand dot
// products and returns a record of package tcore that gives the same answers,
// with the records that are not told from it, or, if it finds none, a question
// whose answer shows it.
//
// The idea is that of elimination. The grammar of records, in grammar.go, is
// every core of package tcore with every value of its parameters: which
// products are added at once, how many bits are kept, how sums are rounded. A
// record that gives one answer otherwise than the box is dropped, and most are
// by the first questions. Questions are drawn at random, but of kinds in which
// records differ: sums that nearly cancel, ties, terms near the last bit kept,
// numbers near the least one, special values. Where two records are left, those
// questions are asked which they answer differently.
//
// What is found holds for the questions asked. That a record gives all answers
// does not prove that it gives all others; a box with another arithmetic where
// no question went is not seen.
package infer
