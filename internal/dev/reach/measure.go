package reach

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksim/internal/dev/mechanical"
	"locksim/internal/dev/patch"
)

// firstSeeds are the seeds with which the explorations begin.
var firstSeeds = []uint64{1, 1_000_001, 2_000_001}

// limits bound the search for one mutant. No result depends on the time.
type limits struct {
	// Runs bounds an exploration from one first seed. Starts is the number of first seeds.
	Runs   int `json:"runs"`
	Starts int `json:"starts"`
	// Seeds is the number of seeds of each scenario of the library.
	Seeds int `json:"seeds"`
	// Placements bounds a sweep: of more placements every second, third, … block is
	// played.
	Placements int `json:"placements"`
}

// found is the result of one search.
type found struct {
	// Exit is the exit code of the command: 1 if the mistake was found.
	Exit int `json:"exit"`
	// Runs counts the runs to the first violation, or all if there is none.
	Runs int `json:"runs,omitempty"`
	// What is the first violation, or the first scenario that was worse than expected.
	What string `json:"what,omitempty"`
	// Vacuous is the first scenario without contention, or in which a fault did not fire,
	// when no scenario was worse than expected. Such an exit code of 1 is no find.
	Vacuous string `json:"vacuous,omitempty"`
}

// found reports whether the mistake was found.
func (f found) found() bool {
	return f.Exit == exitPanicked || f.Exit == exitFails || f.Exit == exitFound && f.Vacuous == ""
}

// The exit codes of locksim that say something about a lock.
const (
	exitFound   = 1
	exitRefused = 2 // also of a sweep whose lock fails without any fault: there is nothing to sweep
	exitBroken  = 3

	// exitPanicked stands for 2 and 3 if the command names the call of the lock that panicked, or ends with its stack. It
	// is a find.
	exitPanicked = 100
	// exitFails stands for 2 if the command says that the lock cannot be made, that no client is granted it, that it does
	// not set the keys that it names, or that it sends without end, although nothing goes wrong. It is a find.
	exitFails = 101
)

// panicked is in the message about a panic of a lock.
const panicked = " panicked: "

// fails finds the messages about a lock that cannot be used at all. A run that is frozen says nothing: the machine may
// be too busy. The number of its events does not depend on the machine.
var fails = regexp.MustCompile(`, in a run without faults: (no client was granted it|no client had a key that its Keys name|.*: the lock of \w+ cannot be made: |.*: the run reached its limit of events )`)

// crashed finds what ends a program in package lock, as it would end that of a user: a fatal error of the Go runtime,
// such as that of a mutex that is not locked, or a panic in a goroutine that the lock has started. The goroutine that
// it ended is the first of the message; it ends with an empty line. A worker's message is in that of the command.
var crashed = regexp.MustCompile(`(?m)^(?:fatal error|panic): .*\n(?:.+\n)*\n(?:.+\n)*locksim/lock\.`)

// searched is a search for a mechanical mutant.
type searched struct {
	Kind   string `json:"kind"`
	Search string `json:"search"`          // the name of a step
	Start  int    `json:"start,omitempty"` // the index of the first seed of an exploration
	found
}

// explores reports whether the search is an exploration, or a part of one.
func (s searched) explores() bool { return s.Search == stepQuick || s.Search == stepExplore }

// kindResult has the searches of one kind of lock.
type kindResult struct {
	Kind    string  `json:"kind"`
	Library found   `json:"library"`
	Sweep   found   `json:"sweep"`
	Explore []found `json:"explore"` // by first seed
}

// found reports whether any search has found the mistake.
func (k kindResult) found() bool {
	for _, f := range append([]found{k.Library, k.Sweep}, k.Explore...) {
		if f.found() {
			return true
		}
	}
	return false
}

// locksim is a command of a program, which prints a JSON document. The error is about
// the machine. Arguments that the program refuses give exit code 2, which no lock without a mistake may have.
type locksim func(ctx context.Context, args ...string) (exit int, document []byte, err error)

// machine is what a search may take of the machine: child processes, and their priority for nice.
type machine struct{ workers, nice int }

// program is the locksim in a file, with a mutant of those that the file has; "" for none.
func program(file, mutant string, m machine, stderr io.Writer) locksim {
	return func(ctx context.Context, args ...string) (int, []byte, error) {
		args = append(args, "--json", "--quiet", "--workers", strconv.Itoa(m.workers))
		cmd := command(ctx, "nice", append([]string{"-n", strconv.Itoa(m.nice), file}, args...)...)
		cmd.Env = append(os.Environ(), mechanical.Chooser+"="+mutant, "GOGC=400") // a run has little live memory
		var messages strings.Builder
		cmd.Stderr = &messages
		out, err := cmd.Output()
		if ctx.Err() != nil {
			return 0, nil, context.Cause(ctx)
		}
		exit, isExit := errors.AsType[*exec.ExitError](err)
		if err != nil && !(isExit && slices.Contains([]int{exitFound, exitRefused, exitBroken}, exit.ExitCode())) {
			return 0, nil, fmt.Errorf("locksim %s: %w\n%s", strings.Join(args, " "), err, messages.String())
		}
		code := cmd.ProcessState.ExitCode()
		switch text := messages.String(); {
		case code > exitFound && (strings.Contains(text, panicked) || crashed.MatchString(text)):
			return exitPanicked, nil, nil
		case code == exitRefused && fails.MatchString(text):
			return exitFails, nil, nil
		}
		if code > exitFound {
			_, _ = io.WriteString(stderr, messages.String())
		}
		return code, out, nil
	}
}

// command is a command that the end of ctx interrupts, so that it can end the processes
// that it has started: compilers and workers.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	return cmd
}

// workshop makes programs for subjects. The mechanical mutants share one, as far as they can.
type workshop struct {
	root, dir string
	machine   machine
	stderr    io.Writer

	shared []mechanical.Edit // the mutants to put into the shared program
	has    map[string]bool   // those that it has; nil before it is built
}

// program builds locksim with the mistake of a subject, or takes the shared one.
func (w *workshop) program(ctx context.Context, s subject) (locksim, error) {
	if s.edit == nil {
		return w.single(ctx, s)
	}
	file := filepath.Join(w.dir, "locksim-shared")
	if w.has == nil {
		texts, has, err := mechanical.Schemata(w.root, w.shared)
		if err != nil {
			return nil, err
		}
		overlay, err := patch.WriteOverlay(w.root, w.dir, "shared", texts)
		if err != nil {
			return nil, err
		}
		if err := w.build(ctx, file, overlay); err != nil {
			return nil, fmt.Errorf("the program with all mechanical mutants: %w", errors.Unwrap(err))
		}
		w.has = has
	}
	if !w.has[s.name] {
		return w.single(ctx, s)
	}
	return program(file, s.name, w.machine, w.stderr), nil
}

// single builds a program for one subject.
func (w *workshop) single(ctx context.Context, s subject) (locksim, error) {
	overlay := ""
	if !s.isRight() {
		var err error
		if overlay, err = s.overlay(w.root, w.dir); err != nil {
			return nil, err
		}
	}
	file := filepath.Join(w.dir, "locksim")
	return program(file, "", w.machine, w.stderr), w.build(ctx, file, overlay)
}

// build builds locksim into a file.
func (w *workshop) build(ctx context.Context, file, overlay string) error {
	args := []string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", file}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := command(ctx, "go", append(args, theCommand)...)
	cmd.Dir = filepath.Join(w.root, itsModule)
	cmd.Env = append(os.Environ(), "GOTMPDIR="+w.dir)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return &buildError{fmt.Errorf("build locksim: %w\n%s", err, out)}
	}
	return nil
}

// buildError is the error of a program that does not compile.
type buildError struct{ error }

// measure searches the kinds of a subject for its mistake, and adds to the result what is missing there: with more
// first seeds than before, only the explorations from these. The search for a mutant ends with the first kind that has
// a find.
func measure(ctx context.Context, run locksim, s subject, sweepFile string, l limits, r *result) error {
	for i, kind := range s.kinds {
		if s.ended(*r, l) {
			return nil
		}
		if i == len(r.Kinds) {
			k := kindResult{Kind: kind}
			var err error
			if k.Library, err = library(ctx, run, kind, l.Seeds); err != nil {
				return fmt.Errorf("%s: %w", kind, err)
			}
			if k.Sweep, err = sweep(ctx, run, kind, sweepFile, l); err != nil {
				return fmt.Errorf("%s: %w", kind, err)
			}
			r.Kinds = append(r.Kinds, k)
		}
		k := &r.Kinds[i]
		for n := len(k.Explore); n < s.starts(l); n++ {
			f, err := explore(ctx, run, kind, firstSeeds[n], l.Runs)
			if err != nil {
				return fmt.Errorf("%s: %w", kind, err)
			}
			k.Explore = append(k.Explore, f)
		}
	}
	return nil
}

// The searches for a mechanical mutant. What is cheap and finds most comes first, in all kinds of lock.
const (
	stepQuick   = "explore, the first runs"
	stepOneSeed = "library, one seed"
	stepLibrary = "library"
	stepSweep   = "sweep"
	stepExplore = "explore"
)

// quickRuns are the first runs of an exploration, in which it finds most of what it finds at all.
const quickRuns = 100

// steps are the searches for a mechanical mutant, in their order. One that is argued to be equivalent gets the cheap
// ones only, which could prove the argument wrong.
func (s subject) steps() []string {
	if s.equivalent != "" {
		return []string{stepQuick, stepOneSeed}
	}
	return []string{stepQuick, stepOneSeed, stepLibrary, stepSweep, stepExplore}
}

// next is the search for a mechanical mutant that is missing first. The steps come one after another, each in all kinds
// of lock, until the first find. What an exploration finds is explored from the other first seeds too, in the kind in
// which it was found; and what nothing finds, in all kinds. ok is false if no search is missing.
func (s subject) next(r result, l limits) (missing searched, ok bool) {
	steps, done := s.steps(), len(r.Searches)
	all := len(steps) * len(s.kinds)
	find := r.find()
	if find < 0 && done < all {
		return searched{Kind: s.kinds[done%len(s.kinds)], Search: steps[done/len(s.kinds)]}, true
	}
	again := s.kinds
	switch {
	case find < 0 || find >= all: // not from the first seed
		done -= all
	case r.Searches[find].explores():
		done -= find + 1
		again = []string{r.Searches[find].Kind}
	default:
		return searched{}, false
	}
	if done >= (s.starts(l)-1)*len(again) {
		return searched{}, false
	}
	return searched{Kind: again[done%len(again)], Search: stepExplore, Start: 1 + done/len(again)}, true
}

// measureMechanical makes the searches that are missing; without a find only so many of the first steps. keep stores
// the result after each.
func measureMechanical(ctx context.Context, run locksim, s subject, sweepFile string, l limits, first int, r *result,
	keep func() error) error {
	for {
		search, ok := s.next(*r, l)
		if !ok || !r.found() && len(r.Searches) >= first*len(s.kinds) && first < len(s.steps()) {
			return nil
		}
		var err error
		switch search.Search {
		case stepQuick:
			search.found, err = explore(ctx, run, search.Kind, firstSeeds[0], min(quickRuns, l.Runs))
		case stepOneSeed:
			search.found, err = library(ctx, run, search.Kind, 1)
		case stepLibrary:
			search.found, err = library(ctx, run, search.Kind, l.Seeds)
		case stepSweep:
			search.found, err = sweep(ctx, run, search.Kind, sweepFile, l)
		case stepExplore:
			skip := 0
			if search.Start == 0 {
				skip = min(quickRuns, l.Runs) // they were made before
			}
			if l.Runs > skip {
				search.found, err = explore(ctx, run, search.Kind, firstSeeds[search.Start]+uint64(skip), l.Runs-skip)
				search.Runs += skip
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", search.Kind, err)
		}
		r.Searches = append(r.Searches, search)
		if err := keep(); err != nil {
			return err
		}
	}
}

// library plays the scenarios of the library that are about a kind.
func library(ctx context.Context, run locksim, kind string, seeds int) (found, error) {
	exit, doc, err := run(ctx, "matrix", "--lock", kind, "--seeds", strconv.Itoa(seeds))
	if err != nil {
		return found{}, err
	}
	var m struct {
		Cells []struct {
			Scenario, Mode, Label, Match, Vacuous string
			Seeds                                 int
		}
	}
	f := found{Exit: exit}
	if err := decode(doc, &m); err != nil {
		return f, err
	}
	vacuous := ""
	for _, c := range m.Cells {
		f.Runs += c.Seeds
		switch {
		case c.Match == "worse" && f.What == "":
			f.What = c.Scenario + ": " + c.Label
		case c.Vacuous != "" && vacuous == "":
			vacuous = c.Scenario
		}
	}
	if f.What == "" && exit == exitFound {
		f.Vacuous = vacuous
	}
	return f, nil
}

// document is what the documents of sweep and explore have in common.
type document struct {
	Plan    struct{ Placements int }
	Summary struct {
		Runs     int
		Failures []struct {
			FirstSeed  uint64 `json:"first_seed"`
			Violations []struct{ Mode, Label string }
		}
	}
}

// result is the result of a campaign, apart from the number of runs.
func (c document) result(exit int) found {
	f := found{Exit: exit, Runs: c.Summary.Runs}
	if len(c.Summary.Failures) > 0 && len(c.Summary.Failures[0].Violations) > 0 {
		v := c.Summary.Failures[0].Violations[0]
		f.What = v.Label + " in mode " + v.Mode
	}
	return f
}

// sweep places single faults. The first of very many shards tells how many placements
// there are.
func sweep(ctx context.Context, run locksim, kind, file string, l limits) (found, error) {
	const one = "0/100000"
	for shard := one; ; {
		exit, doc, err := run(ctx, "sweep", file, "--lock", kind, "--promise", "--shard", shard)
		if err != nil {
			return found{}, err
		}
		var c document
		if err := decode(doc, &c); err != nil {
			return found{Exit: exit}, err
		}
		if exit != 0 || shard != one {
			return c.result(exit), nil
		}
		shard = fmt.Sprintf("0/%d", max(1, (c.Plan.Placements+l.Placements-1)/l.Placements))
	}
}

// explore makes runs with random schedules until one is a violation. It begins with runs without faults, which have the
// seeds from 1 on whatever the first seed is; a violation in one of these has the number of its seed.
func explore(ctx context.Context, run locksim, kind string, first uint64, runs int) (found, error) {
	exit, doc, err := run(ctx, "explore", "--lock", kind, "--promise", "--runs", strconv.Itoa(runs),
		"--from-seed", strconv.FormatUint(first, 10))
	if err != nil {
		return found{}, err
	}
	var c document
	if err := decode(doc, &c); err != nil {
		return found{Exit: exit}, err
	}
	f := c.result(exit)
	if f.found() && len(c.Summary.Failures) > 0 {
		f.Runs = int(c.Summary.Failures[0].FirstSeed)
		if f.Runs >= int(first) {
			f.Runs -= int(first) - 1
		}
	}
	return f, nil
}

// decode reads a document. A command that could not even begin, with exit code 3, prints
// none.
func decode(doc []byte, v any) error {
	if len(doc) == 0 {
		return nil
	}
	if err := json.Unmarshal(doc, v); err != nil {
		return fmt.Errorf("read the document of locksim: %w", err)
	}
	return nil
}
