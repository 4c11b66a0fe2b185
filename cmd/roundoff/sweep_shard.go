package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/roundofflab/roundoff/pkg/plan"
	"github.com/roundofflab/roundoff/pkg/sweep"
	"github.com/roundofflab/roundoff/pkg/tcore"
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

// standardCommand and sweepOfAtlas begin the commands of the standard plan and
// of that of the atlas.
const standardCommand, sweepOfAtlas = "roundoff sweep -standard", "roundoff sweep -atlas"

// named returns the name of the plan that takes few flags.
func (q *sweepQuestion) named() string {
	if q.atlas {
		return "atlas"
	}
	return "standard"
}

// runShard computes a shard of the plans into its file, after the draws that
// the file has. If ctx ends, the file has the draws so far.
func (q *sweepQuestion) runShard(ctx context.Context, flags *flag.FlagSet, stdout, stderr io.Writer) error {
	shard, err := sweep.ParseShard(q.shard)
	if err != nil {
		return fmt.Errorf("-shard: %w", err)
	}
	plans, err := q.list(flags)
	if err != nil {
		return err
	}
	part := sweep.Part{File: "the sweep asked for", Version: version(), Command: q.command(flags), Shard: shard}
	for _, p := range plans {
		part.Plans = append(part.Plans, p.Grid())
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
	status, err := os.Stat(q.o)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return part, nil
	case err != nil:
		return part, err
	case !status.Mode().IsRegular():
		return part, fmt.Errorf("-o %s, want a file, which a shard reads when it is started again", q.o)
	}
	f, err := os.Open(q.o)
	if err != nil {
		return part, err
	}
	defer f.Close()
	there, err := sweep.ReadPart(f)
	if there.Version == "" {
		return part, fmt.Errorf("%s: %w; it stays as it is, want another -o", q.o, err)
	}
	there.File = q.o
	same := there.Same(part)
	if same == nil && there.Shard != part.Shard {
		same = fmt.Errorf("sweep: %s is shard %v, not %v", q.o, there.Shard, part.Shard)
	}
	if same != nil {
		return part, fmt.Errorf("%w; it stays as it is, want another -o", same)
	}
	if err != nil {
		fmt.Fprintf(stderr, "roundoff sweep: %s: %v; it is computed again\n", q.o, err)
		return part, nil
	}
	return there, nil
}

// command returns the command that sweeps the plans of the flags, written in
// one way whatever the order and the form of the flags.
func (q *sweepQuestion) command(flags *flag.FlagSet) string {
	var b strings.Builder
	begins := "roundoff sweep"
	if q.standard {
		begins += " -" + q.named()
	}
	b.WriteString(begins)
	for _, f := range []struct {
		name, value string
		standard    bool // it restricts the standard plan, if given
	}{
		{"devices", names(q.Machines, ",", func(m tcore.Machine) string { return m.Name }), true},
		{"plans", names(q.Orders, ";", func(o plan.Plan) string { return o.Name }), false},
		{"dist", names(q.Data, ",", func(l sweep.Generator) string { return l.Name }), true},
		{"m", strconv.Itoa(q.M), false},
		{"n", strconv.Itoa(q.N), false},
		{"k", names(q.Ks, ",", strconv.Itoa), true},
		{"seeds", sweep.FormatSeeds(q.Seeds), true},
		{"confidence", names(q.Confidences, ",", func(c float64) string { return fmt.Sprint(c) }), false},
		{"per-output", strconv.FormatBool(q.PerOutput), false},
		{"told", names(q.Told, ",", sweep.Told.String), true},
		{"ranges", strconv.FormatBool(q.Ranges), false},
		{"represented", strconv.FormatBool(q.Represented), false},
	} {
		restricts := f.name == "devices" || f.name == "dist" || f.name == "k"
		switch {
		case q.standard && (!f.standard || restricts && !given(flags, f.name)), f.value == flags.Lookup(f.name).DefValue && f.name != "seeds":
		case f.value == "true" || f.value == "false":
			fmt.Fprintf(&b, " -%s=%s", f.name, f.value)
		case strings.ContainsAny(f.value, "()<>*;|×±+ ") || f.value == "":
			fmt.Fprintf(&b, " -%s '%s'", f.name, f.value)
		default:
			fmt.Fprintf(&b, " -%s %s", f.name, f.value)
		}
	}
	return b.String()
}

// joinFiles returns the joined rows of several files and all their comments. Of
// shards, which must be alone, the comment is their command and version, and
// standard says that they are of the standard plan.
func joinFiles(files []string) (rows []sweep.Row, comment string, standard bool, err error) {
	var comments []string
	var parts []sweep.Part
	for i, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, "", false, err
		}
		b := bufio.NewReader(f)
		var more []sweep.Row
		var part sweep.Part
		shard := sweep.BeginsPart(b)
		switch {
		case shard && len(parts) < i:
			err = fmt.Errorf("a shard of a sweep, as %s is not, want shards alone or none", files[0])
		case !shard && len(parts) > 0:
			err = fmt.Errorf("no shard of a sweep, as %s is, want shards alone or none", files[0])
		case shard:
			part, err = sweep.ReadPart(b)
		default:
			if more, comment, err = sweep.Read(b); err == nil {
				rows, err = sweep.Join(rows, more)
			}
		}
		f.Close()
		if err != nil {
			return nil, "", false, fmt.Errorf("%s: %w", file, err)
		}
		if shard {
			part.File = file
			parts = append(parts, part)
		}
		comments = append(comments, comment)
	}
	if len(parts) == 0 {
		return rows, strings.Join(comments, "\n"), false, nil
	}
	if rows, err = sweep.JoinParts(parts); err != nil {
		return nil, "", false, err
	}
	command := parts[0].Command
	standard = strings.HasPrefix(command, standardCommand) || strings.HasPrefix(command, sweepOfAtlas)
	return rows, command + "\nroundoff " + parts[0].Version, standard, nil
}
