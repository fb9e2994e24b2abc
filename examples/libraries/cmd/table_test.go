package main

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"locksim/examples/libraries"
	"locksim/internal/book"
)

// stored is the table of what is stored, with the names of the libraries.
func stored(t *testing.T) (*table, []string) {
	t.Helper()
	t.Chdir("..")
	b, err := book.Read("cells.jsonl", record.key)
	if err != nil {
		t.Fatal(err)
	}
	names, err := folders()
	if err != nil {
		t.Fatal(err)
	}
	return &table{programs: &book.Builder{Dir: t.TempDir()}, stored: b}, names
}

// The pages in the repository are those of the stored cells, and no cell is missing.
func TestPagesAreOfTheStoredCells(t *testing.T) {
	tab, names := stored(t)
	files, err := tab.files(names)
	if err != nil {
		t.Fatal(err)
	}
	differ, err := book.Differ(reports, "libraries", files)
	if err != nil || len(differ) > 0 {
		t.Errorf("%v are not of the stored cells: run go run ./cmd -table -stored; %v", differ, err)
	}
	for _, name := range names {
		s := tab.sheetOf(name)
		if s == nil {
			t.Errorf("no cell of %s is stored", name)
			continue
		}
		for _, l := range s.Locks {
			for _, trouble := range libraries.Troubles() {
				if _, ok := tab.cellOf(name, s.Version, l, trouble); !ok {
					t.Errorf("%s %s was not played", l.Name, trouble.Name)
				}
			}
		}
	}
}

// Each broken sentence has a finding that explains it, each of these is of the library, and those that are not known
// have a draft.
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
				r, ok := tab.cellOf(name, s.Version, l, trouble)
				if !ok {
					continue
				}
				why := l.Why[trouble.Name]
				if broken(&r.Cell.Cell, l) && len(why) == 0 {
					t.Errorf("%s %s breaks what its documentation says, and no finding explains it", l.Name, trouble.Name)
				}
				for _, id := range why {
					if !slices.ContainsFunc(s.Findings, func(f libraries.Finding) bool { return f.ID == id }) {
						t.Errorf("%s %s: %s has no finding %q", l.Name, trouble.Name, name, id)
					}
				}
				for _, p := range partsOf(&r.Cell.Cell, l) {
					if p.NoVerdict != "" {
						t.Errorf("%s %s has no verdict: %s", l.Name, trouble.Name, p.NoVerdict)
					}
				}
			}
		}
	}
}

// What a page prints beside a failure shows what the page says: each command, and each scenario of a finding. Without
// LOCKSIM_SOAK=1 three commands of libraries whose programs need no overlay are played, with which all is compiled
// anew.
func TestPrintedCommands(t *testing.T) {
	tab, names := stored(t)
	if os.Getenv("LOCKSIM_SOAK") == "1" {
		if err := tab.checkTables(names); err != nil {
			t.Error(err)
		}
		return
	}
	if testing.Short() {
		t.Skip("the programs take a minute to compile")
	}
	for _, name := range []string{"redsync", "gocron", "etcd"} {
		program, err := build(tab.programs, name)
		if err != nil {
			t.Fatal(err)
		}
		s := tab.sheetOf(name)
		all := tab.printedOf(name, *s)
		if len(all) == 0 {
			t.Errorf("%s has no failure", name)
			continue
		}
		if err := all[0].play(program); err != nil {
			t.Error(err)
		}
		for _, f := range s.Findings {
			for _, x := range f.Shows[:min(1, len(f.Shows))] {
				if err := shown(t.TempDir(), program, x); err != nil {
					t.Errorf("%s: %v", f.ID, err)
				}
			}
		}
	}
}

// Of each lock of a library the first runs where nothing fails still pass that passed.
func TestCellsStayTrue(t *testing.T) {
	tab, names := stored(t)
	if os.Getenv("LOCKSIM_SOAK") != "1" {
		t.Skip("its programs take minutes to compile: LOCKSIM_SOAK=1 plays it")
	}
	for _, name := range names {
		program, err := build(tab.programs, name)
		if err != nil {
			t.Fatal(err)
		}
		s := tab.sheetOf(name)
		for _, l := range s.Locks {
			c, err := playCell(program, l.Name, "none", 5, 1)
			if err != nil {
				t.Fatal(err)
			}
			trouble, _ := libraries.FindTrouble("none")
			if r, ok := tab.cellOf(name, s.Version, l, trouble); !ok || broken(&r.Cell.Cell, l) != broken(&c.Cell, l) {
				t.Errorf("%s none: it is %s now", l.Name, markOf(&c.Cell, l))
			}
		}
	}
}
