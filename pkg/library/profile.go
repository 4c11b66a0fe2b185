package library

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/tcore"
	"github.com/roundofflab/roundoff/pkg/tcore/devices"
)

// A Profile is what is known of one version of cuBLASLt on one architecture.
type Profile struct {
	Architecture string // "sm_90"
	Version      string // "13.1", major and minor
	Measured     string // on which chips, with the whole version

	chips     []string // other names of what was measured
	similar   []string // chips of the architecture that nobody measured
	recipes   map[int]Recipe
	cap       int  // outputs for which option 10 was measured
	promoted  bool // STAGES_ID 36 adds totals of its blocks by FADD
	shortOnly bool // option 8 was seen with K < 80 only
	devices   map[Kind]func() tcore.Device
}

// Profiles returns the profiles, by architecture and version, the newest
// version of each last (bitequiv 2026).
func Profiles() []Profile { return slices.Clone(profiles) }

var profiles = []Profile{
	hopper("13.1", "H100 and H200, cuBLASLt 13.1.0 and 13.1.1"),
	blackwell("sm_100", "12.8", "B200 and GB200, cuBLASLt 12.8.5", 0),
	blackwell("sm_100", "13.1", "B200 and GB200, cuBLASLt 13.1.1", 0),
	blackwell("sm_103", "13.1", "GB300, cuBLASLt 13.1.1", 256),
}

func hopper(version, measured string) Profile {
	return Profile{
		Architecture: "sm_90", Version: version, Measured: measured, chips: []string{"h100", "h200"}, similar: []string{"h800", "h20", "gh200"},
		recipes: recipes([3]int{512, 256, 256}, everywhere, onHopper, askedOnHopper), cap: 132 * threadsPerSM / threadsPerOutput, promoted: true,
		devices: map[Kind]func() tcore.Device{FP16: devices.HopperF16, BF16: devices.HopperBF16, FP8: devices.HopperE4M3},
	}
}

func blackwell(architecture, version, measured string, chain8 int) Profile {
	p := Profile{
		Architecture: architecture, Version: version, Measured: measured, chips: []string{"b200", "gb200"}, shortOnly: chain8 == 0,
		recipes: recipes([3]int{0, 0, chain8}, everywhere), cap: 152 * threadsPerSM / threadsPerOutput,
		devices: map[Kind]func() tcore.Device{FP16: devices.BlackwellF16, BF16: devices.BlackwellBF16, FP8: devices.BlackwellE4M3},
	}
	if architecture == "sm_103" {
		p.chips, p.similar = []string{"gb300"}, []string{"b300"}
	}
	return p
}

// Name returns the name by which [FindProfile] finds the profile,
// "cublaslt-13.1 sm_90".
func (p Profile) Name() string { return "cublaslt-" + p.Version + " " + p.Architecture }

var (
	versions     = regexp.MustCompile(`^(?:cublaslt-|cublas-)?([0-9]{1,4})\.([0-9]{1,4})(?:\.[0-9.]*)?$`)
	capabilities = regexp.MustCompile(`^(?:sm_?)?([0-9]{1,3})\.?([0-9])[a-z]?$`)
)

// FindProfile returns the profile of a version, such as "cublaslt-13.1" or
// "13.1.1", on an architecture, such as "sm_90", "9.0" or "h100". Of a known
// architecture with another version, that is the newest one, with a warning,
// which is "" otherwise. A chip of a known architecture that nobody measured
// has a warning too. The error says that the version is none, or is a [Refusal]
// of another architecture; both name what is known.
func FindProfile(version, architecture string) (p Profile, warning string, err error) {
	v := versions.FindStringSubmatch(strings.ToLower(strings.TrimSpace(version)))
	if v == nil {
		return Profile{}, "", fmt.Errorf("library: version %q, want one of cuBLASLt such as \"cublaslt-13.1\": %s", version, known())
	}
	name := strings.ToLower(strings.TrimSpace(architecture))
	if c := capabilities.FindStringSubmatch(name); c != nil {
		name = "sm_" + c[1] + c[2]
	}
	var found []Profile
	var warnings []string
	for _, p := range profiles {
		if name == p.Architecture || slices.Contains(p.chips, name) || slices.Contains(p.similar, name) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return Profile{}, "", &Refusal{fmt.Sprintf("library: no profile of cuBLASLt on %q: %s", architecture, known()), known()}
	}
	major, _ := strconv.Atoi(v[1])
	minor, _ := strconv.Atoi(v[2])
	wanted := fmt.Sprintf("%d.%d", major, minor)
	i := slices.IndexFunc(found, func(p Profile) bool { return p.Version == wanted })
	if i < 0 {
		i = len(found) - 1
		warnings = append(warnings, fmt.Sprintf("version %s is not known on %s: the newest one that is, %s, stands for it", wanted, found[i].Architecture, found[i].Version))
	}
	p = found[i]
	if slices.Contains(p.similar, name) {
		warnings = append(warnings, fmt.Sprintf("%s was not measured: it is of the architecture of %s", architecture, p.Measured))
	}
	return p, strings.Join(warnings, "; "), nil
}

// known names all profiles.
func known() string {
	var names []string
	for _, p := range profiles {
		names = append(names, fmt.Sprintf("%s (%s)", p.Name(), strings.Join(p.chips, ", ")))
	}
	return "known are " + strings.Join(names, "; ")
}

// device returns the device of the tensor cores for a kind.
func (p Profile) device(k Kind) tcore.Device { return p.devices[k]() }

// fma returns the multiply-adds of CUDA cores, and of processors.
func fma(k Kind) tcore.Device { return plan.FMA(k.Factors(), tcore.Binary32) }
