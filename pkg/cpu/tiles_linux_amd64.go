package cpu

import (
	"fmt"
	"sync"
	"syscall"
)

// requestTiles asks the kernel, once, to let this process use tiles, which
// holds for all of its threads. It returns why the kernel refuses, or "".
var requestTiles = sync.OnceValue(func() string {
	const requestPermission, tileData = 0x1023, 18 // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
	if _, _, errno := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, requestPermission, tileData, 0); errno != 0 {
		return fmt.Sprintf("the kernel lets no process use tiles (%v)", errno)
	}
	return ""
})
