package library

// A Refusal says why there is no plan. What is not known is refused, and never
// guessed.
type Refusal struct {
	Reason  string // for cuBLASLt, in the words of the published planner
	Nearest string // what is known nearest, "" if nothing is
}

// Error returns the Reason.
func (r *Refusal) Error() string { return r.Reason }
