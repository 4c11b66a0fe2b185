//go:build cgo && linux

// The functions of libcuda, libcublas, libcublasLt and libnvrtc that are called, declared by hand
// from the vendor's public documentation. A handle is a void *, an enumeration an int, and an address
// in device memory a uint64_t.

#ifndef ROUNDOFF_CUDA_API_H
#define ROUNDOFF_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

enum { lib_cuda, lib_cublas, lib_cublasLt, lib_nvrtc, lib_count };

// An algorithm of cublasLt is opaque. The heuristic returns it with its
// workspace, state and number of waves.
typedef struct { uint64_t data[8]; } lt_algo;
typedef struct { lt_algo algo; size_t workspace; int state; float waves; int reserved[4]; } lt_result;

// F(library, result, name, parameters, arguments) declares a required function,
// O an optional one.
#define FUNCTIONS(F, O) \
	F(lib_cuda, int, cuInit, (unsigned flags), (flags)) \
	F(lib_cuda, int, cuDriverGetVersion, (int *version), (version)) \
	F(lib_cuda, int, cuDeviceGetCount, (int *count), (count)) \
	F(lib_cuda, int, cuDeviceGet, (int *device, int ordinal), (device, ordinal)) \
	F(lib_cuda, int, cuDeviceGetName, (char *name, int len, int device), (name, len, device)) \
	F(lib_cuda, int, cuDeviceGetAttribute, (int *value, int attribute, int device), (value, attribute, device)) \
	F(lib_cuda, int, cuDeviceTotalMem_v2, (size_t *bytes, int device), (bytes, device)) \
	F(lib_cuda, int, cuDevicePrimaryCtxRetain, (void **context, int device), (context, device)) \
	F(lib_cuda, int, cuDevicePrimaryCtxRelease_v2, (int device), (device)) \
	F(lib_cuda, int, cuCtxPushCurrent_v2, (void *context), (context)) \
	F(lib_cuda, int, cuCtxPopCurrent_v2, (void **context), (context)) \
	F(lib_cuda, int, cuMemGetInfo_v2, (size_t *free, size_t *total), (free, total)) \
	F(lib_cuda, int, cuMemAlloc_v2, (uint64_t *p, size_t n), (p, n)) \
	F(lib_cuda, int, cuMemFree_v2, (uint64_t p), (p)) \
	F(lib_cuda, int, cuMemHostAlloc, (void **p, size_t n, unsigned flags), (p, n, flags)) \
	F(lib_cuda, int, cuMemFreeHost, (void *p), (p)) \
	F(lib_cuda, int, cuMemcpyHtoDAsync_v2, (uint64_t to, const void *from, size_t n, void *stream), (to, from, n, stream)) \
	F(lib_cuda, int, cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t n, void *stream), (to, from, n, stream)) \
	F(lib_cuda, int, cuStreamCreate, (void **stream, unsigned flags), (stream, flags)) \
	F(lib_cuda, int, cuStreamDestroy_v2, (void *stream), (stream)) \
	F(lib_cuda, int, cuStreamSynchronize, (void *stream), (stream)) \
	F(lib_cuda, int, cuEventCreate, (void **event, unsigned flags), (event, flags)) \
	F(lib_cuda, int, cuEventDestroy_v2, (void *event), (event)) \
	F(lib_cuda, int, cuEventRecord, (void *event, void *stream), (event, stream)) \
	F(lib_cuda, int, cuEventElapsedTime, (float *ms, void *start, void *end), (ms, start, end)) \
	F(lib_cuda, int, cuModuleLoadData, (void **module, const void *image), (module, image)) \
	F(lib_cuda, int, cuModuleUnload, (void *module), (module)) \
	F(lib_cuda, int, cuModuleGetFunction, (void **function, void *module, const char *name), (function, module, name)) \
	F(lib_cuda, int, cuLaunchKernel, (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, \
		unsigned bz, unsigned shared, void *stream, void **params, void **extra), \
		(function, gx, gy, gz, bx, by, bz, shared, stream, params, extra)) \
	F(lib_cuda, int, cuGetErrorName, (int code, const char **text), (code, text)) \
	F(lib_cuda, int, cuGetErrorString, (int code, const char **text), (code, text)) \
	F(lib_cublas, int, cublasCreate_v2, (void **handle), (handle)) \
	F(lib_cublas, int, cublasDestroy_v2, (void *handle), (handle)) \
	F(lib_cublas, int, cublasGetVersion_v2, (void *handle, int *version), (handle, version)) \
	F(lib_cublas, int, cublasSetStream_v2, (void *handle, void *stream), (handle, stream)) \
	F(lib_cublas, int, cublasSetWorkspace_v2, (void *handle, void *workspace, size_t n), (handle, workspace, n)) \
	F(lib_cublas, int, cublasGemmEx, (void *handle, int ta, int tb, int m, int n, int k, const void *alpha, \
		const void *a, int atype, int lda, const void *b, int btype, int ldb, const void *beta, \
		void *c, int ctype, int ldc, int compute, int algo), \
		(handle, ta, tb, m, n, k, alpha, a, atype, lda, b, btype, ldb, beta, c, ctype, ldc, compute, algo)) \
	O(lib_cublas, const char *, cublasGetStatusString, (int code), (code)) \
	F(lib_cublasLt, int, cublasLtCreate, (void **handle), (handle)) \
	F(lib_cublasLt, int, cublasLtDestroy, (void *handle), (handle)) \
	F(lib_cublasLt, size_t, cublasLtGetVersion, (void), ()) \
	F(lib_cublasLt, int, cublasLtMatmulDescCreate, (void **desc, int compute, int scale), (desc, compute, scale)) \
	F(lib_cublasLt, int, cublasLtMatmulDescDestroy, (void *desc), (desc)) \
	F(lib_cublasLt, int, cublasLtMatmulDescSetAttribute, (void *desc, int attr, const void *value, size_t n), (desc, attr, value, n)) \
	F(lib_cublasLt, int, cublasLtMatrixLayoutCreate, (void **layout, int type, uint64_t rows, uint64_t cols, int64_t ld), \
		(layout, type, rows, cols, ld)) \
	F(lib_cublasLt, int, cublasLtMatrixLayoutSetAttribute, (void *layout, int attr, const void *value, size_t n), \
		(layout, attr, value, n)) \
	F(lib_cublasLt, int, cublasLtMatrixLayoutDestroy, (void *layout), (layout)) \
	F(lib_cublasLt, int, cublasLtMatmulPreferenceCreate, (void **pref), (pref)) \
	F(lib_cublasLt, int, cublasLtMatmulPreferenceDestroy, (void *pref), (pref)) \
	F(lib_cublasLt, int, cublasLtMatmulPreferenceSetAttribute, (void *pref, int attr, const void *value, size_t n), \
		(pref, attr, value, n)) \
	F(lib_cublasLt, int, cublasLtMatmulAlgoGetHeuristic, (void *handle, void *desc, void *a, void *b, void *c, void *d, \
		void *pref, int want, lt_result *results, int *got), (handle, desc, a, b, c, d, pref, want, results, got)) \
	F(lib_cublasLt, int, cublasLtMatmulAlgoConfigGetAttribute, (const lt_algo *algo, int attr, void *value, size_t n, \
		size_t *written), (algo, attr, value, n, written)) \
	F(lib_cublasLt, int, cublasLtMatmulAlgoConfigSetAttribute, (lt_algo *algo, int attr, const void *value, size_t n), \
		(algo, attr, value, n)) \
	F(lib_cublasLt, int, cublasLtMatmulAlgoCheck, (void *handle, void *desc, void *a, void *b, void *c, void *d, \
		const lt_algo *algo, lt_result *result), (handle, desc, a, b, c, d, algo, result)) \
	F(lib_cublasLt, int, cublasLtMatmul, (void *handle, void *desc, const void *alpha, const void *a, void *adesc, \
		const void *b, void *bdesc, const void *beta, const void *c, void *cdesc, void *d, void *ddesc, \
		const lt_algo *algo, void *workspace, size_t n, void *stream), \
		(handle, desc, alpha, a, adesc, b, bdesc, beta, c, cdesc, d, ddesc, algo, workspace, n, stream)) \
	F(lib_nvrtc, int, nvrtcVersion, (int *major, int *minor), (major, minor)) \
	F(lib_nvrtc, int, nvrtcCreateProgram, (void **program, const char *source, const char *name, int headers, \
		const char *const *texts, const char *const *names), (program, source, name, headers, texts, names)) \
	F(lib_nvrtc, int, nvrtcDestroyProgram, (void **program), (program)) \
	F(lib_nvrtc, int, nvrtcCompileProgram, (void *program, int n, const char *const *options), (program, n, options)) \
	F(lib_nvrtc, int, nvrtcGetProgramLogSize, (void *program, size_t *n), (program, n)) \
	F(lib_nvrtc, int, nvrtcGetProgramLog, (void *program, char *log), (program, log)) \
	F(lib_nvrtc, int, nvrtcGetPTXSize, (void *program, size_t *n), (program, n)) \
	F(lib_nvrtc, int, nvrtcGetPTX, (void *program, char *ptx), (program, ptx)) \
	F(lib_nvrtc, const char *, nvrtcGetErrorString, (int code), (code))

// For every function there is a function call_NAME, which calls the function
// that ro_open found.
#define DECLARE(library, result, name, parameters, arguments) result call_##name parameters;
FUNCTIONS(DECLARE, DECLARE)
#undef DECLARE

// ro_open opens a library and finds its functions. It returns 1, or 0 with the
// reason in wrong; then no function is changed. The reason is that of dlerror,
// which has to be called on the thread of dlopen.
int ro_open(int library, const char *path, char *wrong, size_t n);

// ro_opening adds more to the number of threads that are opening a library or a
// device; more is -1 when one has finished. While the number is positive, a
// library that ends the program ends it with a message and status 1.
void ro_opening(int more);

#endif
