package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"locksim/checker"
	"locksim/examples/libraries"
	"locksim/internal/journal"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
)

// stored is the table of what is stored, with the names of the libraries.
func stored(t *testing.T) (*table, []string) {
	t.Helper()
	t.Chdir("..")
	text, err := os.ReadFile("cells.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "cells.jsonl") // opening a journal may change it
	if err := os.WriteFile(copied, text, 0o644); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open[record](copied)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	names, err := folders()
	if err != nil {
		t.Fatal(err)
	}
	return &table{builder: &builder{dir: t.TempDir()}, journal: j}, names
}

// The pages in the repository are those of the stored cells, and no cell is missing.
func TestPagesAreOfTheStoredCells(t *testing.T) {
	tab, names := stored(t)
	files, err := tab.files(names)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if have, err := os.ReadFile(filepath.Join(reports, name)); err != nil || !bytes.Equal(have, text) {
			t.Errorf("%s is not of the stored cells: run go run ./cmd -table -stored", name)
		}
	}
	for _, name := range names {
		s := tab.sheetOf(name)
		if s == nil {
			t.Errorf("no cell of %s is stored", name)
			continue
		}
		for _, l := range s.Locks {
			for _, trouble := range libraries.Troubles() {
				if _, ok := tab.cellOf(name, s.Version, l, trouble.Name); !ok {
					t.Errorf("%s %s was not played", l.Name, trouble.Name)
				}
			}
		}
	}
}

// Each broken promise has a finding that explains it, each of these is of the library, and those that are not known have a
// draft. No explanation is left where the promise is kept.
func TestFindingsExplainWhatIsBroken(t *testing.T) {
	tab, names := stored(t)
	for _, name := range names {
		s := tab.sheetOf(name)
		if s == nil {
			continue
		}
		for _, f := range s.Findings {
			switch f.Status {
			case libraries.NotKnown:
				if _, err := os.Stat(filepath.Join("../../docs/upstream", cmp.Or(f.Draft, "none"))); err != nil {
					t.Errorf("%s: %s is not known, and has no draft: %v", name, f.ID, err)
				}
			case libraries.Known:
				if f.Link == "" {
					t.Errorf("%s: %s is known, and has no link", name, f.ID)
				}
			case libraries.Documented:
			default:
				t.Errorf("%s: %s has the status %q", name, f.ID, f.Status)
			}
		}
		for _, l := range s.Locks {
			for _, trouble := range libraries.Troubles() {
				r, ok := tab.cellOf(name, s.Version, l, trouble.Name)
				if !ok {
					continue
				}
				why := l.Why[trouble.Name]
				if broken := r.Cell.Promise != nil && r.Cell.Promise.Violating > 0; broken != (len(why) > 0) {
					t.Errorf("%s %s: broken %v, explained by %q", l.Name, trouble.Name, broken, why)
				}
				for _, id := range why {
					if !slices.ContainsFunc(s.Findings, func(f libraries.Finding) bool { return f.ID == id }) {
						t.Errorf("%s %s: %s has no finding %q", l.Name, trouble.Name, name, id)
					}
				}
				for _, p := range partsOf(&r.Cell.Cell) {
					if p.NoVerdict != "" {
						t.Errorf("%s %s has no verdict: %s", l.Name, trouble.Name, p.NoVerdict)
					}
				}
			}
		}
	}
}

// The cells stay true: of each library a few schedules still pass that passed, and one that broke a promise still breaks
// it in the same way; the scenarios of findings show them. Only LOCKSIM_SOAK=1 plays a library whose program needs the overlay, with which all is compiled anew.
func TestCellsStayTrue(t *testing.T) {
	tab, names := stored(t)
	whole := os.Getenv("LOCKSIM_SOAK") == "1"
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			needed, err := overlaid(name)
			if err != nil {
				t.Fatal(err)
			}
			if needed && !whole || testing.Short() {
				t.Skip("its program takes minutes to compile: LOCKSIM_SOAK=1 plays it")
			}
			program, err := tab.build(name)
			if err != nil {
				t.Fatal(err)
			}
			s, err := tab.sheet(program)
			if err != nil {
				t.Fatal(err)
			}
			if !same(s, *tab.sheetOf(name)) {
				if !whole {
					t.Skipf("the stored cells were judged by another promise or at another version: go run ./cmd -table %s plays them anew", name)
				}
				t.Errorf("the stored sheet is not that of the program: run go run ./cmd -table %s", name)
			}
			again := func(l libraries.LockSheet, trouble string, runs int, seed uint64) *libraries.Part {
				c, err := tab.cell(program, l.Name, trouble, runs, seed)
				if err != nil {
					t.Fatal(err)
				}
				return c.Promise
			}
			for _, found := range s.Findings {
				for _, x := range found.Shows {
					scenario := filepath.Join(t.TempDir(), "shows.yaml")
					if err := os.WriteFile(scenario, []byte(x.Source), 0o600); err != nil {
						t.Fatal(err)
					}
					text, _, err := command(program, "run", scenario, "--lock", x.Lock, "--fencing", "none", "--json")
					if err != nil {
						t.Fatal(err)
					}
					var f outcome.RunFile
					if err := json.Unmarshal(text, &f); err != nil {
						t.Fatal(err)
					}
					if label := f.Modes[fence.None].Verdict; label == checker.Safe {
						t.Errorf("its scenario does not show it: %s is %s", x.Lock, label)
					}
				}
			}
			seen := 0
			for _, l := range s.Locks {
				r, ok := tab.cellOf(name, s.Version, l, "none")
				if p := r.Cell; ok && p.Promise != nil && p.Promise.Violating == 0 && seen == 0 {
					if p := again(l, "none", 5, 1); p.Violating > 0 || p.NoVerdict != "" {
						t.Errorf("%s none: %d of %d runs break it now %s", l.Name, p.Violating, p.Runs, p.NoVerdict)
					}
				}
				for _, trouble := range libraries.Troubles() {
					r, ok := tab.cellOf(name, s.Version, l, trouble.Name)
					if !ok || r.Cell.Promise == nil || len(r.Cell.Promise.Failures) == 0 || seen > 0 {
						continue
					}
					seen++
					f := r.Cell.Promise.Failures[0]
					if p := again(l, trouble.Name, 1, f.Seed); len(p.Failures) == 0 || p.Failures[0].What != f.What {
						t.Errorf("%s %s, seed %s: was %q, and is %+v", l.Name, trouble.Name, strconv.FormatUint(f.Seed, 10), f.What, p.Failures)
					}
				}
			}
		})
	}
}
