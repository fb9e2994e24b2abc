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
	"slices"
	"strings"
	"sync"
	"time"

	"locksim/examples/libraries"
	"locksim/internal/journal"
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

// choices are the flags of the table.
type choices struct{ live, stored, anew bool }

// table has what is stored, and adds to it.
type table struct {
	*builder
	journal *journal.Journal[record]
	commit  string

	mu   sync.Mutex // of made
	made []record
}

// makeTable plays what is missing of some libraries, of all where none are named, and writes the pages of all.
func makeTable(b *builder, all, named []string, c choices) error {
	j, err := journal.Open[record]("cells.jsonl")
	if err != nil {
		return err
	}
	defer func() { _ = j.Close() }() // each line is written at once
	t := &table{builder: b, journal: j}
	if t.commit, err = commit(); err != nil {
		return err
	}
	if len(named) == 0 {
		named = all
	}
	var failed error
	for _, name := range named {
		if c.stored {
			break
		}
		if err := t.measure(name, c); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(failed, t.write(all))
}

// checkPages checks the pages of some libraries, of all where none are named.
func checkPages(b *builder, all, named []string) error {
	j, err := journal.Open[record]("cells.jsonl")
	if err != nil {
		return err
	}
	defer func() { _ = j.Close() }() // nothing is written
	if len(named) == 0 {
		named = all
	}
	if err := (&table{builder: b, journal: j}).checkTables(named); err != nil {
		return fmt.Errorf("%w: %w", errDiffers, err)
	}
	return nil
}

// measure plays what is missing of a library.
func (t *table) measure(name string, c choices) error {
	program, err := t.build(name)
	if err != nil {
		return err
	}
	s, err := t.sheet(program)
	if err != nil {
		return err
	}
	if old := t.sheetOf(name); old == nil || !same(*old, s) {
		if err := t.add(record{Library: name, Version: s.Version, Sheet: &s}); err != nil {
			return err
		}
	}
	var jobs []func() error
	for _, l := range s.Locks {
		for _, trouble := range libraries.Troubles() {
			if _, ok := t.cellOf(name, s.Version, l, trouble); ok && !c.anew {
				continue
			}
			jobs = append(jobs, func() error {
				played, err := t.cell(program, l.Name, trouble.Name, 0, 1)
				if err != nil {
					return err
				}
				fmt.Fprintf(os.Stderr, "%s %s: %s, %.1f s\n", l.Name, trouble.Name, markOf(&played.Cell, l), played.Wall)
				return t.add(record{Library: name, Version: s.Version, Judged: judgedCell(l, trouble), Cell: &played})
			})
		}
	}
	if err := together(runtime.NumCPU(), jobs); err != nil || !c.live {
		return err
	}
	return t.measureLive(name, program, s)
}

// together does jobs, some at a time. What fails in one does not stop the others.
func together(workers int, jobs []func() error) error {
	todo, failed := make(chan func() error), make([]error, workers)
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() {
			for job := range todo {
				failed[i] = errors.Join(failed[i], job())
			}
		})
	}
	for _, job := range jobs {
		todo <- job
	}
	close(todo)
	all.Wait()
	return errors.Join(failed...)
}

// add stores a record.
func (t *table) add(r record) error {
	r.Commit, r.Date = t.commit, time.Now().UTC().Format(time.DateOnly)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made = append(t.made, r)
	return t.journal.Add(r)
}

// latest is the last record for which is holds.
func (t *table) latest(is func(r record) bool) (record, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range slices.Backward(slices.Concat(t.journal.Made(), t.made)) {
		if is(r) {
			return r, true
		}
	}
	return record{}, false
}

func (t *table) sheetOf(name string) *libraries.Sheet {
	r, _ := t.latest(func(r record) bool { return r.Library == name && r.Sheet != nil })
	return r.Sheet
}

// cellOf is the cell of a lock as it is used and judged now.
func (t *table) cellOf(name, version string, l libraries.LockSheet, trouble libraries.Trouble) (record, bool) {
	return t.latest(func(r record) bool {
		return r.Library == name && r.Version == version && r.Cell != nil && r.Cell.Lock == l.Name &&
			r.Cell.Trouble == trouble.Name &&
			r.Judged == judgedCell(l, trouble)
	})
}

// rules is raised when cells are judged by other rules than before: those of docs/verdicts.md.
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

// commit is the state of locksim. What this command writes itself is no change of it.
func commit() (string, error) {
	id, _, err := command("git", "rev-parse", "--short", "HEAD")
	if err != nil {
		return "", err
	}
	changed, _, err := command("git", "status", "--porcelain", "--untracked-files=no", "../..", ":!../../reports",
		":!cells.jsonl")
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(string(id))
	if len(changed) > 0 {
		text += "-dirty"
	}
	return text, nil
}
