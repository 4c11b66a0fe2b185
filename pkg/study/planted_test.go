package study

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/roundofflab/roundoff/internal/parallel"
	"github.com/roundofflab/roundoff/internal/written"
	"github.com/roundofflab/roundoff/pkg/roundoff"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
	"github.com/roundofflab/roundoff/pkg/tolerance"
)

var update = flag.Bool("update", false, "write the tables of docs/tolerance.md anew from the record")

var plant = flag.Bool("plant", false, "plant faults on all devices anew, and write recorded/planted.csv and the tables of docs/tolerance.md: minutes")

// plantedSeeds are those of the record.
var plantedSeeds = []uint64{1, 2, 3}

// planted returns the rows of some devices.
func planted(t *testing.T, devices []tcore.Device) (all []Planted) {
	t.Helper()
	rows := make([][]Planted, len(devices)*len(PlantedData))
	errs := make([]error, len(rows))
	parallel.Each(len(rows), func(i int) {
		for _, seed := range plantedSeeds {
			z, err := Plant(devices[i/len(PlantedData)], PlantedData[i%len(PlantedData)], seed)
			if err != nil {
				errs[i] = err
				return
			}
			for j, p := range z {
				if len(rows[i]) <= j {
					rows[i] = append(rows[i], p)
				} else {
					rows[i][j] = rows[i][j].Plus(p)
				}
			}
		}
	})
	for i, err := range errs {
		if err != nil {
			t.Error(err)
		}
		all = append(all, rows[i]...)
	}
	return all
}

func recordedPlanted(t *testing.T) []Planted {
	t.Helper()
	all, err := RecordedPlanted()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The record is what planting gives, tried on two devices.
func TestPlantedRecord(t *testing.T) {
	var some []tcore.Device
	for _, d := range PlantedDevices() {
		if *plant || d.Name == "volta-mma-binary16-binary32" || d.Name == "hopper-wgmma-e4m3-binary32" {
			some = append(some, d)
		}
	}
	if testing.Short() && !*plant {
		some = nil
	}
	got := planted(t, some)
	if *plant {
		var b bytes.Buffer
		if err := WritePlanted(&b, got); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("recorded/planted.csv", b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		plantedPage(t, got, true)
		return
	}
	record := recordedPlanted(t)
	for _, p := range got {
		if !slices.ContainsFunc(record, func(q Planted) bool { return line(p) == line(q) }) {
			t.Errorf("%s, %s, %s is not as recorded", p.Device, p.Data, p.Fault)
		}
	}
	for _, d := range PlantedDevices() {
		if !slices.ContainsFunc(record, func(p Planted) bool { return p.Device == d.Name }) {
			t.Errorf("nothing is recorded of %s", d.Name)
		}
	}
}

// line returns a row as it is recorded.
func line(p Planted) string {
	var b bytes.Buffer
	WritePlanted(&b, []Planted{p}) // to memory
	_, row, _ := bytes.Cut(b.Bytes(), []byte("\n"))
	return string(row)
}

// The tables of docs/tolerance.md are those of the record.
func TestPlantedPage(t *testing.T) {
	if !*plant {
		plantedPage(t, recordedPlanted(t), *update)
	}
}

func plantedPage(t *testing.T, all []Planted, update bool) {
	t.Helper()
	const page = "../../docs/tolerance.md"
	written.Part(t, page, "message", plantedMessage(t), update)
	written.Part(t, page, "faults", PlantedTable(all, false), update)
	written.Part(t, page, "far", PlantedTable(all, true), update)
	written.Part(t, page, "named", PlantedNamed(all), update)
	written.Part(t, page, "devices", PlantedDevicesTable(all), update)
}

// plantedMessage returns what is said of a product on Hopper whose last
// products are missing.
func plantedMessage(t *testing.T) string {
	t.Helper()
	p := planting{Device: devices.HopperF16(), rng: rand.New(rand.NewPCG(1, 0))}
	p.draw("N(0,1)")
	data, err := tolerance.Measure(p.a, p.b)
	if err != nil {
		t.Fatal(err)
	}
	z, err := data.Of(tolerance.Implementation{Machine: tcore.Machine{Device: p.Device}}, roundoff.FailureOf(1-1e-6))
	if err != nil {
		t.Fatal(err)
	}
	return "```\n" + z.Compare(p.spoiled(TailFault, z.Exact, 1)).String() + "\n```\n"
}

// No output of a sound product is refused, at most 10⁻⁶ of them being allowed,
// and of the faults above rounding size 95 % of every kind are caught, but for
// flipped bits without emulation.
func TestPlantedVerdict(t *testing.T) {
	all := recordedPlanted(t)
	sound := total(all, func(p Planted) bool { return p.Fault == NoFault })
	if sound.Outputs < 1e6 || sound.Alarms[0] != 0 || sound.Alarms[1] != 0 {
		t.Errorf("of %d outputs of sound products %v are refused", sound.Outputs, sound.Alarms)
	}
	for _, fault := range plantedFaults {
		z, least := total(all, func(p Planted) bool { return p.Fault == fault.name }), 0.95
		if fault.name == OneBit {
			least = 0.9
		}
		if float64(z.Caught[0]) < least*float64(z.Above) {
			t.Errorf("%s: %d of %d faults are caught, want %v of them", fault.name, z.Caught[0], z.Above, least)
		}
	}
	bits := total(all, func(p Planted) bool { return p.Fault == OneBit && p.Emulated })
	if float64(bits.Caught[1]) < 0.95*float64(bits.Above) {
		t.Errorf("%d of %d flipped bits are caught with emulation, want 95 %%", bits.Caught[1], bits.Above)
	}
}
