package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/internal/ckpt"
	"github.com/starling-smc/starling/internal/jsontext"
	"github.com/starling-smc/starling/internal/lock"
	"github.com/starling-smc/starling/paper"
)

// checkFiles refuses values of --record and --markdown that cannot be written to, and one file for both.
func (r *reproduce) checkFiles() error {
	if r.record != "" && r.markdown != "" && sameFile(r.record, r.markdown) {
		return wrongUse("--record and --markdown are one file, %s: the table would replace the runs; name two", r.record)
	}
	if r.record != "" {
		if err := checkFile("--record", r.record); err != nil {
			return err
		}
	}
	if r.markdown != "" {
		if err := checkNew("--markdown", r.markdown, written{"a table of starling reproduce", r.table.IsMarkdown}, r.force); err != nil {
			return err
		}
	}
	return nil
}

// sameFile reports whether two paths are of one file, which need not exist yet.
func sameFile(a, b string) bool {
	before, err := os.Stat(a)
	after, missing := os.Stat(b)
	if err == nil && missing == nil {
		return os.SameFile(before, after)
	}
	a, err = filepath.Abs(a)
	b, missing = filepath.Abs(b)
	return err == nil && missing == nil && a == b
}

// lock takes the folder of the table for this process: two commands at once would slow each other down, and their measured
// times would be wrong.
func (r *reproduce) lock() (unlock func(), err error) {
	dir := filepath.Join(r.out, r.table.Name)
	_, err = os.Lstat(r.out)
	made := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	remove := func() { // the folders, if they are empty
		os.Remove(dir)
		if made {
			os.Remove(r.out)
		}
	}
	l, err := lock.Take(filepath.Join(dir, ".lock"))
	if err == nil {
		return func() {
			l.Free()
			remove()
		}, nil
	}
	remove()
	var held *lock.HeldError
	if errors.As(err, &held) {
		err = wrongUse("%s: another reproduce is at work in this folder (%s); wait until it ends, or choose another --out", dir, held.By)
	}
	return nil, err
}

// lockRecord keeps other processes from the file --record while this one reads and replaces it. They hold it for much less time than
// this waits.
func (r *reproduce) lockRecord() (l *lock.Lock, err error) {
	dir, name := filepath.Split(r.record)
	var held *lock.HeldError
	for range 200 {
		if l, err = lock.Take(filepath.Join(dir, "."+name+".lock")); !errors.As(err, &held) {
			return l, err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil, fmt.Errorf("%s: another reproduce has been writing it for ten seconds (%s); the same command tries again", r.record, held.By)
}

// held reads the runs in the folder --out. Folders that hold something else are left out.
func (r *reproduce) held(ctx context.Context) (runs []paper.Run, err error) {
	units, err := r.present()
	if err != nil {
		return nil, err
	}
	for _, u := range units {
		run, err := r.read(ctx, u)
		switch {
		case err == nil:
			runs = append(runs, *run)
		case errors.As(err, new(*starling.NotDoneError)):
		case errors.As(err, new(*starling.DataError)):
			r.leaveOut(u, err)
		default:
			return nil, err
		}
	}
	return runs, nil
}

// leaveOut says on stderr why a folder is left out, once for each folder.
func (r *reproduce) leaveOut(u unit, err error) {
	if !r.leftOut[u.dir] {
		tell(fmt.Sprintf("starling: left out: %v", err))
	}
	r.leftOut[u.dir] = true
}

// write writes the files --record and --markdown and those in --pictures, and returns the runs in them: those that come with the program, those in the
// file --record, and those in the folder. Later ones replace earlier ones.
func (r *reproduce) write(ctx context.Context) ([]paper.Run, error) {
	held, err := r.held(ctx)
	if err != nil {
		return nil, err
	}
	runs := r.table.Recorded()
	if r.record != "" {
		l, err := r.lockRecord()
		if err != nil {
			return nil, err
		}
		defer l.Free()
		recorded, err := r.readRecord()
		if err != nil {
			return nil, err
		}
		runs = paper.Merge(runs, recorded)
	}
	runs = paper.Merge(runs, held)
	if r.record != "" {
		if err := ckpt.Replace(r.record, "", func(w io.Writer) error { return jsontext.Write(w, r.table.Record(runs)) }); err != nil {
			return nil, err
		}
	}
	if r.markdown != "" {
		if err := ckpt.Replace(r.markdown, "", func(w io.Writer) error { return r.table.WriteMarkdown(w, runs) }); err != nil {
			return nil, err
		}
	}
	return runs, r.draw(runs)
}

// readRecord reads the file --record. The error names the table whose record it is, if it is another's.
func (r *reproduce) readRecord() ([]paper.Run, error) {
	runs, err := r.table.ReadRecord(r.record)
	if !errors.As(err, new(*starling.DataError)) {
		return runs, err
	}
	for _, other := range published {
		if _, no := other.ReadRecord(r.record); no == nil {
			return nil, &starling.DataError{Err: fmt.Errorf("%s is a record of runs of %s, and not of %s: name another file, or none", r.record, other.Name, r.table.Name)}
		}
	}
	return nil, err
}

// draw writes the pictures to the folder --pictures.
func (r *reproduce) draw(runs []paper.Run) error {
	if r.pictures == "" {
		return nil
	}
	pictures, err := r.table.Pictures(r.table, runs)
	if err == nil {
		err = os.MkdirAll(r.pictures, 0o777)
	}
	for _, p := range pictures {
		if err == nil {
			err = ckpt.WriteFile(filepath.Join(r.pictures, r.table.Name+"-"+p.Name+".svg"), p.SVG)
		}
	}
	return err
}

// prepare asks for what a run needs, and writes the file of its test rows, if its cell has a split of its own.
func (r *reproduce) prepare(ctx context.Context, u unit) error {
	err := u.cell.Ready(ctx, u.seed, u.reduced, u.dir, starling.Options{Threads: r.threads, DataDir: r.dataDir})
	if m := new(paper.MissingError); errors.As(err, &m) {
		return fmt.Errorf("%w; %s makes it", err, r.command(m.Cell, m.Seed))
	}
	if err != nil {
		return err
	}
	if u.cell.Rows == nil {
		return nil
	}
	rows, err := u.cell.Rows(r.dataDir, u.seed)
	if err != nil {
		return err
	}
	return ckpt.Replace(paper.RowsFile(u.dir), "", func(w io.Writer) error {
		for _, row := range rows {
			if _, err := fmt.Fprintln(w, row); err != nil {
				return err
			}
		}
		return nil
	})
}

// command is the command that makes a run of a cell in the same folder.
func (r *reproduce) command(cell string, seed uint64) string {
	words := []string{"starling reproduce", r.table.Name, cell, "--seeds", fmt.Sprint(seed)}
	for _, f := range []flagged{{"--budget", r.budget, r.budget != "full"}, {"--out", quoted(r.out), r.out != "reproduce"}, {"--data-dir", quoted(r.dataDir), r.dataDir != ""}} {
		if f.given {
			words = append(words, f.name, f.value)
		}
	}
	return strings.Join(words, " ")
}

// writeMore writes what the runs show beside the table, where the folder of data has what that takes.
func (r *reproduce) writeMore(w io.Writer, runs []paper.Run) error {
	if r.table.More == nil {
		return nil
	}
	text, err := r.table.More(r.table, r.dataDir, runs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && text != "" {
		_, err = io.WriteString(w, "\n"+text)
	}
	return err
}
