package reach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"runtime"
	"time"

	"github.com/spf13/pflag"

	"locksim/internal/campaign"
	"locksim/internal/dev/mechanical"
)

// Request is what the flags ask for.
type Request struct {
	pattern, part string

	wanted  *regexp.Regexp
	results string
	shard   campaign.Shard
	limits  limits
	machine machine
	earlier bool
	table   bool // no search
	steps   int  // how many of the searches for a mechanical mutant are made
}

// Flags defines the flags.
func (r *Request) Flags(flags *pflag.FlagSet) {
	flags.StringVar(&r.pattern, "run", "", "only the mutants whose GROUP/NAME matches this regular expression")
	flags.StringVar(&r.part, "shard", "0/1", "the part of the mutants to search: INDEX/COUNT")
	flags.StringVar(&r.results, "results", "", "the file of the results; default: "+resultsFile)
	flags.IntVar(&r.limits.Runs, "runs", 10_000, "end an exploration after so many runs")
	flags.IntVar(&r.limits.Starts, "starts", len(firstSeeds), "explore from so many first seeds")
	flags.IntVar(&r.limits.Seeds, "seeds", 3, "play each scenario of the library with so many seeds")
	flags.IntVar(&r.limits.Placements, "placements", 500, "place about so many faults in a sweep")
	flags.IntVar(&r.machine.workers, "workers", runtime.NumCPU(), "child processes of locksim")
	flags.IntVar(&r.machine.nice, "nice", 0, "run locksim at this niceness, 0 to 19; programs are built without")
	flags.BoolVar(&r.earlier, "earlier", false, "keep the results of earlier programs, and let the table say so")
	flags.IntVar(&r.steps, "steps", len(subject{}.steps()),
		"make only so many of the searches for a mechanical mutant, the cheap ones; it has no result then")
	flags.BoolVar(&r.table, "table", false, "search nothing, print the table of the results that there are")
}

// Validate returns an error for values of flags with which nothing can be searched.
func (r *Request) Validate() error {
	var errWanted, errShard error
	r.wanted, errWanted = regexp.Compile(r.pattern)
	r.shard, errShard = campaign.ParseShard(r.part)
	l := r.limits
	switch {
	case errors.Join(errWanted, errShard) != nil:
		return errors.Join(errWanted, errShard)
	case l.Runs < 1 || l.Seeds < 1 || l.Placements < 1 || r.machine.workers < 1:
		return errors.New("--runs, --seeds, --placements and --workers are numbers from 1")
	case r.machine.nice < 0 || r.machine.nice > 19:
		return errors.New("--nice is a number from 0 to 19")
	case r.steps < 1 || r.steps > len(subject{}.steps()):
		return fmt.Errorf("--steps is a number from 1 to %d", len(subject{}.steps()))
	case l.Starts < 1 || l.Starts > len(firstSeeds):
		return fmt.Errorf("--starts is a number from 1 to %d", len(firstSeeds))
	}
	return nil
}

// Run makes the results that are missing in the checkout at root, and prints the table. dir is for temporary files. It
// is an error if a mutant does not compile, or if a lock without a mistake is not right.
func (r *Request) Run(ctx context.Context, root, dir string, stdout, stderr io.Writer) (err error) {
	began := time.Now()
	all, err := readSubjects(root, r.wanted)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return errors.New("there is no such mutant")
	}
	file := r.results
	if file == "" {
		file = filepath.Join(root, resultsFile)
	}
	f := &store{file: file, limits: r.limits, earlier: r.earlier}
	if err := f.open(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.journal.Close()) }()
	scenario := filepath.Join(root, sweepScenario)
	if f.program, err = identify(ctx, root, scenario); err != nil {
		return err
	}
	if f.commit, err = commit(ctx, root); err != nil {
		return err
	}
	shop := &workshop{root: root, dir: dir, machine: r.machine, stderr: stderr}
	for _, s := range all {
		if s.edit != nil {
			shop.shared = append(shop.shared, *s.edit)
		}
	}
	todo := all
	if r.table {
		todo = nil
	}
	err = f.fill(ctx, todo, r.shard, func(ctx context.Context, s subject, found *result, keep func() error) error {
		run, err := shop.program(ctx, s)
		if failure, ok := errors.AsType[*buildError](err); ok {
			found.Unbuilt = failure.Error()
			return nil
		}
		if err != nil {
			return err
		}
		if s.edit != nil {
			return measureMechanical(ctx, run, s, scenario, r.limits, r.steps, found, keep)
		}
		return measure(ctx, run, s, scenario, r.limits, found)
	}, stderr)
	if err != nil {
		return err
	}
	if r.shard.Count <= 1 { // the file of a shard may be that of others, too
		if err := f.sort(); err != nil {
			return err
		}
	}
	rows, missing, err := f.results(all)
	if err != nil {
		return err
	}
	failed := 0
	for _, row := range rows {
		if o := outcome(row.subject, row.result); o == unbuilt || o == wrong {
			_, _ = fmt.Fprintf(stderr, "%s: %s\n%s", row.name, o, row.Unbuilt)
			failed++
		}
	}
	if len(missing) > 0 {
		_, _ = fmt.Fprintf(stderr, "without a result yet: %d of %d\n", len(missing), len(all))
	}
	sample, err := mechanical.ReadSample(root)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(stdout, markdown(rows, missing, r.limits, sample, r.wanted.String())); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(stderr, "%v\n", time.Since(began).Round(time.Second))
	if failed > 0 {
		return fmt.Errorf("%d of the results prove nothing: see above", failed)
	}
	return nil
}
