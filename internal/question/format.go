package question

import (
	"fmt"
	"strings"

	"github.com/roundofflab/roundoff/pkg/tcore"
)

// Formats are the formats that -in and -out can name.
var Formats = []tcore.Format{
	tcore.Binary16, tcore.BFloat16, tcore.TF32, tcore.Binary32, tcore.Binary64, tcore.E4M3, tcore.E5M2,
	tcore.E4M3FNUZ, tcore.E5M2FNUZ, tcore.E3M2, tcore.E2M3, tcore.E2M1,
}

// FindFormat returns the format of Formats with that name.
func FindFormat(name string) (tcore.Format, error) {
	var names []string
	for _, f := range Formats {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return tcore.Format{}, fmt.Errorf("no format %q, want one of %s", name, strings.Join(names, ", "))
}

// FindFactor is FindFormat for the factors of devices, integers among them.
func FindFactor(name string) (tcore.Format, error) {
	for _, f := range []tcore.Format{tcore.INT8, tcore.UINT8} {
		if f.Name == name {
			return f, nil
		}
	}
	return FindFormat(name)
}
