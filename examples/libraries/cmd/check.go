package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"locksim/checker"
	"locksim/examples/libraries"
	"locksim/internal/book"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
)

// printed is a command that a page prints beside a failure, and what the page says that it shows.
type printed struct {
	story
	args []string
}

// printedOf are those of a library, with the files of the schedules in the folder of the pages.
func (t *table) printedOf(name string, s libraries.Sheet) (out []printed) {
	b, files := &overview{Troubles: libraries.Troubles()}, map[string][]byte{}
	for _, row := range t.page(name, s, b, files).Rows {
		for _, cell := range row.Cells {
			for _, x := range cell.Stories {
				if x.File != "" {
					file := filepath.Join(reports, "libraries", filepath.FromSlash(x.File))
					out = append(out, printed{x, storyCommand(row.LockSheet, cell.Trouble, x.Failure, file)})
				}
			}
		}
	}
	return out
}

// play plays a printed command, and says how what it shows differs from the page: another label in the mode of which
// the page speaks, or another sentence.
func (p printed) play(program *book.Program) error {
	var f outcome.RunFile
	if _, err := book.Ask(&f, program.File, append(p.args, "--json")...); err != nil {
		return fmt.Errorf("%s: %w", p.Command, err)
	}
	m, ok := f.Modes[p.Mode]
	switch {
	case !ok:
		return fmt.Errorf("%s plays no mode %s, of which the page speaks", p.Command, p.Mode)
	case m.Verdict != p.Verdict:
		return fmt.Errorf("%s prints %s in mode %s, and the page has %s", p.Command, m.Verdict, p.Mode, p.Verdict)
	case len(m.Reasons) == 0 || len(p.Reasons) == 0 || m.Reasons[0] != p.Reasons[0]:
		return fmt.Errorf("%s does not say what the page says: %q", p.Command, p.Reasons)
	}
	return nil
}

// shown plays the scenario of a finding. An error says that it does not show it.
func shown(dir string, program *book.Program, x libraries.Shown) error {
	file := filepath.Join(dir, "shows-"+x.Lock+".yaml")
	if err := os.WriteFile(file, []byte(x.Source), 0o600); err != nil {
		return err
	}
	var f outcome.RunFile
	_, err := book.Ask(&f, program.File, "run", file, "--lock", x.Lock, "--fencing", "none", "--json")
	if err != nil {
		return err
	}
	if label := f.Modes[fence.None].Verdict; label == checker.Safe {
		return fmt.Errorf("its scenario does not show it: %s is %s", x.Lock, label)
	}
	return nil
}

// checkTables plays the printed commands of some libraries, and the scenarios of their findings.
func (t *table) checkTables(names []string) error {
	var failed error
	for _, name := range names {
		s := t.sheetOf(name)
		if s == nil {
			return fmt.Errorf("no cell of %s is stored: go run ./cmd -table %[1]s plays them", name)
		}
		program, err := build(t.programs, name)
		if err != nil {
			return err
		}
		now, err := askSheet(program)
		if err != nil {
			return err
		}
		if !same(now, *s) {
			failed = errors.Join(failed, fmt.Errorf("the pages of %s are not of what it is now: go run ./cmd -table %[1]s "+
				"plays what is missing", name))
		}
		all, differ := t.printedOf(name, *s), 0
		for _, p := range all {
			if err := p.play(program); err != nil {
				failed = errors.Join(failed, err)
				differ++
			}
		}
		shows := 0
		for _, f := range s.Findings {
			for _, x := range f.Shows {
				shows++
				if err := shown(t.programs.Dir, program, x); err != nil {
					failed = errors.Join(failed, fmt.Errorf("%s: %w", f.ID, err))
				}
			}
		}
		fmt.Printf("%s: %d printed commands, %d of which differ from the page; %d scenarios of findings\n", name, len(all),
			differ, shows)
	}
	return failed
}
