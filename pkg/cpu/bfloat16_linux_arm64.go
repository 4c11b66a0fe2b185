package cpu

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// bfloat16Missing returns why BFDOT cannot be used, or "".
func bfloat16Missing() string {
	const hwcap2, bfloat16 = 26, 1 << 14 // AT_HWCAP2, HWCAP2_BF16
	values, err := unix.Auxv()
	if err != nil {
		return fmt.Sprintf("the system does not tell what the processor has (%v)", err)
	}
	for _, v := range values {
		if v[0] == hwcap2 && v[1]&bfloat16 != 0 {
			return ""
		}
	}
	return "this processor has no FEAT_BF16"
}
