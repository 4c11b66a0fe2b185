// Package quantisation predicts and bounds the errors of products of matrices
// whose factors were rounded to a narrow format. Of a product AB it is
//
//	E = ÂB̂ - AB,  E_ij = Σ_k q_k,  q = âb̂ - ab,
//
// with Â and B̂ the quantised factors. How a machine adds up the products is no
// part of E. At worst |E| is about 2u|A||B|, but on random data it is a random
// walk, and grows with the square root of K.
//
// # The laws of the factors are known
//
// Assumed is: the elements of A are independent of one another, those of B too,
// and A of B, each matrix of one known law with a density. Elements of E may
// depend on each other. Nothing is assumed of a machine. Then for all outputs
// of an M × K by K × N product at once:
//
//	Law        the density of an element, and an interval that it seldom leaves
//	Factor     a law, the format to which its numbers are rounded, and scales of blocks, rows or all, or of blocks and all
//	Cumulant   K(t) = log E exp(t Σ q) over a block of L products, L = 1 without scales; drift and variance
//	Chernoff   P(max E - nμ > x) <= MN min_t exp(-tx + nK(t)), with E - nμ a sum of n = K/L blocks of mean μ
//	Tilted     the same with a factor [erfcx(ts/√2)/2 + 2Cr/√n], where it is below 1
//	Smoothed   the same with a factor E g(E - nμ - nK′) of the tilted law, where g(u) >= exp(-tu) for u >= 0
//	Tightest   the least of the three
//	Product    both signs of E, and laws without bounds
//	Given      the same where B is known, K(t) = Σ_k log E exp(t(âb̂_k - ab_k)) for each column
//
// Chernoff's bound is Markov's inequality for exp(tE), and the union bound. The
// refinement is the theorem of Berry and Esseen for the sum under the tilted
// law, of density exp(tq - K(t)) relative to the law of q. Where n K′(t) is x
// and s² = n K″(t), its normal part integrates to erfcx(ts/√2)/2 and its error
// to at most 2Cr/√n, C = 0.469 (Shevtsova), with r = E|q - x/n|³ / K″(t)^1.5
// under the tilted law. By the inequality of Cauchy and Schwarz r² is at most
// the tilted kurtosis, which the derivatives of K contain. No bound is greater
// than Chernoff's.
//
// What Chernoff's bound leaves out is the mean of exp(-tu) over u = E - nμ -
// nK′ >= 0 under the tilted law. It is at most that of a g(u) that is at least
// as great there and nowhere negative. If g has no frequencies above T, its
// mean is an integral over the characteristic function of the tilted law up to
// T, which is that of K(t) at complex t. The g of least integral is known
// (Graham and Vaaler). As T grows, the bound becomes the probability.
//
// A law without bounds is cut: with probability 1 - ζ/16 all elements of A lie
// in one interval. Given that, they are still independent, of the law cut to
// it, and the bound has what is left of ζ. If both laws have no bounds, what is
// cut are pairs of an element of A and one of B that are both extreme, and that
// meet in some product with probability ζ/8 at most. A pair is left if a lies
// in I_i and b in J_j of nested intervals with i + j <= 13, which is a sum of
// products of intervals. Given that all pairs of one output are left, they are
// independent, of the law of (a, b) cut in the same way.
//
// Where blocks of L products share a scale in each factor, let m_ef(x, y) be
// the expectation of exp(tq) where |a| <= x and |b| <= y, with q rounded at the
// scales e and f, and X_e and Y_f the greatest amax that have these scales.
// The sum over a block has, by inclusion and exclusion,
//
//	E exp(t Σ q) = Σ_ef [m_ef(X_e, Y_f)^L - m_ef(X_e', Y_f)^L - m_ef(X_e, Y_f')^L + m_ef(X_e', Y_f')^L]
//
// with e' and f' the next lower scales. Where blocks of other rows or columns
// have the same scale, as in tiles, each term is multiplied by the probability
// that their elements are as small. Blocks are independent of each other.
// Scales that clip the greatest number of a block have a drift, a mean error
// that does not average out.
//
// A scale in binary32 is nearly a continuous function of amax, s = amax / max.
// Given that amax is X in A and Y in B, the greatest number of a block is ±X,
// at each of its places equally often, and exact. The others are independent,
// of the law cut to [-X, X], and so for Y. With m the expectation of exp(tq),
// and m_a, m_b and m_ab those where a, b or both are the greatest numbers, all
// with the densities of X and Y and |a| <= X, |b| <= Y,
//
//	E exp(t Σ q) = ∬ [L m_ab m^(L-1) + L(L-1) m_a m_b m^(L-2)] dX dY
//
// and there are terms more where the greatest number of a tile may be in
// another row. If a row or a matrix has one scale, L is K, and Chernoff's bound
// has no refinement. The integrals are sums by the rule of Gauss in between
// quantiles of amax and the numbers where an integrand jumps. They are no
// inequalities; over twice as many intervals K(t) is the same to six digits
// for the laws of the tests, and to within 1/200 if their densities jump below
// amax, as that of U(-0.3,1) does. Bounds have an allowance of 2^-21 K E|a|E|b|
// for each factor of which the scales are rounded to binary32: what eight
// roundings change in the mean, to the first order.
//
// Where blocks have scales of e4m3 in units of one of the matrix, as in NVFP4,
// all of them depend on the greatest magnitude X of A. Given that X, and Y of
// B, the other elements are independent, of the law cut to [-X, X], and scales
// of blocks are those above, times amax / 2688. With a probability p, 1/M for
// blocks of one row, the block or tile that has ±X is met by the row of an
// output, and in each of its n blocks equally often; so for B with q. With M_00
// the expectation of exp(tΣq) of other blocks, M_10, M_01 and M_11 those where
// a block of A, of B or both have the greatest magnitude of their matrix, an
// element of E has, as they all have one law,
//
//	E exp(tE) = ∬ [(1-p)(1-q) M_00^n + (p(1-q) M_10 + (1-p)q M_01 + pq/n M_11) M_00^(n-1) + pq(1-1/n) M_10 M_01 M_00^(n-2)] dP(X) dP(Y)
//
// and Chernoff's bound follows, without refinement. The outer integrals have 4
// nodes for each magnitude, or 9 for matrices of less than 1024 numbers: bounds
// are the same to 1/200 with twice as many. The allowance is twice that above.
// Both laws without bounds are cut to intervals, with ζ/16 each.
//
// If B is known, as weights are, the products of a column are independent too,
// each of its own law, and the logarithms of their generating functions add up.
// Then only rows of A need be random, and the mean of each column is known.
//
// # The matrices are known
//
// Then the first two need no assumption on the data, which may be constant,
// sorted or correlated:
//
//	KnownProduct       E itself, Â dB + dA B; |dA||B| + |Â||dB|; what random signs predict, √V
//	StochasticProduct  P(|E_ij| > t_ij) <= ζ with stochastic rounding, random bits alone being random
//	Hoeffding          the same from norms: a theorem for stochastic rounding, a model to nearest
//	Conformal          from other rows of A with the same B, which are exchangeable with those to come
//
// A product of matrices that are rounded at random is a sum of independent
// numbers of four values each, so its cumulant generating function is known.
// Chernoff's bound follows, that of Berry and Esseen under the tilted
// distribution, with C = 0.56 (Shevtsova) as the terms differ, and that of
// Graham and Vaaler, from its characteristic function. Without
// exponentials there are Bernstein's bound, and one that is sub-Gaussian: a
// number of two values with probabilities p and 1-p, a step apart, has the
// constant (1-2p)/(2 log((1-p)/p)) (Kearns and Saul). Rounding to nearest is a
// function of the data: on constants and on decimal numbers its errors have one
// sign, or few values, and are not like random ones.
//
// # The catalogue
//
// A [Problem] says what is known of a product, in one of these ways or in
// several, and how its factors are rounded. [Evaluate] puts every [Bound] of
// the [Catalogue] to it: each is a record of what it has to know and what it
// assumes, and each [Result] says whether it holds, and why not. What assumes
// something of errors to nearest, or tells a mean, has a number in its result
// but does not hold: it is a model or a prediction.
//
// # Evaluation
//
// Expectations over laws are sums by the rule of Gauss on every cell of numbers
// that round to the same one. In formats of more than 8 bits it is on every
// binade, with the error as a second variable. K(t) is summed from the first 96
// moments of q, and +Inf where these do not tell it to 16 digits. Rounding is
// to nearest, and as ties have no probability it does not matter where they go.
// Numbers beyond a format become its greatest. All results are numerically
// exact, in float64, and not rounded outward. Probabilities of failure are
// given as logarithms, as in package roundoff.
package quantisation
