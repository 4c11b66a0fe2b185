// A libcuda, libcublas, libcublasLt and libnvrtc in one, for tests on a machine without a GPU. Device
// memory is host memory; a product is summed in double and rounded once, unless FAKE_SUM tells an order. It is strict where the vendor's
// are lenient: copies must be within one allocation, and on the host side within pinned memory; every
// call needs its context current; a matrix must lie within the memory it is in.
//
// The environment tells what goes wrong, and is read at every call:
//
//	FAKE_FAIL=7:2          call number 7 returns 2 (call numbers begin anew when the value changes)
//	FAKE_FAIL=cuInit:100   every cuInit returns 100
//	FAKE_HANG=cuInit       cuInit does not return
//	FAKE_EXIT=cuInit       cuInit ends the program, with success
//	FAKE_NOTHING=cuInit    every cuInit succeeds and does nothing; a product counts as one
//	FAKE_DRIVER=10020      version of CUDA that the driver supports
//	FAKE_DEVICES=0         number of devices
//	FAKE_NAME=x            name of the device
//	FAKE_MEMORY=100000     bytes of device memory
//	FAKE_SPLITK=3          parts of K in the heuristic's first choice
//	FAKE_NO_ALGORITHM=1    the heuristic knows none
//	FAKE_STATE=15          the heuristic's first choice is not usable, and has this for a reason
//	FAKE_OLD=1             algorithms have no inner shape nor cluster shape, as before version 12
//	FAKE_CAPABILITY=80     compute capability 8.0
//	FAKE_VERSION=130101    version of cublasLt
//	FAKE_ALGORITHMS=a;b    what the heuristic answers, each of nine numbers with commas: attributes 0 to 8
//	FAKE_SUM=hopper        cublasLt sums factors of 16 and 8 bits as Hopper does, K cut by the algorithm's split and stages
//	FAKE_SUM=fma           cublasLt sums them by one chain of FMAs in float
//	FAKE_SLICE=128         length of those slices of K, whatever the algorithm says
//	FAKE_LOSE=8            last products of K that those sums do not have
//
// Device attributes that no device has tell tests what happened: -1 is the number of objects and
// allocations alive, -2 the calls since FAKE_FAIL changed, -3 the products and streams so far, -4 the greatest size
// of device memory in use.
//
// FAKE_WITHOUT_x in the compiler's flags leaves function x out.

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NOTHING = -1, INVALID = 1, NO_MEMORY = 2, NO_CONTEXT = 201, NOT_FOUND = 500 };
enum { BLAS_INVALID = 7, BLAS_EXECUTION = 13, BLAS_UNSUPPORTED = 15 };

static int alive, calls, products, retained;
static size_t in_use, peak;
static _Thread_local int current;

static long env(const char *name, long otherwise) {
	const char *s = getenv(name);
	return s && *s ? atol(s) : otherwise;
}

// fails returns the code that the call is to return, NOTHING if it is to do nothing, or 0.
static int fails(const char *name) {
	static char last[200];
	const char *s = getenv("FAKE_FAIL");
	if (!s)
		s = "";
	if (strcmp(s, last)) {
		snprintf(last, sizeof last, "%s", s);
		calls = 0;
	}
	calls++;
	const char *hang = getenv("FAKE_HANG");
	while (hang && !strcmp(hang, name))
		pause();
	const char *leave = getenv("FAKE_EXIT");
	if (leave && !strcmp(leave, name))
		exit(0);
	const char *nothing = getenv("FAKE_NOTHING");
	if (nothing && !strcmp(nothing, name)) {
		products++;
		return NOTHING;
	}
	const char *colon = strchr(s, ':');
	if (!colon)
		return 0;
	if (atoi(s) == calls || (strlen(name) == (size_t)(colon - s) && !strncmp(s, name, colon - s)))
		return atoi(colon + 1);
	return 0;
}

#define FAIL \
	do { \
		int code = fails(__func__); \
		if (code) \
			return code == NOTHING ? 0 : code; \
	} while (0)
#define CONTEXT \
	do { \
		FAIL; \
		if (!current) \
			return NO_CONTEXT; \
	} while (0)

// What releases does so before it fails, as the vendor's calls return errors of earlier work.
#define RELEASE(free_it) \
	do { \
		free_it; \
		FAIL; \
		return 0; \
	} while (0)

// Allocations, on the device and pinned.
typedef struct block { char *p; size_t n; int pinned; struct block *next; } block;
static block *blocks;

static block *find(const void *p, size_t n, int pinned) {
	for (block *b = blocks; b; b = b->next)
		if (b->pinned == pinned && (char *)p >= b->p && (char *)p + n <= b->p + b->n)
			return b;
	return NULL;
}

static void *allocate(size_t n, int pinned) {
	block *b = malloc(sizeof *b);
	*b = (block){aligned_alloc(256, (n + 255) / 256 * 256), n, pinned, blocks};
	memset(b->p, 0x3c, n); // numbers in every format, as a driver leaves them there of earlier work
	blocks = b;
	alive++;
	if (!pinned && (in_use += n) > peak)
		peak = in_use;
	return b->p;
}

static int release(void *p, int pinned) {
	for (block **b = &blocks; *b; b = &(*b)->next)
		if ((*b)->p == p && (*b)->pinned == pinned) {
			block *gone = *b;
			*b = gone->next;
			if (!pinned)
				in_use -= gone->n;
			free(gone->p);
			free(gone);
			alive--;
			return 0;
		}
	return INVALID;
}

static void *new_object(size_t n) {
	alive++;
	return calloc(1, n);
}

static void free_object(void *p) {
	alive--;
	free(p);
}

// The driver.

int cuGetErrorName(int code, const char **text) {
	*text = code == NO_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : code == 100 ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_FAKE";
	return code == 12345 ? INVALID : 0;
}

int cuGetErrorString(int code, const char **text) {
	*text = code == NO_MEMORY ? "out of memory" : "made to fail";
	return code == 12345 ? INVALID : 0;
}

int cuInit(unsigned flags) { FAIL; return 0; }
int cuDriverGetVersion(int *v) { FAIL; *v = env("FAKE_DRIVER", 12080); return 0; }
int cuDeviceGetCount(int *n) { FAIL; *n = env("FAKE_DEVICES", 1); return 0; }
int cuDeviceGet(int *d, int ordinal) { FAIL; *d = 40 + ordinal; return 0; }
int cuDeviceTotalMem_v2(size_t *n, int d) { FAIL; *n = env("FAKE_MEMORY", 1 << 28); return 0; }

int cuDeviceGetName(char *s, int n, int d) {
	FAIL;
	const char *name = getenv("FAKE_NAME");
	snprintf(s, n, name ? name : "Fake GPU %d", d - 40);
	return 0;
}

int cuDeviceGetAttribute(int *v, int attribute, int d) {
	switch (attribute) {
	case -1: *v = alive + retained; return 0;
	case -2: *v = calls; return 0;
	case -3: *v = products; return 0;
	case -4: *v = (int)peak; peak = in_use; return 0;
	}
	FAIL;
	int capability = env("FAKE_CAPABILITY", 90);
	*v = attribute == 75 ? capability / 10 : attribute == 76 ? capability % 10 : attribute == 16 ? 132 : 0;
	return 0;
}

int cuDevicePrimaryCtxRetain(void **c, int d) { FAIL; retained++; *c = &retained; return 0; }
int cuDevicePrimaryCtxRelease_v2(int d) { RELEASE(retained--); }
int cuCtxPushCurrent_v2(void *c) { FAIL; if (c != &retained) return NO_CONTEXT; current++; return 0; }
int cuCtxPopCurrent_v2(void **c) { RELEASE(*c = &retained; current--); }

int cuMemGetInfo_v2(size_t *unused, size_t *total) {
	CONTEXT;
	*total = env("FAKE_MEMORY", 1 << 28);
	*unused = *total - in_use;
	return 0;
}

int cuMemAlloc_v2(uint64_t *p, size_t n) {
	CONTEXT;
	if (n == 0)
		return INVALID;
	if (in_use + n > (size_t)env("FAKE_MEMORY", 1 << 28))
		return NO_MEMORY;
	*p = (uint64_t)allocate(n, 0);
	return 0;
}

int cuMemFree_v2(uint64_t p) {
	int code = release((void *)p, 0);
	CONTEXT;
	return code;
}

int cuMemHostAlloc(void **p, size_t n, unsigned flags) {
	CONTEXT;
	if (n == 0)
		return INVALID;
	*p = allocate(n, 1);
	return 0;
}

int cuMemFreeHost(void *p) {
	int code = release(p, 1);
	CONTEXT;
	return code;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, void *stream) {
	CONTEXT;
	if (!find((void *)to, n, 0) || !find(from, n, 1))
		return INVALID;
	memcpy((void *)to, from, n);
	return 0;
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t n, void *stream) {
	CONTEXT;
	if (!find((void *)from, n, 0) || !find(to, n, 1))
		return INVALID;
	memcpy(to, (void *)from, n);
	return 0;
}

int cuStreamCreate(void **s, unsigned flags) { CONTEXT; *s = new_object(8); return 0; }
int cuStreamDestroy_v2(void *s) { RELEASE(free_object(s)); }
int cuStreamSynchronize(void *s) { CONTEXT; return 0; }
int cuEventCreate(void **e, unsigned flags) { CONTEXT; *e = new_object(sizeof(int)); return 0; }
int cuEventDestroy_v2(void *e) { RELEASE(free_object(e)); }
int cuEventRecord(void *e, void *s) { CONTEXT; *(int *)e = 1 + products; return 0; }

int cuEventElapsedTime(float *ms, void *start, void *end) { // a millisecond for each product
	CONTEXT;
	if (!*(int *)start || !*(int *)end)
		return 400;
	*ms = *(int *)end - *(int *)start;
	return 0;
}

// Numbers, as the types of matrices code them.

static double small(unsigned code, int precision, int bias, int bits) {
	int stored = precision - 1, sign = code >> (bits - 1) & 1;
	unsigned top = (1u << (bits - 1 - stored)) - 1, e = code >> stored & top, n = code & ((1u << stored) - 1);
	double v;
	if (e == 0)
		v = ldexp(n, 1 - bias - stored);
	else if (e == top && (bits > 8 || precision == 3))
		v = n ? NAN : INFINITY;
	else if (e == top && precision == 4 && n == 7)
		v = NAN;
	else
		v = ldexp(n + (1u << stored), (int)e - bias - stored);
	return sign ? -v : v;
}

static int size_of(int type) { return type == 1 ? 8 : type == 0 ? 4 : type == 2 || type == 14 ? 2 : 1; }

static double load(const void *p, size_t i, int type) {
	switch (type) {
	case 0: return ((float *)p)[i];
	case 1: return ((double *)p)[i];
	case 2: return small(((uint16_t *)p)[i], 11, 15, 16);
	case 14: return small(((uint16_t *)p)[i], 8, 127, 16);
	case 28: return small(((uint8_t *)p)[i], 4, 7, 8);
	}
	return small(((uint8_t *)p)[i], 3, 15, 8);
}

static uint16_t half(double v) { // to nearest even
	uint16_t sign = signbit(v) ? 0x8000 : 0;
	v = fabs(v);
	if (isnan(v))
		return 0x7fff;
	int e = v ? ilogb(v) : -14;
	if (e < -14)
		e = -14;
	double n = nearbyint(ldexp(v, 10 - e)); // below 2048, or 2048 exactly
	if (n >= 2048)
		n /= 2, e++;
	if (e > 15)
		return sign | 0x7c00;
	return sign + (uint16_t)(n >= 1024 ? ((e + 15) << 10) + (n - 1024) : n);
}

// grid returns v rounded by a function to p bits, in the exponents of float.
static double grid(double v, int p, double (*rounded)(double)) {
	if (v == 0 || !isfinite(v))
		return v;
	int e = ilogb(v), q = (e < -126 ? -126 : e) - (p - 1);
	return ldexp(rounded(ldexp(v, -q)), q);
}

static uint16_t bfloat(double v) { // to nearest even
	float f = grid(v, 8, nearbyint);
	uint32_t code;
	memcpy(&code, &f, 4);
	return code >> 16;
}

static void store(void *p, size_t i, int type, double v) {
	switch (type) {
	case 0: ((float *)p)[i] = (float)v; return;
	case 1: ((double *)p)[i] = v; return;
	case 2: ((uint16_t *)p)[i] = half(v); return;
	case 14: ((uint16_t *)p)[i] = bfloat(v); return;
	}
}

// A module is PTX text whose kernel the fake knows by name, or text that holds "fake ptx" and has the
// kernel "fill". The rest of the text is not read.

static const char *const kernels[] = {"fill", "mac", "fma", "mpfma"};

int cuModuleLoadData(void **m, const void *image) {
	CONTEXT;
	int kernel = strstr(image, "fake ptx") ? 0 : -1;
	for (int i = 1; i < 4 && kernel < 0; i++) {
		char entry[40];
		snprintf(entry, sizeof entry, ".entry %s(", kernels[i]);
		if (strstr(image, entry))
			kernel = i;
	}
	if (kernel < 0)
		return 218;
	*m = new_object(8);
	*(int *)*m = kernel;
	return 0;
}

int cuModuleUnload(void *m) { RELEASE(free_object(m)); }

int cuModuleGetFunction(void **f, void *m, const char *name) {
	CONTEXT;
	if (strcmp(name, kernels[*(int *)m]))
		return NOT_FOUND;
	*f = m;
	return 0;
}

// fill stores words that grow by its third argument from the second on.
static int fill(void **args, unsigned threads) {
	uint64_t *to = *(void **)args[0];
	if (!find(to, threads * 8, 0))
		return 700;
	for (unsigned i = 0; i < threads; i++)
		to[i] = *(uint64_t *)args[1] + i * *(uint32_t *)args[2];
	return 0;
}

// stream computes d = ab + c in one of three ways, on n elements or as many as there are threads.
static int stream(int kernel, void **args, unsigned threads) {
	float *d = *(void **)args[0], *c = *(void **)args[3];
	const void *a = *(void **)args[1], *b = *(void **)args[2];
	uint32_t n = *(uint32_t *)args[4];
	size_t size = kernel == 3 ? 2 : 4;
	if (!find(d, n * 4, 0) || !find(a, n * size, 0) || !find(b, n * size, 0) || !find(c, n * 4, 0))
		return 700;
	for (uint32_t i = 0; i < n && i < threads; i++) {
		float x = load(a, i, kernel == 3 ? 2 : 0), y = load(b, i, kernel == 3 ? 2 : 0);
		volatile float product = x * y; // rounded, whatever the compiler would fuse
		d[i] = kernel == 1 ? product + c[i] : fmaf(x, y, c[i]);
	}
	products++;
	return 0;
}

int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
	unsigned shared, void *s, void **args, void **extra) {
	CONTEXT;
	unsigned threads = gx * gy * gz * bx * by * bz;
	if (bx * by * bz > 1024)
		return INVALID;
	return *(int *)f ? stream(*(int *)f, args, threads) : fill(args, threads);
}

// Products. A matrix is column-major; a product is checked, then computed.

typedef struct { const void *p; int type; int64_t rows, cols, ld; int transposed; } matrix;

static int check(matrix m) {
	if (m.rows < 1 || m.cols < 1 || m.ld < m.rows)
		return BLAS_INVALID;
	size_t n = ((m.cols - 1) * m.ld + m.rows) * size_of(m.type);
	if (!find(m.p, n, 0) || (uintptr_t)m.p % 16)
		return BLAS_EXECUTION;
	return 0;
}

static double at(matrix m, int64_t i, int64_t j) {
	return m.transposed ? load(m.p, j + i * m.ld, m.type) : load(m.p, i + j * m.ld, m.type);
}

// supported tells whether factors, result and arithmetic go together, from the tables of the
// documentation.
static int supported(int a, int b, int d, int compute) {
	int eight = (a == 28 || a == 29) && (b == 28 || b == 29) && !(a == 29 && b == 29);
	if (a != b && !eight)
		return 0;
	switch (compute) {
	case 64: return a == 2 && d == 2;
	case 68: return (a == 2 && (d == 2 || d == 0)) || (a == 14 && (d == 14 || d == 0)) || (a == 0 && d == 0) ||
		(eight && (d == 0 || d == 2));
	case 70: return a == 1 && d == 1;
	case 77: return a == 0 && d == 0;
	}
	return 0;
}

// The sums of cublasLt by FAKE_SUM.

typedef struct { uint32_t id, tile, splitk, reduction, swizzle, custom, stages; uint16_t inner, cluster; } algo;

// exponent returns the exponent of a term: least if it is subnormal, and that of no number if it is 0.
static int exponent(double v, int least) {
	if (v == 0)
		return -1000;
	int e = ilogb(v);
	return e < least ? least : e;
}

// tensor adds n products to c as one instruction of Hopper does: terms are cut off where so many bits below the
// greatest exponent end, and so is the sum, to precision bits.
static float tensor(float c, const double *x, const double *y, int64_t n, int least, int bits, int precision) {
	int top = exponent(c, -126);
	for (int64_t i = 0; i < n; i++) {
		int e = exponent(x[i], least) + exponent(y[i], least);
		if (x[i] != 0 && y[i] != 0 && e > top)
			top = e;
	}
	if (top < -133)
		top = -133; // that of a zero
	double s = trunc(ldexp(c, bits - top));
	for (int64_t i = 0; i < n; i++)
		s += trunc(ldexp(x[i] * y[i], bits - top));
	return grid(ldexp(s, top - bits), precision, trunc);
}

static float chain(const double *x, const double *y, int64_t n, int type) {
	int width = type == 28 ? 32 : 16, least = type == 28 ? -6 : type == 2 ? -14 : -126;
	float c = 0;
	for (int64_t i = 0; i < n; i += width)
		c = tensor(c, x + i, y + i, n - i < width ? n - i : width, least, type == 28 ? 13 : 25, type == 28 ? 14 : 24);
	return c;
}

// hopper sums slices of K, and in each of them chains, from left to right.
static float hopper(const double *x, const double *y, int64_t k, int type, const algo *by) {
	int64_t block = by->stages == 36 ? 128 : 64, blocks = (k + block - 1) / block, parts = by->splitk > 1 ? by->splitk : 1;
	int64_t slice = env("FAKE_SLICE", parts == 1 ? k : block * ((blocks + parts - 1) / parts));
	float sum = 0;
	k -= env("FAKE_LOSE", 0);
	for (int64_t i = 0; i < k; i += slice) {
		int64_t n = k - i < slice ? k - i : slice, length = block == 128 ? block : n;
		float part = 0;
		for (int64_t j = 0; j < n; j += length) {
			float c = chain(x + i + j, y + i + j, n - j < length ? n - j : length, type);
			part = j ? part + c : c;
		}
		sum = i ? sum + part : part;
	}
	return sum;
}

static double summed(const double *x, const double *y, int64_t k, int type, const algo *by) {
	const char *how = getenv("FAKE_SUM");
	if (how && by && type > 1 && !strcmp(how, "hopper"))
		return hopper(x, y, k, type, by);
	if (how && by && type > 1 && !strcmp(how, "fma")) {
		float s = 0;
		for (int64_t i = 0; i < k; i++)
			s = fmaf(x[i], y[i], s);
		return s;
	}
	double s = 0;
	for (int64_t i = 0; i < k; i++)
		s += x[i] * y[i];
	return s;
}

static int multiply(matrix a, matrix b, matrix d, int compute, const void *alpha, const void *beta, int64_t k, const algo *by) {
	int scale = compute == 64 ? 2 : compute == 70 ? 1 : 0, code;
	if ((code = check(a)) || (code = check(b)) || (code = check(d)))
		return code;
	double x = load(alpha, 0, scale), y = load(beta, 0, scale);
	double *row = malloc(k * sizeof *row), *columns = malloc(d.cols * k * sizeof *columns);
	for (int64_t j = 0; j < d.cols; j++)
		for (int64_t l = 0; l < k; l++)
			columns[j * k + l] = at(b, l, j);
	for (int64_t i = 0; i < d.rows; i++) {
		for (int64_t l = 0; l < k; l++)
			row[l] = at(a, i, l);
		for (int64_t j = 0; j < d.cols; j++) {
			double s = summed(row, columns + j * k, k, a.type, by);
			s *= x;
			if (y != 0)
				s += y * at(d, i, j);
			store((void *)d.p, i + j * d.ld, d.type, s);
		}
	}
	free(columns);
	free(row);
	products++;
	return 0;
}

// cuBLAS.

typedef struct { void *workspace; size_t n; } blas;

int cublasCreate_v2(void **h) { CONTEXT; *h = new_object(sizeof(blas)); return 0; }
int cublasDestroy_v2(void *h) { RELEASE(free_object(h)); }
int cublasGetVersion_v2(void *h, int *v) { FAIL; *v = 120803; return 0; }
int cublasSetStream_v2(void *h, void *s) { FAIL; return 0; }

int cublasSetWorkspace_v2(void *h, void *p, size_t n) {
	FAIL;
	return find(p, n, 0) ? 0 : BLAS_INVALID;
}

#ifndef FAKE_WITHOUT_cublasGetStatusString
const char *cublasGetStatusString(int code) { return code == BLAS_UNSUPPORTED ? "not supported" : "fake status"; }
#endif

#ifndef FAKE_WITHOUT_cublasGemmEx
int cublasGemmEx(void *h, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int atype, int lda,
	const void *b, int btype, int ldb, const void *beta, void *c, int ctype, int ldc, int compute, int algo) {
	CONTEXT;
	if (algo != -1 && algo != 99)
		return BLAS_INVALID;
	if (!supported(atype, btype, ctype, compute) || size_of(atype) == 1)
		return BLAS_UNSUPPORTED;
	matrix x = {a, atype, ta ? k : m, ta ? m : k, lda, ta}, y = {b, btype, tb ? n : k, tb ? k : n, ldb, tb};
	matrix z = {c, ctype, m, n, ldc, 0};
	return multiply(x, y, z, compute, alpha, beta, k, NULL);
}
#endif

// cuBLASLt.

typedef struct { int compute, scale, ta, tb, fast; } desc;
typedef struct { int type; int64_t rows, cols, ld; int by_rows; } layout;
typedef struct { uint64_t data[8]; size_t workspace; int state; float waves; int reserved[4]; } result;

int cublasLtCreate(void **h) { CONTEXT; *h = new_object(8); return 0; }
int cublasLtDestroy(void *h) { RELEASE(free_object(h)); }
size_t cublasLtGetVersion(void) { return env("FAKE_VERSION", 120803); }

int cublasLtMatmulDescCreate(void **d, int compute, int scale) {
	FAIL;
	desc *p = *d = new_object(sizeof *p);
	p->compute = compute;
	p->scale = scale;
	return 0;
}

int cublasLtMatmulDescDestroy(void *d) { RELEASE(free_object(d)); }

int cublasLtMatmulDescSetAttribute(void *d, int attribute, const void *v, size_t n) {
	FAIL;
	desc *p = d;
	if (attribute == 25 ? n != 1 : n != 4)
		return BLAS_INVALID;
	switch (attribute) {
	case 3: p->ta = *(int *)v; return 0;
	case 4: p->tb = *(int *)v; return 0;
	case 25: p->fast = *(char *)v; return 0;
	}
	return BLAS_INVALID;
}

int cublasLtMatrixLayoutCreate(void **l, int type, uint64_t rows, uint64_t cols, int64_t ld) {
	FAIL;
	layout *p = *l = new_object(sizeof *p);
	*p = (layout){type, rows, cols, ld, 0};
	return 0;
}

int cublasLtMatrixLayoutSetAttribute(void *l, int attribute, const void *v, size_t n) {
	FAIL;
	layout *p = l;
	if (attribute != 1 || n != 4 || *(int *)v != 1)
		return BLAS_INVALID;
	p->by_rows = 1;
	return 0;
}

int cublasLtMatrixLayoutDestroy(void *l) { RELEASE(free_object(l)); }
int cublasLtMatmulPreferenceCreate(void **p) { FAIL; *p = new_object(sizeof(size_t)); return 0; }
int cublasLtMatmulPreferenceDestroy(void *p) { RELEASE(free_object(p)); }

int cublasLtMatmulPreferenceSetAttribute(void *p, int attribute, const void *v, size_t n) {
	FAIL;
	if (attribute != 1 || n != sizeof(size_t))
		return BLAS_INVALID;
	*(size_t *)p = *(size_t *)v;
	return 0;
}

// fit tells whether the descriptors make a product that is supported.
static int fit(desc *p, layout *a, layout *b, layout *d) {
	int64_t m = p->ta ? a->cols : a->rows, k = p->ta ? a->rows : a->cols;
	int64_t k2 = p->tb ? b->cols : b->rows, n = p->tb ? b->rows : b->cols;
	if (k != k2 || d->rows != m || d->cols != n)
		return BLAS_INVALID;
	int scale = p->compute == 64 ? 2 : p->compute == 70 ? 1 : 0;
	if (p->scale != scale || !supported(a->type, b->type, d->type, p->compute))
		return BLAS_UNSUPPORTED;
	if (size_of(a->type) == 1 && (!p->ta || p->tb || m % 16 || n % 16 || k % 16 || a->ld % 16 || b->ld % 16 || a->by_rows || b->by_rows))
		return BLAS_UNSUPPORTED; // 8-bit factors: A transposed and B not, and multiples of 16
	return 0;
}

static size_t need(const algo *a) { return a->splitk > 1 ? 1024 * a->splitk : 0; }

int cublasLtMatmulAlgoGetHeuristic(void *h, void *p, void *a, void *b, void *c, void *d, void *pref, int want,
	result *r, int *got) {
	FAIL;
	int code = fit(p, a, b, d);
	if (code)
		return code;
	*got = 0;
	if (env("FAKE_NO_ALGORITHM", 0))
		return BLAS_UNSUPPORTED;
	const char *told = getenv("FAKE_ALGORITHMS");
	for (int i = 0; (told ? *told : i < 3) && i < want; i++) {
		algo x = {66 + i, 20, i == 0 ? env("FAKE_SPLITK", 1) : 1 + i, 0, 0, 0, 36, 0, 3};
		x.reduction = x.splitk > 1 ? 2 : 0;
		if (told) {
			long v[9] = {0};
			char *end = (char *)told;
			for (int j = 0; j < 9 && *end && *end != ';'; j++) {
				v[j] = strtol(end, &end, 10);
				end += *end == ',';
			}
			told = end + (*end == ';');
			x = (algo){v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]};
		}
		memset(&r[*got], 0, sizeof *r);
		memcpy(r[*got].data, &x, sizeof x);
		r[*got].workspace = need(&x);
		r[*got].waves = 0.5;
		r[*got].state = i == 0 ? env("FAKE_STATE", 0) : 0;
		if (need(&x) <= *(size_t *)pref)
			++*got;
	}
	return 0;
}

static void *field(algo *a, int attribute, size_t *n) {
	void *fields[] = {&a->id, &a->tile, &a->splitk, &a->reduction, &a->swizzle, &a->custom, &a->stages, &a->inner, &a->cluster};
	*n = attribute >= 7 ? 2 : 4;
	if (attribute < 0 || attribute > 8 || (attribute >= 7 && env("FAKE_OLD", 0)))
		return NULL;
	return fields[attribute];
}

int cublasLtMatmulAlgoConfigGetAttribute(const void *a, int attribute, void *v, size_t n, size_t *written) {
	FAIL;
	size_t size;
	void *f = field((algo *)a, attribute, &size);
	if (!f || n != size)
		return BLAS_INVALID;
	memcpy(v, f, *written = n);
	return 0;
}

int cublasLtMatmulAlgoConfigSetAttribute(void *a, int attribute, const void *v, size_t n) {
	FAIL;
	size_t size;
	void *f = field(a, attribute, &size);
	if (!f || n != size)
		return BLAS_INVALID;
	memcpy(f, v, n);
	return 0;
}

int cublasLtMatmulAlgoCheck(void *h, void *p, void *a, void *b, void *c, void *d, const void *x, result *r) {
	FAIL;
	int code = fit(p, a, b, d);
	const algo *y = x;
	if (code)
		return code;
	if (!getenv("FAKE_ALGORITHMS") && (y->id < 66 || y->splitk > 8 || (y->splitk > 1) != (y->reduction > 0)))
		return BLAS_UNSUPPORTED;
	memset(r, 0, sizeof *r);
	memcpy(r->data, x, sizeof *y);
	r->workspace = need(y);
	return 0;
}

// stored returns op of a matrix, column-major: a row-major one is its transpose.
static matrix stored(const void *p, layout *l, int transposed) {
	if (l->by_rows)
		return (matrix){p, l->type, l->cols, l->rows, l->ld, !transposed};
	return (matrix){p, l->type, l->rows, l->cols, l->ld, transposed};
}

int cublasLtMatmul(void *h, void *p, const void *alpha, const void *a, void *al, const void *b, void *bl,
	const void *beta, const void *c, void *cl, void *d, void *dl, const void *x, void *workspace, size_t n, void *s) {
	CONTEXT;
	desc *o = p;
	layout *la = al, *lb = bl, *ld = dl;
	int code = fit(o, la, lb, ld);
	if (code)
		return code;
	if (c != d || cl != dl || (need(x) && (n < need(x) || !find(workspace, n, 0))))
		return BLAS_INVALID;
	matrix ma = stored(a, la, o->ta), mb = stored(b, lb, o->tb), md = stored(d, ld, 0);
	if (md.transposed) { // D = AB by rows is its transpose by columns
		matrix at = ma;
		ma = mb, mb = at;
		ma.transposed ^= 1, mb.transposed ^= 1, md.transposed = 0;
	}
	return multiply(ma, mb, md, o->compute, alpha, beta, o->ta ? la->rows : la->cols, x);
}

// NVRTC: a source that holds "error" does not compile.

typedef struct { char *source, *text; } program;

const char *nvrtcGetErrorString(int code) { return code == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_FAKE"; }
int nvrtcVersion(int *major, int *minor) { FAIL; *major = 12; *minor = 8; return 0; }

int nvrtcCreateProgram(void **p, const char *source, const char *name, int n, const char *const *t, const char *const *i) {
	FAIL;
	program *q = *p = new_object(sizeof *q);
	q->source = strdup(source);
	return 0;
}

int nvrtcDestroyProgram(void **p) {
	program *q = *p;
	free(q->source);
	free(q->text);
	RELEASE(free_object(q); *p = NULL);
}

int nvrtcCompileProgram(void *p, int n, const char *const *options) {
	FAIL;
	program *q = p;
	int bad = strstr(q->source, "error") != NULL;
	q->text = malloc(1000);
	snprintf(q->text, 1000, bad ? "line 1: it says error" : "fake ptx, %d options, %s", n, n ? options[n - 1] : "");
	return bad ? 6 : 0;
}

static int text_size(program *p, size_t *n) { *n = p->text ? strlen(p->text) + 1 : 1; return 0; }
static int text(program *p, char *s) { strcpy(s, p->text ? p->text : ""); return 0; }
int nvrtcGetProgramLogSize(void *p, size_t *n) { FAIL; return text_size(p, n); }
int nvrtcGetProgramLog(void *p, char *s) { FAIL; return text(p, s); }
int nvrtcGetPTXSize(void *p, size_t *n) { FAIL; return text_size(p, n); }
int nvrtcGetPTX(void *p, char *s) { FAIL; return text(p, s); }
