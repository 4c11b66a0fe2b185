// Package atlas keeps, reads and searches one data set of errors and bounds:
// what products on emulated matrix units are wrong by, and how near every bound
// of the catalogue comes to that, for each device, distribution and length of
// the sums. It is made from the rows of a sweep ([New], package sweep), and
// written as columns that NumPy reads, with names, a manifest with checksums, a
// data sheet and a licence ([Atlas.Write]). [Recorded] is the one that is part
// of this module:
//
//	a, err := atlas.Recorded()
//	for _, c := range a.Select(atlas.Query{Device: "hopper", Data: "N(0,1)", K: 2048}) {
//		best, ok := c.Tightest(bound.Moments)
//		…
//	}
//
// Cells with a recipe ([RecipeCell]) are of products whose factors it quantises
// first: [Atlas.SelectRecipes] selects them, and they tell what quantisation
// contributes to the error and what sums do.
//
// Devices that compute the same have the same cells: [Atlas.Devices] names the
// machine of each. The columns keep what a sweep writes, as binary32, apart
// from its sketches of distributions, of which they keep the median of the
// errors.
package atlas
