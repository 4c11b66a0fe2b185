// Package cuda calls the NVIDIA driver, cuBLAS, cuBLASLt and NVRTC. No part of
// them is needed to build it: their prototypes are declared by hand in api.h,
// and the libraries are opened at first use. It is the only package of this
// module that uses cgo. Without cgo, and on systems other than Linux, [Open]
// returns [ErrNoGPU]; the rest of the module does not change.
//
// # Where libraries are searched for
//
// Libraries are searched for in this order, and in every folder with the newest
// version first:
//
//  1. the folders in the environment variable ROUNDOFF_CUDA_PATH, separated by
//     colons;
//  2. where the loader looks (LD_LIBRARY_PATH, the cache of ldconfig);
//  3. lib64 and lib of CUDA_HOME and CUDA_PATH;
//  4. the usual folders, such as /usr/local/cuda/lib64;
//  5. the folders of Python wheels, site-packages/nvidia/*/lib of VIRTUAL_ENV
//     and CONDA_PREFIX.
//
// A library of a later major version of CUDA than the driver supports is
// skipped.
//
// # Threads
//
// A context is current to a thread. [Device.Do] locks a goroutine to its thread
// and makes the context current. All calls that use device memory, streams,
// events, modules or cuBLAS are made inside it.
//
// # What is tested
//
// The tests run on a fake of the libraries in testdata, which computes on the
// processor and checks contexts, bounds and leaks. This code has not yet run on
// a GPU.
package cuda
