// Command cmd plays published bugs of other people's locks, each in exactly the version that has it, and the recipes
// that people copy from articles.
//
//	go run ./cmd redsync-151           # one bug, from its first seed, with its story
//	go run ./cmd A3                    # one recipe
//	go run ./cmd -fixed redsync-151    # the version without it
//	go run ./cmd -helped redsync-4.5   # with the smallest change that finds it, where the defaults do not
//	go run ./cmd redsync-151 replay F  # any command of locksim, in the program with that lock
//	go run ./cmd -table                # plays what is missing, from three first seeds, and writes reports/GROUNDTRUTH.md
//	                                   # and its pages; goes on after an interruption
//	go run ./cmd -table -anew          # also plays again what was made at another commit, by another program
//	go run ./cmd -table -stored        # only writes the pages, from the stored results
//
// Run it in examples/groundtruth. The exit code is 0, also when a bug is found; 2 for bad input.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"locksim/examples/groundtruth"
	"locksim/internal/book"
)

func main() {
	err := run()
	if ended, ok := errors.AsType[book.Ended](err); ok {
		os.Exit(ended.Code)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run() error {
	fixed := flag.Bool("fixed", false, "the version without the bug")
	helped := flag.Bool("helped", false, "with the smallest change that finds it")
	choices := book.Flags(flag.CommandLine, "results.jsonl")
	seed := flag.Uint64("seed", groundtruth.FirstSeeds[0], "the first seed")
	flag.Usage = func() {
		_, _ = fmt.Fprintln(flag.CommandLine.Output(), "go run ./cmd [FLAGS] BUG [COMMAND OF LOCKSIM…]    or    go run "+
			"./cmd -table [FLAGS] [BUG…]\n\nThe bugs, and the recipes of articles:")
		for _, b := range groundtruth.All() {
			_, _ = fmt.Fprintf(flag.CommandLine.Output(), "  %-24s %s %s\n", b.ID, cmp.Or(b.Module, b.Mechanism), b.Has)
		}
		_, _ = fmt.Fprintln(flag.CommandLine.Output(), "\nThe flags:")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := choices.Check(); err != nil {
		return err
	}
	if _, err := os.Stat("versions.sum"); err != nil {
		return fmt.Errorf("run it in the folder examples/groundtruth: %w", err)
	}
	work, err := os.MkdirTemp("", "groundtruth-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	b := &builder{Builder: &book.Builder{Dir: work, Commits: choices.Table}}
	if choices.Table {
		bugs, err := named(flag.Args())
		if err != nil {
			return err
		}
		return makeTable(b, bugs, choices)
	}
	if flag.NArg() == 0 {
		flag.Usage()
		return fmt.Errorf("name a bug or a recipe")
	}
	bugs, err := named(flag.Args()[:1])
	if err != nil {
		return err
	}
	bug, words := bugs[0], flag.Args()[1:]
	version := bug.Has
	if *fixed {
		if version = bug.HasNot; version == "" {
			return fmt.Errorf("%s is open: no version is without it", bug.ID)
		}
	}
	program, err := b.build(bug, version)
	if err != nil {
		return err
	}
	if len(words) > 0 {
		called := "go run ./cmd "
		if *fixed {
			called += "-fixed "
		}
		return book.Call(program.File, called+bug.ID, words)
	}
	dir := filepath.Join("testdata", "locksim", strings.TrimRight(bug.ID+"-"+version, "-"))
	if err := os.RemoveAll(dir); err != nil { // else the failure that is there is tried first
		return err
	}
	played, err := play(program.File, groundtruth.Play{Bug: bug.ID, Version: version, Seed: *seed, Helped: *helped,
		Dir: dir}, work)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %.1f s of CPU time\n%s\n", strings.TrimSpace(cmp.Or(bug.Module, bug.ID)+" "+version),
		played.cpu.Seconds(), played.Text)
	return nil
}

// named are the bugs with some ids, and all without any.
func named(ids []string) ([]groundtruth.Bug, error) {
	if len(ids) == 0 {
		return groundtruth.All(), nil
	}
	var out []groundtruth.Bug
	for _, id := range ids {
		b, ok := groundtruth.Find(id)
		if !ok {
			return nil, fmt.Errorf("there is no bug or recipe %q; go run ./cmd -h lists them", id)
		}
		out = append(out, b)
	}
	return out, nil
}
