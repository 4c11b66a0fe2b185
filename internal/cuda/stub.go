//go:build !cgo || !linux

package cuda

import (
	"fmt"
	"time"
)

// This file replaces the package if there is no cgo or the system is not Linux.
// Open fails, so that no other function is ever called.

var errBuild = fmt.Errorf("%w: this build has no cgo, or is not for Linux", ErrNoGPU)

// A Device is a GPU with its primary context.
type Device struct{}

// BLAS stands for the handles of cuBLAS and cuBLASLt on a device.
type BLAS struct{}

// Open returns an error that wraps [ErrNoGPU].
func Open(int) (*Device, error) { return nil, errBuild }

func (*Device) Close() error                                                   { return errBuild }
func (*Device) Do(func() error) error                                          { return errBuild }
func (*Device) Attribute(int) (int, error)                                     { return 0, errBuild }
func (*Device) Info() (Info, error)                                            { return Info{}, errBuild }
func (*Device) MemInfo() (free, total int, err error)                          { return 0, 0, errBuild }
func (*Device) Alloc(int) (Ptr, error)                                         { return 0, errBuild }
func (*Device) Free(Ptr) error                                                 { return errBuild }
func (*Device) HostAlloc(int) ([]byte, error)                                  { return nil, errBuild }
func (*Device) HostFree([]byte) error                                          { return errBuild }
func (*Device) ToDevice(Ptr, []byte, Stream) error                             { return errBuild }
func (*Device) ToHost([]byte, Ptr, Stream) error                               { return errBuild }
func (*Device) NewStream() (Stream, error)                                     { return Stream{}, errBuild }
func (*Device) NewEvent() (Event, error)                                       { return Event{}, errBuild }
func (*Device) LoadModule([]byte) (Module, error)                              { return Module{}, errBuild }
func (*Device) Launch(Function, [3]int, [3]int, int, Stream, ...any) error     { return errBuild }
func (*Device) NewBLAS() (*BLAS, error)                                        { return nil, errBuild }
func (Stream) Sync() error                                                     { return errBuild }
func (Stream) Destroy() error                                                  { return errBuild }
func (Event) Record(Stream) error                                              { return errBuild }
func (Event) Since(Event) (time.Duration, error)                               { return 0, errBuild }
func (Event) Destroy() error                                                   { return errBuild }
func (Module) Function(string) (Function, error)                               { return Function{}, errBuild }
func (Module) Unload() error                                                   { return errBuild }
func (*BLAS) Destroy() error                                                   { return errBuild }
func (*BLAS) GemmEx(Product, Ptr, Ptr, Ptr, Ptr, int, Stream) error            { return errBuild }
func (*BLAS) Algorithms(Product, int, int) ([]Algorithm, error)                { return nil, errBuild }
func (*BLAS) Split(Product, Algorithm, int) (Algorithm, error)                 { return Algorithm{}, errBuild }
func (*BLAS) Check(Product, Algorithm) (Algorithm, error)                      { return Algorithm{}, errBuild }
func (*BLAS) Matmul(Product, Ptr, Ptr, Ptr, Algorithm, Ptr, int, Stream) error { return errBuild }

// Compile returns an error that wraps [ErrNoGPU].
func Compile(string, string, ...string) ([]byte, error) { return nil, errBuild }
