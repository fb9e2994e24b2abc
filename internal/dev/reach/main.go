package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
	"time"

	"locksim/internal/campaign"
	"locksim/internal/dev/checkout"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() { os.Exit(reach(os.Args[1:], os.Stdout, os.Stderr)) }

// request is what the flags ask for.
type request struct {
	wanted  *regexp.Regexp
	results string
	shard   campaign.Shard
	limits  limits
	machine machine

	ownTests  ownTests
	unitTests bool
	earlier   bool
	table     bool // no search
	steps     int  // how many of the searches for a mechanical mutant are made
}

// reach runs the program and returns its exit code.
func reach(args []string, stdout, stderr io.Writer) int {
	req, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitUsage
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "reach: %v\n", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code, err := work(ctx, req, stdout, stderr)
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "reach: %v\n", err)
		return exitFailed
	}
	return code
}

// parse reads the flags.
func parse(args []string, stderr io.Writer) (request, error) {
	flags := flag.NewFlagSet("reach", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var req request
	pattern := flags.String("run", "", "only the mutants whose GROUP/NAME matches this regular expression")
	shard := flags.String("shard", "0/1", "the part of the mutants to search: INDEX/COUNT")
	flags.StringVar(&req.results, "results", "", "the file of the results")
	flags.IntVar(&req.limits.Runs, "runs", 10_000, "end an exploration after so many runs")
	flags.IntVar(&req.limits.Starts, "starts", len(firstSeeds), "explore from so many first seeds")
	flags.IntVar(&req.limits.Seeds, "seeds", 3, "play each scenario of the library with so many seeds")
	flags.IntVar(&req.limits.Placements, "placements", 500, "place about so many faults in a sweep")
	flags.IntVar(&req.machine.workers, "workers", runtime.NumCPU(), "child processes of locksim")
	flags.IntVar(&req.machine.nice, "nice", 0, "run locksim at this niceness, 0 to 19; programs are built without")
	flags.BoolVar(&req.earlier, "earlier", false, "keep the results of earlier programs, and let the table say so")
	flags.IntVar(&req.steps, "steps", len(subject{}.steps()), "make only so many of the searches for a mechanical mutant, the cheap ones; it has no result then")
	flags.BoolVar(&req.table, "table", false, "search nothing, print the table of the results that there are")
	flags.BoolVar(&req.unitTests, "unit-tests", false, "run the unit tests with the sample of the mechanical mutants instead, and write "+sampleFile)
	flags.StringVar(&req.ownTests.folder, "own-tests", "", "run the tests of the package in this folder, such as checker, with a sample of its mechanical mutants instead, and list those that they do not detect")
	flags.IntVar(&req.ownTests.size, "size", 60, "the size of that sample")
	flags.Uint64Var(&req.ownTests.seed, "seed", 1, "the seed of that sample")
	if err := flags.Parse(args); err != nil {
		return req, err
	}
	var errWanted, errShard error
	req.wanted, errWanted = regexp.Compile(*pattern)
	req.shard, errShard = campaign.ParseShard(*shard)
	l := req.limits
	switch {
	case errors.Join(errWanted, errShard) != nil:
		return req, errors.Join(errWanted, errShard)
	case req.ownTests.size < 1:
		return req, errors.New("--size is a number from 1")
	case req.results == "" && !req.unitTests && req.ownTests.folder == "":
		return req, errors.New("--results: name the file of the results")
	case l.Runs < 1 || l.Seeds < 1 || l.Placements < 1 || req.machine.workers < 1:
		return req, errors.New("--runs, --seeds, --placements and --workers are numbers from 1")
	case req.machine.nice < 0 || req.machine.nice > 19:
		return req, errors.New("--nice is a number from 0 to 19")
	case req.steps < 1 || req.steps > len(subject{}.steps()):
		return req, fmt.Errorf("--steps is a number from 1 to %d", len(subject{}.steps()))
	case l.Starts < 1 || l.Starts > len(firstSeeds):
		return req, fmt.Errorf("--starts is a number from 1 to %d", len(firstSeeds))
	case flags.NArg() > 0:
		return req, errors.New("there are no arguments")
	}
	return req, nil
}

// work makes the results that are missing, and prints the table when all are there.
func work(ctx context.Context, req request, stdout, stderr io.Writer) (code int, err error) {
	began := time.Now()
	root, err := checkout.Root()
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "reach-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is in the system's directory for temporary files
	if req.unitTests {
		return exitOK, runUnitTests(ctx, root, dir, req.earlier, stderr)
	}
	if req.ownTests.folder != "" {
		return exitOK, req.ownTests.run(ctx, root, dir, stdout, stderr)
	}
	all, err := readSubjects(root, req.wanted)
	if err != nil {
		return 0, err
	}
	if len(all) == 0 {
		return 0, errors.New("there is no such mutant")
	}
	f := &store{file: req.results, limits: req.limits, earlier: req.earlier}
	if err := f.open(); err != nil {
		return 0, err
	}
	scenario := filepath.Join(root, "internal", "dev", "reach", "sweep.yaml")
	if f.program, err = identify(ctx, root, scenario); err != nil {
		return 0, err
	}
	if f.commit, err = commit(ctx, root); err != nil {
		return 0, err
	}
	shop := &workshop{root: root, dir: dir, machine: req.machine, stderr: stderr}
	for _, s := range all {
		if s.edit != nil {
			shop.shared = append(shop.shared, *s.edit)
		}
	}
	todo := all
	if req.table {
		todo = nil
	}
	err = f.fill(ctx, todo, req.shard, func(ctx context.Context, s subject, r *result, keep func() error) error {
		run, err := shop.program(ctx, s)
		if failure, ok := errors.AsType[*buildError](err); ok {
			r.Unbuilt = failure.Error()
			return nil
		}
		if err != nil {
			return err
		}
		if s.edit != nil {
			return measureMechanical(ctx, run, s, scenario, req.limits, req.steps, r, keep)
		}
		return measure(ctx, run, s, scenario, req.limits, r)
	}, stderr)
	if err != nil {
		return 0, err
	}
	if req.shard.Count <= 1 { // the file of a shard may be that of others, too
		if err := f.sort(); err != nil {
			return 0, err
		}
	}
	rows, missing, err := f.results(all)
	if err != nil {
		return 0, err
	}
	code = exitOK
	for _, r := range rows {
		if o := outcome(r.subject, r.result); o == unbuilt || o == wrong {
			_, _ = fmt.Fprintf(stderr, "reach: %s: %s\n%s", r.name, o, r.Unbuilt)
			code = exitFailed
		}
	}
	if len(missing) > 0 {
		_, _ = fmt.Fprintf(stderr, "reach: without a result yet: %d of %d\n", len(missing), len(all))
	}
	sample, err := readRecord(root)
	if err != nil {
		return 0, err
	}
	_, err = io.WriteString(stdout, markdown(rows, missing, req.limits, sample, req.wanted.String()))
	_, _ = fmt.Fprintf(stderr, "reach: %v\n", time.Since(began).Round(time.Second))
	return code, err
}
