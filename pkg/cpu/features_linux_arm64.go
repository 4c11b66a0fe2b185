package cpu

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// missing returns why instructions that need a feature cannot be used, or "".
func (f feature) missing() string {
	const hwcap, hwcap2, cpuid = 16, 26, 1 << 11 // AT_HWCAP, AT_HWCAP2, HWCAP_CPUID
	values, err := unix.Auxv()
	if err != nil {
		return fmt.Sprintf("the system does not tell what the processor has (%v)", err)
	}
	var has, registers bool
	for _, v := range values {
		switch v[0] {
		case hwcap:
			registers = v[1]&cpuid != 0
		case hwcap2:
			has = uint64(v[1])&f.bits == f.bits
		}
	}
	if !has || f.extended && (!registers || bfloat16Level() < 2) {
		return "this processor has no " + f.name
	}
	return ""
}
