// Command cmd puts other people's lock libraries on trial, each against its own promise.
//
//	go run ./cmd                        # the libraries, and the troubles
//	go run ./cmd redsync                # what redsync promises, and how it is used
//	go run ./cmd redsync network        # the cells of its locks in one trouble, with the smallest story of each failure
//	go run ./cmd redsync explore --lock redsync-5 --promise    # any command of locksim, in the program with these locks
//	go run ./cmd -table                 # plays the cells that are missing, and writes reports/LIBRARIES.md and its pages
//	go run ./cmd -table -live           # also plays live what is missing there: it needs the real servers
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
	"os/exec"
	"slices"
	"strings"

	"locksim/examples/libraries"
)

func main() {
	err := run()
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
	table := flag.Bool("table", false, "play the cells that are missing, of all libraries or of those that are named, "+
		"and write the pages")
	live := flag.Bool("live", false, "with -table: also play on real servers what was not yet")
	stored := flag.Bool("stored", false, "with -table: play nothing")
	check := flag.Bool("check", false, "play the printed command of each failure, of all libraries or of those that are "+
		"named, and compare it with its page")
	anew := flag.Bool("anew", false, "with -table: play all cells again")
	runs := flag.Int("runs", 0, "in how many runs of a cell each class of fault is felt; 0 for that of the lock")
	seed := flag.Uint64("seed", 1, "the seed of the first schedule")
	flag.Usage = usage
	flag.Parse()
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
	b := &builder{dir: work}
	if *table || *check {
		for _, name := range flag.Args() {
			if !slices.Contains(names, name) {
				return unknown(name, names)
			}
		}
		if *check {
			return checkPages(b, names, flag.Args())
		}
		return makeTable(b, names, flag.Args(), choices{live: *live, stored: *stored, anew: *anew})
	}
	if flag.NArg() == 0 {
		usage()
		return nil
	}
	name, words := flag.Arg(0), flag.Args()[1:]
	if !slices.Contains(names, name) {
		return unknown(name, names)
	}
	program, err := b.build(name)
	if err != nil {
		return err
	}
	s, err := b.sheet(program)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		printSheet(os.Stdout, s)
		return nil
	}
	t, err := libraries.FindTrouble(words[0])
	if err != nil { // it is a command of locksim
		cmd := lockCommand(program, name, words)
		var ended *exec.ExitError
		if err := cmd.Run(); errors.As(err, &ended) {
			os.Exit(ended.ExitCode()) //nolint:gocritic // the folder of the program is in the way of nothing
		} else if err != nil {
			return err
		}
		return nil
	}
	if len(words) > 1 {
		return fmt.Errorf("%q after the trouble: flags stand before the library, as in go run ./cmd -runs 50 %s %s", words[1],
			name, t.Name)
	}
	for _, l := range s.Locks {
		c, err := b.cell(program, l.Name, t.Name, *runs, *seed)
		if err != nil {
			return err
		}
		printCell(os.Stdout, s, l, t, c)
	}
	return nil
}

// lockCommand is a command of locksim in the program of a library. What it prints names this program, which can be
// called again, and not the other one, which is removed afterwards.
func lockCommand(program, name string, words []string) *exec.Cmd {
	cmd := exec.Command(program, words...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "LOCKSIM_COMMAND=go run ./cmd "+name)
	return cmd
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
