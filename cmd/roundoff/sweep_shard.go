package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/roundofflab/roundoff/internal/question"
	"github.com/roundofflab/roundoff/pkg/sweep"
)

// A shardFile is a part of a sweep that is being computed, and its file, which
// is written again when a draw has been kept and the last time is so long ago
// as every says: no more is lost if the command is killed.
type shardFile struct {
	sweep.Part
	every time.Duration
	saved time.Time
}

// keep adds the rows of the next draw.
func (f *shardFile) keep(rows []sweep.Row) error {
	if f.Draws = append(f.Draws, rows); time.Since(f.saved) < f.every {
		return nil
	}
	return f.save()
}

// save writes the file.
func (f *shardFile) save() error {
	f.saved = time.Now()
	file, err := newOutput(f.File)
	if err != nil {
		return err
	}
	return file.write(f.Write)
}

// runShard computes a shard of the plans into its file, after the draws that
// the file has. If ctx ends, the file has the draws so far.
func (q *sweepQuestion) runShard(ctx context.Context, stdout, stderr io.Writer) error {
	shard, err := sweep.ParseShard(q.shard)
	if err != nil {
		return fmt.Errorf("-shard: %w", err)
	}
	plans, part, err := q.Part(shard)
	if err != nil {
		return err
	}
	if part, err = q.begun(part, stderr); err != nil {
		return err
	}
	f, missing := &shardFile{Part: part, every: 30 * time.Second}, part.Missing()
	f.File = q.o
	fmt.Fprintf(stderr, "shard %v of %s: %d draws, %d of them to be computed\n", shard, f.Command, len(f.Draws)+missing, missing)
	if missing > 0 || len(f.Draws) == 0 {
		if err := f.save(); err != nil { // now and not after hours
			return err
		}
	}
	if missing > 0 {
		bar := newProgress(stderr, "sweep")
		err = shard.Run(ctx, plans, len(f.Draws), f.keep, bar.set)
		bar.done()
		if err == nil || ctx.Err() != nil {
			err = errors.Join(err, f.save())
		}
	}
	if ctx.Err() != nil {
		fmt.Fprintf(stderr, "roundoff sweep: %s has %d draws and lacks %d, the same command goes on with them\n", q.o, len(f.Draws), f.Missing())
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s is whole: shard %v, %d draws, %d rows\n", q.o, shard, len(f.Draws), len(slices.Concat(f.Draws...)))
	return err
}

// begun returns what the file of -o has of the part, which is nothing if there
// is no file, or if its rows are damaged. An error says that the file is
// another's, which is not to be overwritten.
func (q *sweepQuestion) begun(part sweep.Part, stderr io.Writer) (sweep.Part, error) {
	there, damage, err := question.Begun(part, q.o)
	if err != nil {
		return part, fmt.Errorf("%w; it stays as it is, want another -o", err)
	}
	if damage != nil {
		fmt.Fprintf(stderr, "roundoff sweep: %v; it is computed again\n", damage)
	}
	return there, nil
}

// joinFiles returns the joined rows of several files and all their comments. Of
// shards, which must be alone, the comment is their command and version, and
// standard says that they are of the standard plan. If partial, shards may be
// missing: the comment and stderr say which.
func joinFiles(files []string, partial bool, stderr io.Writer) (rows []sweep.Row, comment string, standard bool, err error) {
	var comments []string
	for i, file := range files {
		begins, err := beginsPart(file)
		if err != nil {
			return nil, "", false, err
		}
		switch {
		case begins && i == 0:
			return joinShards(files, partial, stderr)
		case begins:
			return nil, "", false, fmt.Errorf("%s: a shard of a sweep, as %s is not, want shards alone or none", file, files[0])
		case partial:
			return nil, "", false, fmt.Errorf("%s: no shard of a sweep, want shards with -partial", file)
		}
		more, said, err := readRowsOf(file)
		if err == nil {
			rows, err = sweep.Join(rows, more)
		}
		if err != nil {
			return nil, "", false, fmt.Errorf("%s: %w", file, err)
		}
		comments = append(comments, said)
	}
	return rows, strings.Join(comments, "\n"), false, nil
}

// joinShards is joinFiles for files of which the first is a shard.
func joinShards(files []string, partial bool, stderr io.Writer) (rows []sweep.Row, comment string, standard bool, err error) {
	z, err := question.JoinShards(files, partial)
	if err != nil {
		return nil, "", false, err
	}
	if z.Lack.Missing > 0 {
		fmt.Fprintf(stderr, "roundoff sweep: %v\n", z.Lack)
	}
	named := strings.HasPrefix(z.Command, question.StandardCommand) || strings.HasPrefix(z.Command, question.AtlasCommand)
	return z.Rows, z.Comment(), named, nil
}

// beginsPart reports whether a file begins as one of a shard does.
func beginsPart(file string) (bool, error) {
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return sweep.BeginsPart(bufio.NewReader(f)), nil
}

// readRowsOf returns the rows of a file, and its comment.
func readRowsOf(file string) ([]sweep.Row, string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	return sweep.Read(f)
}
