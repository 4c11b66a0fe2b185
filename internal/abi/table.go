package abi

// A Function is one function that the library exports. Besides Matrices, by
// name, a Box with its context, and where a call may take long a flag to cancel
// it, all take a question and return an answer, but for those that are asked
// nothing.
type Function struct {
	Name     string
	Question bool     // it is asked something
	Matrices []string // those whose name begins with ? may be NULL
	Box      bool     // it asks a function of the caller
	Cancel   bool
	Doc      []string // lines
}

// Functions are the functions of the library.
var Functions = []Function{
	{"version", false, nil, false, false, []string{`The answer: {"abi": ..., "version": ..., "go": ..., "system": ..., "vector": ...}.`}},
	{"devices", false, nil, false, false, []string{"The answer: a list of the devices that are emulated."}},
	{"formats", false, nil, false, false, []string{
		`The answer: {"formats": [...], "recipes": [...]}, what a matrix can be made of, and how`,
		"libraries quantise."}},
	{"threads", true, nil, false, false, []string{
		`From now on calls use so many cores, "threads" (0), of this process; 0 asks for the number alone. The answer:`,
		`{"threads": ...}. At first it is GOMAXPROCS of the environment in which the process started, or that of all cores.`}},
	{"gemm", true, []string{"a", "b", "?c", "d"}, false, true, []string{
		"D = alpha A B + beta C as a device computes it, bit for bit. Keys, with what they are if they",
		`are not there: "device" ("hopper"), "in" (the formats of a device named in full, else`,
		`"binary16"), "out" (what a device named in full adds in, else "binary32"), "split_k" (1),`,
		`"promote" (0), "alpha" (1), "beta" (0). d is of out, binary32 or binary64. c is NULL unless beta`,
		`is not 0. "plan", a name or a text of ` + "`roundoff plan list`" + `, stands in place of those that tell a machine.`,
		`With "recipe", one or two of roundoff_formats, the matrices are quantised first, and "kernel" applies the`,
		"scales, by default that which the recipes ask for. Matrices of binary32 whose rows or columns lie in one",
		"piece are read where they lie."}},
	{"dot", true, []string{"x", "y", "?scale_x", "?scale_y", "?c", "d"}, false, true, []string{
		"d[i] = c[i] + the products of row i of x and of y, as a device adds them. Elements of the",
		"device's own formats are taken and stored as codes. Keys as those of roundoff_gemm, without",
		"alpha and beta. A row of scales has one for every block; without them they are 1."}},
	{"trace", true, []string{"a", "b"}, false, false, []string{
		`How an element of A B is summed. Keys: those of the machine, "row" (0) and "column" (0).`}},
	{"round", true, []string{"x", "d"}, false, false, []string{
		`The numbers of x rounded to "format", by "mode" ("ToNearestEven"), or at random with so many`,
		`bits, "stochastic" (0), from "seed" (0).`}},
	{"quantise", true, []string{"x", "?codes", "?scales", "?values"}, false, false, []string{
		`x quantised by "recipe" as the factor "side" ("a"), or with "stochastic" (0) random bits from`,
		`"seed" (1): codes, scales of blocks in binary32, and the numbers that they stand for.`}},
	{"exact", true, []string{"a", "b", "d", "?abs"}, false, true, []string{
		"A B and |A||B| without any rounding, then rounded once to binary64. No keys."}},
	{"bound", true, []string{"?a", "?b"}, false, false, []string{
		"Every bound on the error of a product; keys are the flags of `roundoff bound`, with _ for -."}},
	{"advise", true, []string{"?a", "?b"}, false, false, []string{
		`Which devices meet a "tolerance"; keys are the flags of ` + "`roundoff advise`."}},
	{"predict", true, []string{"?a", "?b"}, false, false, []string{
		"What error is to be expected of random data; keys are the flags of `roundoff predict`, k a list."}},
	{"tolerance", true, []string{"a", "b", "?scale_a", "?scale_b", "?got", "?want", "?limits"}, false, false, []string{
		"How far outputs of A B may be from the exact ones, and which of got are further, and why; keys are",
		"the flags of `roundoff tolerance`, and \"want\", an object of those that tell a machine, with want, the",
		"outputs of another implementation. Of a device with scales a and b are elements if scale_a and scale_b",
		"are given. limits, in binary64, is filled with the tolerances, as each output has them by itself: of got",
		"more is asked, that one number of parts of K fits all outputs, and that no few stand apart from all",
		"others, which have the bits of the device, unless \"orders\" is \"mixed\"."}},
	{"audit", true, []string{"?a", "?b"}, false, true, []string{
		`What quantisation does to the network in the file "model", or to the product of activations a`,
		`and weights b. Other keys: "recipe", "device", "promote" (128), "seed" (1).`}},
	{"sweep", true, nil, false, true, []string{
		"How every bound does on emulated products; keys are the flags of `roundoff sweep`, with _ for -. With",
		`"shard", as in "3/16", the answer is no JSON but the text of that shard, the bytes that`,
		"`roundoff sweep -shard` writes. Without it, JSON: what is asked for, how many draws it has, into how many",
		`shards it is best divided, and of "files", an object of names by shard, which have what of it.`}},
	{"join", true, nil, false, false, []string{
		`The rows of the shards in "files", a list, as the text that ` + "`roundoff sweep -join` writes and as records" + `,`,
		`of all of a sweep or, with "partial" (false), of those that there are, and what is missing.`}},
	{"infer", true, nil, true, true, []string{
		"How a box adds, found by asking it some ten thousand dot products, many in a call, in this thread. Keys:",
		`"in" ("binary16"; two formats, A's and B's, with a comma between them), "out" ("binary32"), "k" (16),`,
		`"scale" and "scale_block" for scales of so many factors each, "order" (false; true finds the order of the`,
		`additions and nothing else), "seed" (1). The answer: {"text": ..., "found": ...}, what ` + "`roundoff infer` and",
		"`roundoff infer -json` write. An order is a list of additions, \"Additions\", each a list of what it adds:",
		"i < k for a product, -1 for c, and k + i for the result of addition i, which comes before; the last is the sum.",
		"ROUNDOFF_FAILED: the box returned a number other than 0, or changes its answers."}},
}
