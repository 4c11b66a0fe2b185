// Package cuda calls the NVIDIA driver, cuBLAS, cuBLASLt and NVRTC. Nothing of
// theirs is needed to build it: prototypes are declared by hand in api.h, and
// the libraries are opened at first use. It is the only package of this module
// that uses cgo; without cgo, and elsewhere than on Linux, [Open] returns
// [ErrNoGPU] and nothing else changes.
//
// # Where libraries are looked for
//
// In this order, and in every folder with the newest version first:
//
//  1. the folders in the environment variable ROUNDOFF_CUDA_PATH, separated by
//     colons;
//  2. where the loader looks (LD_LIBRARY_PATH, the cache of ldconfig);
//  3. lib64 and lib of CUDA_HOME and CUDA_PATH;
//  4. the usual folders, such as /usr/local/cuda/lib64;
//  5. the folders of Python wheels, site-packages/nvidia/*/lib of VIRTUAL_ENV
//     and CONDA_PREFIX.
//
// A library for a later CUDA than the driver supports is passed over.
//
// # Threads
//
// A context is current to a thread. [Device.Do] locks a goroutine to its thread
// and makes the context current; whatever uses device memory, streams, events,
// modules or cuBLAS is called inside it.
//
// # What is tested
//
// The tests run against a fake of the libraries in testdata, which computes on
// the processor and checks contexts, bounds and leaks. No silicon has been seen
// by this code yet.
package cuda
