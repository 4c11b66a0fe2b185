package library

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// An Attribute is a number of a [Config], or missing, as its zero value is.
type Attribute struct {
	Value int
	Known bool
}

// Some returns the attribute of a value.
func Some(value int) Attribute { return Attribute{value, true} }

// String returns the number, or "null".
func (a Attribute) String() string {
	if !a.Known {
		return "null"
	}
	return strconv.Itoa(a.Value)
}

// published returns the attribute as the published planner writes it in its
// reasons.
func (a Attribute) published() string {
	if !a.Known {
		return "None"
	}
	return strconv.Itoa(a.Value)
}

// A Config is what cuBLASLt answers when it is asked for an algorithm:
// attributes 0 to 8 of cublasLtMatmulAlgoConfigGetAttribute (NVIDIA, cuBLAS).
// The zero value has none of them.
type Config struct {
	AlgoID          Attribute // the family of kernels
	TileID          Attribute // decides nothing in the bits
	SplitKNum       Attribute // slices asked for; missing or below 1 counts as 1
	ReductionScheme Attribute // how slices are merged; read for CUTLASS's kernels only
	CTASwizzling    Attribute // decides nothing
	CustomOption    Attribute // lanes and chunks of the kernels without tensor cores
	StagesID        Attribute // products per instruction and block of K of the others
	InnerShapeID    Attribute // decides nothing
	ClusterShapeID  Attribute // decides nothing
}

var attributes = []string{
	"ALGO_ID", "TILE_ID", "SPLITK_NUM", "REDUCTION_SCHEME", "CTA_SWIZZLING", "CUSTOM_OPTION", "STAGES_ID", "INNER_SHAPE_ID", "CLUSTER_SHAPE_ID",
}

// fields returns the attributes in their order.
func (c *Config) fields() []*Attribute {
	return []*Attribute{
		&c.AlgoID, &c.TileID, &c.SplitKNum, &c.ReductionScheme, &c.CTASwizzling, &c.CustomOption, &c.StagesID, &c.InnerShapeID, &c.ClusterShapeID,
	}
}

// ParseConfig returns the configuration of a text such as "66,0,1,0,0,0,35" or
// "[66, null, 1]": the nine attributes in their order, with commas. Those that
// are empty or null are missing, and so are those after the last. The error
// names the attribute and its text.
func ParseConfig(text string) (Config, error) {
	var c Config
	inner := strings.TrimSpace(text)
	if open, shut := strings.HasPrefix(inner, "["), strings.HasSuffix(inner, "]"); open != shut {
		return Config{}, fmt.Errorf("library: configuration %q has one bracket, want two or none", text)
	} else if open && len(inner) > 1 {
		inner = inner[1 : len(inner)-1]
	}
	if strings.TrimSpace(inner) == "" {
		return Config{}, fmt.Errorf("library: configuration %q is empty, want ALGO_ID first", text)
	}
	fields := c.fields()
	for i, word := range strings.Split(inner, ",") {
		word = strings.TrimSpace(word)
		if i >= len(fields) {
			return Config{}, fmt.Errorf("library: field %d of the configuration, %q, is one too many, want %d: %s", i+1, word, len(fields), strings.Join(attributes, ", "))
		}
		if word == "" || word == "null" || word == "None" {
			continue
		}
		v, err := strconv.ParseInt(word, 10, 32)
		if err != nil {
			return Config{}, fmt.Errorf("library: %s = %q, want an integer of 32 bits or null", attributes[i], word)
		}
		*fields[i] = Some(int(v))
	}
	return c, nil
}

// String returns the nine attributes as [ParseConfig] takes them.
func (c Config) String() string {
	words := make([]string, len(attributes))
	for i, f := range c.fields() {
		words[i] = f.String()
	}
	return strings.Join(words, ",")
}

// MarshalJSON returns the nine attributes as an array.
func (c Config) MarshalJSON() ([]byte, error) { return []byte("[" + c.String() + "]"), nil }

// UnmarshalJSON takes an array of up to nine numbers and nulls.
func (c *Config) UnmarshalJSON(text []byte) error {
	var values []*int
	if err := json.Unmarshal(text, &values); err != nil {
		return err
	}
	fields := c.fields()
	if len(values) > len(fields) {
		return fmt.Errorf("library: a configuration of %d fields, want at most %d", len(values), len(fields))
	}
	*c = Config{}
	for i, v := range values {
		if v != nil {
			*fields[i] = Some(*v)
		}
	}
	return nil
}

// mostSplits is what SPLITK_NUM may be: lanes and slices are values that an
// evaluation holds.
const mostSplits = 1 << 16

// check returns an error that names the first attribute that cannot be
// computed with.
func (c Config) check() error {
	for i, f := range c.fields() {
		if f.Value < math.MinInt32 || f.Value > math.MaxInt32 {
			return fmt.Errorf("library: %s = %d, want an integer of 32 bits", attributes[i], f.Value)
		}
	}
	if c.SplitKNum.Value > mostSplits {
		return fmt.Errorf("library: SPLITK_NUM = %d, want at most %d", c.SplitKNum.Value, mostSplits)
	}
	return nil
}

// splits returns the number of slices asked for.
func (c Config) splits() int {
	if !c.SplitKNum.Known {
		return 1
	}
	return max(1, c.SplitKNum.Value)
}
