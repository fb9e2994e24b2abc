package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"locksim/examples/libraries"
	"locksim/internal/book"
)

// record is a line of the journal: what a program says of its library, a cell, or what was played live.
type record struct {
	Library, Version string
	// Commit is the state of locksim, Date the day.
	Commit, Date string
	Sheet        *libraries.Sheet `json:",omitempty"`
	// Judged identifies how the lock is used and what it is judged by.
	Judged string   `json:",omitempty"`
	Cell   *played  `json:",omitempty"`
	Live   *liveRun `json:",omitempty"`
}

// key is what a record is of. Of the records with the same one the latest counts.
type key struct{ library, version, judged, lock, trouble, what, source string }

func (r record) key() key {
	switch {
	case r.Sheet != nil:
		return key{library: r.Library}
	case r.Cell != nil:
		return key{library: r.Library, version: r.Version, judged: r.Judged, lock: r.Cell.Lock, trouble: r.Cell.Trouble}
	case r.Live != nil:
		return key{r.Library, r.Version, r.Judged, r.Live.Lock, r.Live.Trouble, r.Live.What, r.Live.Source}
	}
	return key{} // of a later version of this program
}

func (r record) commit() string { return r.Commit }

// table has what is stored, and adds to it.
type table struct {
	programs *book.Builder
	stored   *book.Book[key, record]
}

// makeTable plays what is missing of some libraries, of all where none are named, and writes the pages of all.
func makeTable(b *book.Builder, all, named []string, c *book.Choices, live bool) (err error) {
	t := &table{programs: b}
	if t.stored, err = book.Chosen(c, record.key, record.commit); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.stored.Close()) }()
	if len(named) == 0 {
		named = all
	}
	if c.Stored {
		named = nil
	}
	var failed error
	for _, name := range named {
		if err := t.measure(name, live); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
		}
	}
	if !c.Stored {
		fmt.Fprintf(os.Stderr, "the builds took %.0f s of CPU time\n", b.Took().Seconds())
	}
	failed = errors.Join(failed, t.write(all))
	book.TellAge(os.Stderr, t.commits(all))
	return failed
}

// commits are those of the cells that the pages have.
func (t *table) commits(names []string) (all []string) {
	for _, name := range names {
		s := t.sheetOf(name)
		if s == nil {
			continue
		}
		for _, l := range s.Locks {
			for _, trouble := range libraries.Troubles() {
				if r, ok := t.cellOf(name, s.Version, l, trouble); ok {
					all = append(all, r.Commit)
				}
			}
		}
	}
	return all
}

// checkPages checks the pages of some libraries, of all where none are named.
func checkPages(b *book.Builder, file string, all, named []string) error {
	stored, err := book.Read(file, record.key)
	if err != nil {
		return err
	}
	if len(named) == 0 {
		named = all
	}
	if err := (&table{programs: b, stored: stored}).checkTables(named); err != nil {
		return fmt.Errorf("%w: %w", errDiffers, err)
	}
	return nil
}

// measure plays what is missing of a library.
func (t *table) measure(name string, live bool) error {
	program, err := build(t.programs, name)
	if err != nil {
		return err
	}
	s, err := askSheet(program)
	if err != nil {
		return err
	}
	if old := t.sheetOf(name); old == nil || !same(*old, s) {
		if err := t.add(program, record{Library: name, Version: s.Version, Sheet: &s}); err != nil {
			return err
		}
	}
	var jobs []func() error
	for _, l := range s.Locks {
		for _, trouble := range libraries.Troubles() {
			if _, ok, err := t.stored.Kept(cellKey(name, s.Version, l, trouble)); err != nil {
				return err
			} else if ok {
				continue
			}
			jobs = append(jobs, func() error {
				played, err := playCell(program, l.Name, trouble.Name, 0, 1)
				if err != nil {
					return err
				}
				fmt.Fprintf(os.Stderr, "%s %s: %s, %.1f s\n", l.Name, trouble.Name, markOf(&played.Cell, l), played.Wall)
				return t.add(program, record{Library: name, Version: s.Version, Judged: judgedCell(l, trouble), Cell: &played})
			})
		}
	}
	if err := book.Do(runtime.NumCPU(), jobs); err != nil || !live {
		return err
	}
	return t.measureLive(name, program, s)
}

// add stores a record that a program has made.
func (t *table) add(program *book.Program, r record) error {
	r.Commit, r.Date = program.Commit, time.Now().UTC().Format(time.DateOnly)
	return t.stored.Add(r)
}

func (t *table) sheetOf(name string) *libraries.Sheet {
	r, _ := t.stored.Latest(key{library: name})
	return r.Sheet
}

// cellOf is the cell of a lock as it is used and judged now.
func (t *table) cellOf(name, version string, l libraries.LockSheet, trouble libraries.Trouble) (record, bool) {
	return t.stored.Latest(cellKey(name, version, l, trouble))
}

func cellKey(name, version string, l libraries.LockSheet, trouble libraries.Trouble) key {
	return key{library: name, version: version, judged: judgedCell(l, trouble), lock: l.Name, trouble: trouble.Name}
}

// rules is raised when cells are judged by other rules than before: those of docs/explanation/verdicts.md.
const rules = 3

// judgedCell identifies how a lock is used and what it is judged by in a cell.
func judgedCell(l libraries.LockSheet, t libraries.Trouble) string {
	return sum(rules, l.Options, l.Promise, l.Servers, l.Detection, l.Says, l.Misuse, l.Refuses, l.Runs, t.Faults)
}

// judged identifies how a lock is used and what it is judged by in a live run.
func judged(l libraries.LockSheet) string { return sum(l.Options, l.Promise, l.Servers, l.Detection) }

func sum(of ...any) string {
	text, err := json.Marshal(of)
	if err != nil {
		panic(err) // it has strings and numbers alone
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// same reports whether two values are the same as JSON.
func same(a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return cmp.Or(err1, err2) == nil && string(x) == string(y)
}
