// Command cmd puts other people's lock libraries on trial, each against its own promise.
//
//	go run ./cmd                        # the libraries, and the troubles
//	go run ./cmd redsync                # what redsync promises, and how it is used
//	go run ./cmd redsync network        # the cells of its locks in one trouble, with the smallest story of each failure
//	go run ./cmd redsync explore --lock redsync-5 --promise    # any command of locksim, in the program with these locks
//	go run ./cmd -table                 # plays the cells that are missing, and writes reports/LIBRARIES.md and its pages
//	go run ./cmd -table -live           # also plays live what is missing there: it needs the real servers
//	go run ./cmd -table -anew           # also plays again what was made at another commit
//	go run ./cmd -table -stored         # only writes the pages, from the stored cells
//	go run ./cmd -check                 # plays the printed command of each failure, and compares it with its page
//
// Run it in examples/libraries. The exit code is 0, also where a promise is broken; 1 where -check finds a difference;
// 2 for bad input.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"locksim/examples/libraries"
	"locksim/internal/book"
)

func main() {
	err := run()
	if ended, ok := errors.AsType[book.Ended](err); ok {
		os.Exit(ended.Code)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	switch {
	case errors.Is(err, errDiffers):
		os.Exit(1)
	case err != nil:
		os.Exit(2)
	}
}

// errDiffers is returned when a page does not say what its commands print.
var errDiffers = errors.New("the pages do not say what their commands print")

func run() error {
	choices := book.Flags(flag.CommandLine, "cells.jsonl")
	live := flag.Bool("live", false, "with -table: also play on real servers what was not yet")
	check := flag.Bool("check", false, "play the printed command of each failure, of all libraries or of those that are "+
		"named, and compare it with its page")
	runs := flag.Int("runs", 0, "in how many runs of a cell each class of fault is felt; 0 for that of the lock")
	seed := flag.Uint64("seed", 1, "the seed of the first schedule")
	flag.Usage = usage
	flag.Parse()
	if err := choices.Check(); err != nil {
		return err
	}
	if _, err := os.Stat("library.go"); err != nil {
		return fmt.Errorf("run it in the folder examples/libraries: %w", err)
	}
	names, err := folders()
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "libraries-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	b := &book.Builder{Dir: work, Commits: choices.Table}
	if choices.Table || *check {
		for _, name := range flag.Args() {
			if !slices.Contains(names, name) {
				return unknown(name, names)
			}
		}
		if *check {
			return checkPages(b, choices.Journal, names, flag.Args())
		}
		return makeTable(b, names, flag.Args(), choices, *live)
	}
	if flag.NArg() == 0 {
		usage()
		return nil
	}
	name, words := flag.Arg(0), flag.Args()[1:]
	if !slices.Contains(names, name) {
		return unknown(name, names)
	}
	program, err := build(b, name)
	if err != nil {
		return err
	}
	s, err := askSheet(program)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		printSheet(os.Stdout, s)
		return nil
	}
	t, err := libraries.FindTrouble(words[0])
	if err != nil { // it is a command of locksim
		return book.Call(program.File, "go run ./cmd "+name, words)
	}
	if len(words) > 1 {
		return fmt.Errorf("%q after the trouble: flags stand before the library, as in go run ./cmd -runs 50 %s %s", words[1],
			name, t.Name)
	}
	for _, l := range s.Locks {
		c, err := playCell(program, l.Name, t.Name, *runs, *seed)
		if err != nil {
			return err
		}
		printCell(os.Stdout, s, l, t, c)
	}
	return nil
}

func unknown(name string, names []string) error {
	return fmt.Errorf("there is no library %q: choose from %s", name, strings.Join(names, ", "))
}

func usage() {
	out := flag.CommandLine.Output()
	_, _ = fmt.Fprint(out, "go run ./cmd LIBRARY [TROUBLE | COMMAND OF LOCKSIM…]    or    go run ./cmd -table "+
		"[LIBRARY…]    or    go run ./cmd -check [LIBRARY…]\n\nThe libraries:\n")
	names, _ := folders()
	_, _ = fmt.Fprintf(out, "  %s\n\nThe troubles:\n", strings.Join(names, ", "))
	for _, t := range libraries.Troubles() {
		_, _ = fmt.Fprintf(out, "  %-14s %s\n", t.Name, t.Means)
	}
	_, _ = fmt.Fprint(out, "\nThe flags:\n")
	flag.PrintDefaults()
}
