package atlas

import (
	"embed"
	"io/fs"
)

//go:embed data
var data embed.FS

// Recorded returns the atlas that is part of this module, pkg/atlas/data. An
// error says that its files are damaged.
func Recorded() (*Atlas, error) {
	folder, err := fs.Sub(data, "data")
	if err != nil {
		return nil, err
	}
	return Read(folder)
}
