/* roundoff.h: emulated matrix units and bounds on rounding errors, for C and C++.
 * Written by go generate from the table in internal/abi; not to be edited.
 *
 * Every function returns a code below and, unless answer is NULL, stores in *answer a text of UTF-8
 * that ends with a zero byte: JSON if the code is ROUNDOFF_OK, unless the function says otherwise, and
 * if it is not what is wrong, with the name of the argument and its value. The caller frees it by
 * roundoff_free. A question is an object in JSON; NULL and "" ask with all defaults, and a key that
 * there is not is an error. Nothing of the caller's is kept. All functions may be called by several
 * threads at the same time, but by no child of a fork(2) whose parent has called or loaded this
 * library: the threads that it needs are not there.
 */
#ifndef ROUNDOFF_H
#define ROUNDOFF_H

#include <stdint.h>

#define ROUNDOFF_ABI 5

enum {
	ROUNDOFF_OK = 0,
	ROUNDOFF_ARGUMENT = 1,  /* an argument is wrong */
	ROUNDOFF_FAILED = 2,    /* a file, or what it contains, is not as it has to be */
	ROUNDOFF_CANCELLED = 3, /* *cancel was not 0; what was to be written may be written in part */
	ROUNDOFF_FAULT = 4      /* a mistake of this library */
};

/* A matrix in the memory of the caller, which has to be readable, or writable where a function
 * stores it: elements are codes of the format, little-endian, in 1, 2, 4 or 8 bytes.
 * roundoff_formats lists them. Strides may be negative, and 0 where a matrix is only read. */
typedef struct {
	const char *format; /* "binary32", "binary64", "binary16", "bfloat16", "e4m3", ... */
	void *data;         /* the element of row 0 and column 0 */
	int64_t rows, columns;
	int64_t row_stride, column_stride; /* in bytes */
} roundoff_matrix;

/* A box answers dot products, as many as the matrices have rows, in a way that is to be found out. It
 * stores c[i] + the products of row i of x and of y in d[i], as codes: x and y have k columns, c and d one,
 * and scale_x and scale_y, NULL if there are no scales, k / "scale_block". Rows follow each other without
 * gaps. The matrices are there until it returns. It returns 0, or another number if it failed. */
typedef int (*roundoff_box)(void *context, const roundoff_matrix *x, const roundoff_matrix *y,
	const roundoff_matrix *scale_x, const roundoff_matrix *scale_y, const roundoff_matrix *c,
	const roundoff_matrix *d);

#ifndef ROUNDOFF_TYPES_ONLY
#ifdef __cplusplus
extern "C" {
#endif

/* Frees an answer; NULL is no error. */
void roundoff_free(char *answer);

/* The answer: {"abi": ..., "version": ..., "go": ..., "system": ..., "vector": ...}. */
int roundoff_version(char **answer);

/* The answer: a list of the devices that are emulated. */
int roundoff_devices(char **answer);

/* The answer: {"formats": [...], "recipes": [...]}, what a matrix can be made of, and how
 * libraries quantise. */
int roundoff_formats(char **answer);

/* From now on calls use so many cores, "threads" (0), of this process; 0 asks for the number alone. The answer:
 * {"threads": ...}. At first it is GOMAXPROCS of the environment in which the process started, or that of all cores. */
int roundoff_threads(const char *question, char **answer);

/* D = alpha A B + beta C as a device computes it, bit for bit. Keys, with what they are if they
 * are not there: "device" ("hopper"), "in" (the formats of a device named in full, else
 * "binary16"), "out" (what a device named in full adds in, else "binary32"), "split_k" (1),
 * "promote" (0), "alpha" (1), "beta" (0). d is of out, binary32 or binary64. c is NULL unless beta
 * is not 0. "plan", a name or a text of `roundoff plan list`, stands in place of those that tell a machine.
 * With "recipe", one or two of roundoff_formats, the matrices are quantised first, and "kernel" applies the
 * scales, by default that which the recipes ask for. Matrices of binary32 whose rows or columns lie in one
 * piece are read where they lie.
 * May be NULL: c.
 * It ends soon after *cancel is not 0, unless cancel is NULL. */
int roundoff_gemm(const char *question, const roundoff_matrix *a, const roundoff_matrix *b,
	const roundoff_matrix *c, const roundoff_matrix *d, const int32_t *cancel, char **answer);

/* d[i] = c[i] + the products of row i of x and of y, as a device adds them. Elements of the
 * device's own formats are taken and stored as codes. Keys as those of roundoff_gemm, without
 * alpha and beta. A row of scales has one for every block; without them they are 1.
 * May be NULL: scale_x, scale_y, c.
 * It ends soon after *cancel is not 0, unless cancel is NULL. */
int roundoff_dot(const char *question, const roundoff_matrix *x, const roundoff_matrix *y,
	const roundoff_matrix *scale_x, const roundoff_matrix *scale_y, const roundoff_matrix *c,
	const roundoff_matrix *d, const int32_t *cancel, char **answer);

/* How an element of A B is summed. Keys: those of the machine, "row" (0) and "column" (0). */
int roundoff_trace(const char *question, const roundoff_matrix *a, const roundoff_matrix *b,
	char **answer);

/* The numbers of x rounded to "format", by "mode" ("ToNearestEven"), or at random with so many
 * bits, "stochastic" (0), from "seed" (0). */
int roundoff_round(const char *question, const roundoff_matrix *x, const roundoff_matrix *d,
	char **answer);

/* x quantised by "recipe" as the factor "side" ("a"), or with "stochastic" (0) random bits from
 * "seed" (1): codes, scales of blocks in binary32, and the numbers that they stand for.
 * May be NULL: codes, scales, values. */
int roundoff_quantise(const char *question, const roundoff_matrix *x, const roundoff_matrix *codes,
	const roundoff_matrix *scales, const roundoff_matrix *values, char **answer);

/* A B and |A||B| without any rounding, then rounded once to binary64. No keys.
 * May be NULL: abs.
 * It ends soon after *cancel is not 0, unless cancel is NULL. */
int roundoff_exact(const char *question, const roundoff_matrix *a, const roundoff_matrix *b,
	const roundoff_matrix *d, const roundoff_matrix *abs, const int32_t *cancel, char **answer);

/* Every bound on the error of a product; keys are the flags of `roundoff bound`, with _ for -.
 * May be NULL: a, b. */
int roundoff_bound(const char *question, const roundoff_matrix *a, const roundoff_matrix *b,
	char **answer);

/* Which devices meet a "tolerance"; keys are the flags of `roundoff advise`.
 * May be NULL: a, b. */
int roundoff_advise(const char *question, const roundoff_matrix *a, const roundoff_matrix *b,
	char **answer);

/* What error is to be expected of random data; keys are the flags of `roundoff predict`, k a list.
 * May be NULL: a, b. */
int roundoff_predict(const char *question, const roundoff_matrix *a, const roundoff_matrix *b,
	char **answer);

/* How far outputs of A B may be from the exact ones, and which of got are further, and why; keys are
 * the flags of `roundoff tolerance`, and "want", an object of those that tell a machine, with want, the
 * outputs of another implementation. Of a device with scales a and b are elements if scale_a and scale_b
 * are given. limits, in binary64, is filled with the tolerances, as each output has them by itself: of got
 * more is asked, that one number of parts of K fits all outputs, and that no few stand apart from all
 * others, which have the bits of the device, unless "orders" is "mixed".
 * May be NULL: scale_a, scale_b, got, want, limits. */
int roundoff_tolerance(const char *question, const roundoff_matrix *a, const roundoff_matrix *b,
	const roundoff_matrix *scale_a, const roundoff_matrix *scale_b, const roundoff_matrix *got,
	const roundoff_matrix *want, const roundoff_matrix *limits, char **answer);

/* What quantisation does to the network in the file "model", or to the product of activations a
 * and weights b. Other keys: "recipe", "device", "promote" (128), "seed" (1).
 * May be NULL: a, b.
 * It ends soon after *cancel is not 0, unless cancel is NULL. */
int roundoff_audit(const char *question, const roundoff_matrix *a, const roundoff_matrix *b,
	const int32_t *cancel, char **answer);

/* How every bound does on emulated products; keys are the flags of `roundoff sweep`, with _ for -. With
 * "shard", as in "3/16", the answer is no JSON but the text of that shard, the bytes that
 * `roundoff sweep -shard` writes. Without it, JSON: what is asked for, how many draws it has, into how many
 * shards it is best divided, and of "files", an object of names by shard, which have what of it.
 * It ends soon after *cancel is not 0, unless cancel is NULL. */
int roundoff_sweep(const char *question, const int32_t *cancel, char **answer);

/* The rows of the shards in "files", a list, as the text that `roundoff sweep -join` writes and as records,
 * of all of a sweep or, with "partial" (false), of those that there are, and what is missing. */
int roundoff_join(const char *question, char **answer);

/* How a box adds, found by asking it some ten thousand dot products, many in a call, in this thread. Keys:
 * "in" ("binary16"; two formats, A's and B's, with a comma between them), "out" ("binary32"), "k" (16),
 * "scale" and "scale_block" for scales of so many factors each, "order" (false; true finds the order of the
 * additions and nothing else), "seed" (1). The answer: {"text": ..., "found": ...}, what `roundoff infer` and
 * `roundoff infer -json` write. An order is a list of additions, "Additions", each a list of what it adds:
 * i < k for a product, -1 for c, and k + i for the result of addition i, which comes before; the last is the sum.
 * ROUNDOFF_FAILED: the box returned a number other than 0, or changes its answers.
 * It ends soon after *cancel is not 0, unless cancel is NULL. */
int roundoff_infer(const char *question, roundoff_box box, void *context, const int32_t *cancel,
	char **answer);

/* What roundoff.course of the package for Python calls in a process that it starts for that; no part of
 * ROUNDOFF_ABI. It runs the checks of a cell on a function of the process at the other end of standard
 * input and output, or, if cell is NULL or "", computes what that process asks for. It takes SIGINT and
 * SIGABRT and does not return: it ends the process, with 0, or with another status and a line on
 * standard error. */
void roundoff_examine(const char *cell);

#ifdef __cplusplus
}
#endif
#endif /* ROUNDOFF_TYPES_ONLY */
#endif /* ROUNDOFF_H */
