package devices

import "github.com/roundofflab/roundoff/pkg/tcore"

// The instructions of Intel processors that compute dot products (Intel 2024),
// of the architecture that had them first. Those of Sapphire Rapids were
// compared with such a processor; that of Granite Rapids was not.

// AMXBF16 returns TDPBF16PS, of the matrix unit AMX: factors in bfloat16, sums
// in binary32. A block is one instruction on tiles of full depth, 16 pairs.
func AMXBF16() tcore.Device {
	return intel("Sapphire Rapids", "tdpbf16ps", tcore.BFloat16, tcore.BFloat16, tcore.Binary32, tcore.EvenOdd{Terms: 32})
}

// AMXF16 returns TDPFP16PS, of the matrix unit AMX: factors in binary16, sums
// in binary32. It differs from [AMXBF16] in the format of the factors alone,
// whose subnormal numbers are normal numbers of binary32 and so are not
// flushed. It follows the text of the manual and has not been compared with a
// processor.
func AMXF16() tcore.Device {
	return intel("Granite Rapids", "tdpfp16ps", tcore.Binary16, tcore.Binary16, tcore.Binary32, tcore.EvenOdd{Terms: 32})
}

// AVX512BF16 returns VDPBF16PS, a vector instruction: factors in bfloat16, sums
// in binary32.
func AVX512BF16() tcore.Device {
	return intel("Sapphire Rapids", "vdpbf16ps", tcore.BFloat16, tcore.BFloat16, tcore.Binary32, tcore.OddFirst{})
}

// AVX512F16 returns VFMADD231PH, the FMA of vectors of AVX512-FP16: factors and
// sums in binary16, subnormal numbers kept whatever the control register says.
func AVX512F16() tcore.Device {
	return intel("Sapphire Rapids", "vfmadd231ph", tcore.Binary16, tcore.Binary16, tcore.Binary16, tcore.Chain{NaN: tcore.FirstOfXYC})
}

// AMXINT8 returns TDPBSSD, of the matrix unit AMX: factors in int8, sums in
// int32. A block is one instruction on tiles of full depth, 16 times 4
// products.
func AMXINT8() tcore.Device { return integers("tdpbssd", tcore.INT8, tcore.INT8) }

// AMXINT8UINT8 returns TDPBSUD: factors in int8 and uint8.
func AMXINT8UINT8() tcore.Device { return integers("tdpbsud", tcore.INT8, tcore.UINT8) }

// AMXUINT8INT8 returns TDPBUSD: factors in uint8 and int8.
func AMXUINT8INT8() tcore.Device { return integers("tdpbusd", tcore.UINT8, tcore.INT8) }

// AMXUINT8 returns TDPBUUD: factors in uint8.
func AMXUINT8() tcore.Device { return integers("tdpbuud", tcore.UINT8, tcore.UINT8) }

// integers returns the record of an instruction of integers of 8 bits.
func integers(instruction string, a, b tcore.Format) tcore.Device {
	return intel("Sapphire Rapids", instruction, a, b, tcore.INT32, tcore.WrappedSum{Terms: 64})
}

// intel returns the record of an instruction.
func intel(architecture, instruction string, a, b, c tcore.Format, core tcore.Core) tcore.Device {
	return tcore.Device{
		Name:         deviceName(architecture, instruction, a.Name, c.Name),
		Architecture: architecture,
		Instruction:  instruction,
		A:            a, B: b, C: c,
		Core: core,
	}
}
