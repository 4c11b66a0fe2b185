package question

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/roundofflab/roundoff/pkg/sweep"
)

// Begun returns what a file has of the part, which is nothing if there is no
// file. If the rows of the file are damaged the part has nothing either, and
// damage says so. The error says that the file is another's, which is not to be
// overwritten.
func Begun(part sweep.Part, file string) (there sweep.Part, damage, err error) {
	status, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return part, nil, nil
	case err != nil:
		return part, nil, err
	case !status.Mode().IsRegular():
		return part, nil, fmt.Errorf("%s is no file, which a shard reads when it is started again", file)
	}
	there, damage = readPart(file)
	if there.Version == "" {
		return part, nil, damage
	}
	if err := there.Same(part); err != nil {
		return part, nil, err
	}
	if there.Shard != part.Shard {
		return part, nil, fmt.Errorf("sweep: %s is shard %v, not %v", file, there.Shard, part.Shard)
	}
	if damage != nil {
		return part, damage, nil
	}
	return there, nil, nil
}

// readPart is [sweep.ReadPart] for a file, whose name errors and the part have.
func readPart(file string) (sweep.Part, error) {
	f, err := os.Open(file)
	if err != nil {
		return sweep.Part{}, err
	}
	defer f.Close()
	p, err := sweep.ReadPart(f)
	if err != nil {
		err = fmt.Errorf("%s: %w", file, err)
	}
	p.File = file
	return p, err
}

// Joined are the rows of shards.
type Joined struct {
	Version, Command string
	Rows             []sweep.Row
	Lack             sweep.Lack
}

// JoinShards returns the rows of the shards in files: of all of a sweep or, if
// partial, of those that there are.
func JoinShards(files []string, partial bool) (z Joined, err error) {
	var parts []sweep.Part
	for _, file := range files {
		p, err := readPart(file)
		if errors.Is(err, sweep.ErrNoPart) && len(parts) > 0 {
			err = fmt.Errorf("%s: no shard of a sweep, as %s is, want shards alone or none", file, files[0])
		}
		if err != nil {
			return z, err
		}
		parts = append(parts, p)
	}
	if partial {
		z.Rows, z.Lack, err = sweep.JoinSome(parts)
	} else {
		z.Rows, err = sweep.JoinParts(parts)
		for _, p := range parts {
			z.Lack.Draws += len(p.Draws)
		}
	}
	if err != nil {
		return z, err
	}
	z.Version, z.Command = parts[0].Version, parts[0].Command
	return z, nil
}

// Comment returns what a file of the rows begins with: the command, the
// version, and what is missing.
func (z Joined) Comment() string {
	comment := z.Command + "\nroundoff " + z.Version
	if z.Lack.Missing > 0 {
		comment += "\n" + z.Lack.String()
	}
	return comment
}
