//go:build !amd64

package tcore

func stageKernelFor(core TwoStage) (k stageKernel, ok bool) { return k, false }
