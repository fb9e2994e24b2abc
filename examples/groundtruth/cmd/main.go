// Command cmd plays published bugs of other people's locks, each in exactly the version that has it, and the recipes
// that people copy from articles.
//
//	go run ./cmd redsync-151           # one bug, from its first seed, with its story
//	go run ./cmd A3                    # one recipe
//	go run ./cmd -fixed redsync-151    # the version without it
//	go run ./cmd -helped redsync-4.5   # with the smallest change that finds it, where the defaults do not
//	go run ./cmd redsync-151 replay F  # any command of locksim, in the program with that lock
//	go run ./cmd -table                # all of them, from three first seeds, for reports/GROUNDTRUTH.md; goes on
//	                                   # after an interruption
//
// Run it in examples/groundtruth. The exit code is 0, also when a bug is found; 2 for bad input.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"locksim/examples/groundtruth"
	"locksim/internal/journal"
)

func main() {
	err := run()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.Exited() { // a command of locksim, which has said why
		os.Exit(ended.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run() error {
	fixed := flag.Bool("fixed", false, "the version without the bug")
	helped := flag.Bool("helped", false, "with the smallest change that finds it")
	table := flag.Bool("table", false, "play every bug, or those that are named, and write the table")
	page := flag.Bool("page", false, "with -table: play nothing, and write the pages of what the journal has")
	earlier := flag.Bool("earlier", false, "with -table: keep the results of earlier programs, but for those of no "+
		"commit or of fewer schedules")
	seed := flag.Uint64("seed", groundtruth.FirstSeeds[0], "the first seed")
	file := flag.String("journal", "results.jsonl", "with -table: the file of the results")
	out := flag.String("out", "../../reports/GROUNDTRUTH.md", "with -table: the index that is written, beside the "+
		"folder with a page for each row")
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
	if _, err := os.Stat("versions.sum"); err != nil {
		return fmt.Errorf("run it in the folder examples/groundtruth: %w", err)
	}
	work, err := os.MkdirTemp("", "groundtruth-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	b := &builder{dir: work}
	if *table {
		bugs, err := named(flag.Args())
		if err != nil {
			return err
		}
		j, err := journal.Open[result](*file)
		if err != nil {
			return err
		}
		defer func() { _ = j.Close() }() // each line is written at once
		t := &measurement{builder: b, journal: j, earlier: *earlier}
		var failed error
		if !*page {
			failed = t.measure(bugs)
		}
		return errors.Join(failed, t.write(*out, groundtruth.Bugs()))
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
		return lockCommand(program, bug.ID, *fixed, words).Run()
	}
	dir := filepath.Join("testdata", "locksim", strings.TrimRight(bug.ID+"-"+version, "-"))
	if err := os.RemoveAll(dir); err != nil { // else the failure that is there is tried first
		return err
	}
	played, err := play(program, groundtruth.Play{Bug: bug.ID, Version: version, Seed: *seed, Helped: *helped, Dir: dir},
		work)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %.1f s of CPU time\n%s\n", strings.TrimSpace(cmp.Or(bug.Module, bug.ID)+" "+version),
		played.cpu.Seconds(), played.Text)
	return nil
}

// lockCommand is a command of locksim in the program of a bug. What it prints names this program, which can be called
// again, and not the other one, which is removed afterwards.
func lockCommand(program, bug string, fixed bool, words []string) *exec.Cmd {
	called := "go run ./cmd "
	if fixed {
		called += "-fixed "
	}
	cmd := exec.Command(program, words...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "LOCKSIM_COMMAND="+called+bug)
	return cmd
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
