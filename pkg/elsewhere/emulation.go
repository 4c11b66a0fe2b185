package elsewhere

import (
	"fmt"

	"github.com/roundofflab/roundoff/internal/progress"
	"github.com/roundofflab/roundoff/pkg/quant"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// An Emulation contains the devices and recipes to which the claims are put.
// The devices multiply numbers in e4m3.
type Emulation struct {
	Hopper    tcore.Device // wgmma, which libraries use
	HopperMMA tcore.Device // mma, which compilers make of two instructions for binary16
	Ada       tcore.Device
	Blackwell tcore.Device
	Promote   int // after how many products libraries promote sums to binary32

	// MX formats with the scales of OCP, and those that clip nothing: for e4m3
	// rounded up, for e2m1 as NVIDIA's paper on NVFP4 has them.
	MXFP8, MXFP8Up, MXFP4, MXFP4Up quant.Recipe
}

// Catalogued returns the records of the catalogues, and promotion every 128
// products.
func Catalogued() Emulation {
	return Emulation{
		Hopper:    devices.HopperE4M3(),
		HopperMMA: devices.HopperMMAE4M3(),
		Ada:       devices.AdaE4M3(),
		Blackwell: devices.BlackwellE4M3(),
		Promote:   128,
		MXFP8:     quant.MX(tcore.E4M3, quant.FloorScale),
		MXFP8Up:   quant.MX(tcore.E4M3, quant.RoundUpScale),
		MXFP4:     quant.MX(tcore.E2M1, quant.FloorScale),
		MXFP4Up:   quant.MXFP4Paper(),
	}
}

// Claims computes all claims, in about five seconds. It returns an
// error if a number that is multiplied is not finite, or a recipe is none. It
// panics if a machine cannot promote every Promote products.
func (e Emulation) Claims() ([]Claim, error) {
	all := []func(Emulation) (Claim, error){
		resultBits, alignedBits, addendBits, addendReader,
		nearlyTwoPercent, promotion, fastAccumulation, longSums, attention,
		floorScales, twoRecipes,
	}
	task := progress.Start(len(all))
	defer task.End()
	var list []Claim
	for _, claim := range all {
		c, err := claim(e)
		if err != nil {
			return nil, fmt.Errorf("elsewhere: %w", err)
		}
		list = append(list, c)
		task.Step(1)
	}
	return list, nil
}

// hopper returns a machine that multiplies on Hopper, with or without
// promotion.
func (e Emulation) hopper(promoted bool) tcore.Machine {
	m := tcore.Machine{Device: e.Hopper}
	if promoted {
		m.Promote = e.Promote
	}
	return m
}
