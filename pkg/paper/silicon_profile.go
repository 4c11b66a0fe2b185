package paper

import (
	"fmt"
	"time"

	"github.com/roundofflab/roundoff/pkg/viz"
)

// DefaultGPUProfile is the experiment of Table 3 for a GPU. Its arrays exceed
// the caches of current GPUs; the shortest of ten passes counts.
var DefaultGPUProfile = Profile{Elements: 1 << 25, Repeats: 10, Seed: Seed}

// ProfileRecord is Table 3 as a GPU ran it.
type ProfileRecord struct {
	Provenance
	Elements int              `json:"elements"`
	Passes   int              `json:"passes"`
	Seed     uint64           `json:"seed"`
	Kernels  []RecordedStream `json:"kernels"` // the three kernels of Table 3, in its order
}

// RecordedStream is one kernel of Table 3.
type RecordedStream struct {
	Nanoseconds int64 `json:"nanoseconds"` // time of the shortest pass on the device's clock
	Equal       int   `json:"equal"`       // number of results that agree bit for bit with package tcore
}

// NewRecord returns a record of the experiment that contains no kernels yet.
func (p Profile) NewRecord(from Provenance) *ProfileRecord {
	return &ProfileRecord{Provenance: from, Elements: p.Elements, Passes: p.Repeats, Seed: p.Seed}
}

// File returns the file name of the record, which identifies the experiment by
// length and seed.
func (r *ProfileRecord) File() string { return fmt.Sprintf("profile-%d-%d.json", r.Elements, r.Seed) }

// Add appends a kernel with the time of its shortest pass and the number of
// results that agree bit for bit with package tcore.
func (r *ProfileRecord) Add(took time.Duration, equal int) {
	r.Kernels = append(r.Kernels, RecordedStream{took.Nanoseconds(), equal})
}

// check returns an error unless r is a complete record of the experiment p.
func (r *ProfileRecord) check(p Profile) error {
	if want := p.NewRecord(r.Provenance).File(); r.File() != want {
		return fmt.Errorf("paper: a record of %s, want %s", r.File(), want)
	}
	if len(r.Kernels) != len(profileRows) {
		return fmt.Errorf("paper: record %s has %d kernels, want %d", r.File(), len(r.Kernels), len(profileRows))
	}
	for i, k := range r.Kernels {
		if k.Nanoseconds < 1 || k.Equal < 0 || k.Equal > r.Elements {
			return fmt.Errorf("paper: record %s, kernel %d: %d ns, %d of %d results equal", r.File(), i, k.Nanoseconds, k.Equal, r.Elements)
		}
	}
	return nil
}

// SiliconProfile is Table 3 measured on this processor and on a GPU.
type SiliconProfile struct {
	*ProfileResult // of this processor
	Origin
	Record ProfileRecord
	GPU    []ProfileRow // nil if there are no results of a GPU
}

// OnGPU returns the results of [DefaultGPUProfile] together with those of this
// processor. [GEMMResult.OnGPU] describes when they are measured and when they
// are read from a record. If there is no record, the field GPU is nil and
// captions say so. It returns an error if the measurement fails or the record
// is not one of this experiment.
func (r *ProfileResult) OnGPU() (*SiliconProfile, error) {
	p := DefaultGPUProfile
	s := &SiliconProfile{ProfileResult: r}
	flags := []string{fmt.Sprintf("-elements=%d", p.Elements), fmt.Sprintf("-seed=%d", p.Seed)}
	var err error
	s.Origin, err = fromSilicon("profile", p.NewRecord(Provenance{}).File(), flags, &s.Record)
	if err != nil || s.Emulated() {
		return s, err
	}
	if err := s.Record.check(p); err != nil {
		return nil, err
	}
	for i, k := range s.Record.Kernels {
		s.GPU = append(s.GPU, profileRows[i].timed(p.Elements, time.Duration(k.Nanoseconds).Seconds()))
	}
	return s, nil
}

// Table returns Table 3 for the processor and the GPU: rates, the memory
// traffic computed from the bytes per element, and how many results agree bit
// for bit with package tcore.
func (s *SiliconProfile) Table() *viz.Table {
	finding := fmt.Sprintf("On this processor MPFMA is %.2f times as fast as FMA, where the bytes promise %.2f", s.Speedup(), s.Promised())
	if !s.Emulated() {
		finding = fmt.Sprintf("MPFMA is %.2f times as fast as FMA on the GPU and %.2f times on this processor, where the bytes promise %.2f",
			s.GPU[2].Rate/s.GPU[1].Rate, s.Speedup(), s.Promised())
	}
	t := viz.NewTable("table3-silicon",
		finding+".",
		fmt.Sprintf("%s. Streaming d = ab + c, %d elements an array on the processor, %d on the GPU, seed %d.",
			s.Origin, s.Elements, DefaultGPUProfile.Elements, s.Seed),
		[]string{"Algorithm", "flop/byte", "Gflop/s, processor", "GB/s", "Gflop/s, GPU", "GB/s, GPU",
			fmt.Sprintf("equal bits, of %d", DefaultGPUProfile.Elements)})
	rates := func(k ProfileRow) (flops, bytes string) {
		return fmt.Sprintf("%.2f", k.Rate/1e9), fmt.Sprintf("%.1f", k.Rate/k.Intensity/1e9)
	}
	for i, k := range s.Rows {
		flops, bytes := rates(k)
		cells := []string{k.Name, fmt.Sprintf("%.4f", k.Intensity), flops, bytes, "–", "–", "–"}
		if !s.Emulated() {
			cells[4], cells[5] = rates(s.GPU[i])
			cells[6] = fmt.Sprint(s.Record.Kernels[i].Equal)
		}
		t.Row(cells...)
	}
	return t
}
