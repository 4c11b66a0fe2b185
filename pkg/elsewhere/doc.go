// Package elsewhere puts claims that others published on low-precision products
// to the emulator: how many bits the accumulators of tensor cores keep, what a
// sum of 8-bit products loses with them, what repairs it, and what scales of
// microscaling formats do to data.
//
// A [Claim] is a statement in our own words, with who said it and where, the
// data on which it was tried here, the numbers that came out, and whether it
// holds:
//
//	claims, err := elsewhere.Catalogued().Claims()
//	elsewhere.Table("elsewhere", claims)
//	elsewhere.Write(dir, claims)          // claims-elsewhere.json
//
// The claims are put to an [Emulation], records of devices and recipes. With
// another record, of a chip that keeps more bits, verdicts change.
//
// Seeds are fixed, and the data of a claim names them.
package elsewhere
