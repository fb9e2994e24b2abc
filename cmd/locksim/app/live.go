package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/pflag"

	"locksim/checker"
	"locksim/cmd/locksim/internal/console"
	"locksim/internal/live"
	"locksim/internal/worlds"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
)

// liveFlag are the flags of runs on real servers.
type liveFlag struct {
	live  bool
	scale float64
	times int
}

// The default of --scale, in words.
const (
	anyScale      = "0.1, or the least that the servers can take"
	comparedScale = "the least that the servers can take, 0.3 at least"
)

// add adds --live, with what it does, --scale, and, for commands whose runs are made more than once, --times.
func (f *liveFlag) add(flags *pflag.FlagSet, live, scale string, times int, each string) {
	flags.BoolVar(&f.live, "live", false, live)
	flags.Float64Var(&f.scale, "scale", 0, "with --live, multiply all durations of a scenario by `FACTOR` (default: "+
		scale+")")
	if f.times = times; each != "" {
		flags.IntVar(&f.times, "times", times, "with --live, make `N` "+each)
	}
}

// check refuses flags that only one of the worlds has.
func (f *liveFlag) check(flags *pflag.FlagSet) error {
	for _, only := range []string{"scale", "times"} {
		if flags.Changed(only) && !f.live {
			return fmt.Errorf("--%s is for runs on real servers: add --live, or leave it out", only)
		}
	}
	if f.live && flags.Changed("once") {
		return errors.New("--once and --live: a run on real servers cannot be repeated exactly, so it is made once anyway: " +
			"leave --once out")
	}
	switch {
	case f.times < 1 || f.times > 1000:
		return fmt.Errorf("--times %d: give a number from 1 to 1000", f.times)
	case flags.Changed("scale") && !(f.scale > 0):
		return fmt.Errorf("--scale %v: give a number above 0, up to 10, such as 0.1 for a tenth of the times of the file",
			f.scale)
	}
	return nil
}

// playLive makes the runs on real servers. Of several it returns the worst, and writes the labels of all to standard
// error.
func (f liveFlag) playLive(s *shell, t *task) (*outcome.Outcome, error) {
	if err := live.Check(t.scenario, t.lock, t.scale); err != nil {
		return nil, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	session, err := live.Open()
	if err != nil {
		return nil, &console.BrokenError{Cause: err}
	}
	worst, err := f.worst(ctx, s, session, t)
	steady := live.ScaleFor(t.scenario, t.lock, worlds.Steady)
	if err == nil && f.scale == 0 && steady > t.scale && unexplained(worst) {
		s.Note(fmt.Sprintf("at scale %v live runs differ from the simulated world, which may be by the machine: they are "+
			"made again at %v", t.scale, steady))
		*t = *t.at(steady)
		worst, err = f.worst(ctx, s, session, t)
	}
	if end := session.Close(); err == nil && end != nil {
		err = end
	}
	if _, ok := errors.AsType[*file.InputError](err); ok {
		return nil, err
	}
	switch {
	case ctx.Err() != nil:
		return nil, &console.BrokenError{Cause: errors.New("the live run was interrupted"), Replay: t.replay}
	case err != nil:
		return nil, &console.BrokenError{Cause: err, Replay: t.replay}
	}
	return worst, nil
}

// unexplained says that live runs differ from the simulated world, and nothing says why.
func unexplained(o *outcome.Outcome) bool {
	return slices.ContainsFunc(o.Live.Differences, func(d outcome.Difference) bool { return d.Why == "" })
}

func (f liveFlag) worst(ctx context.Context, s *shell, session *live.Session,
	t *task) (worst *outcome.Outcome, err error) {
	labels := map[fence.Mode]map[checker.Label]int{}
	var all []*outcome.Outcome
	for n := range f.times {
		o, err := f.one(ctx, s, session, t, n)
		if err != nil {
			return nil, err
		}
		for _, m := range o.Modes {
			if labels[m.Mode] == nil {
				labels[m.Mode] = map[checker.Label]int{}
			}
			labels[m.Mode][m.Verdict.Label]++
		}
		if all = append(all, o); worst == nil || severity(o) > severity(worst) {
			worst = o
		}
	}
	if f.times > 1 {
		s.Note(fmt.Sprintf("labels of %d live runs, of which the worst is reported:", f.times))
		for _, m := range worst.Modes {
			s.Note(fmt.Sprintf("  %-6s %s", m.Mode, outcome.Labels(labels[m.Mode])))
		}
	}
	return worst, differences(ctx, s, t, all, worst.Live)
}

// differences compares the live runs with the simulated world.
func differences(ctx context.Context, s *shell, t *task, all []*outcome.Outcome, to *outcome.Live) (err error) {
	defer s.Busy("comparing with the simulated world")()
	to.Differences, err = worlds.Differences(ctx, t.scenario, t.lock, all)
	if input, ok := errors.AsType[*file.InputError](err); ok {
		to.Uncompared, err = input.Error(), nil
	}
	return err
}

// one makes one run. Its workload draws by another seed than that of the run before.
func (f liveFlag) one(ctx context.Context, s *shell, session *live.Session, t *task, n int) (*outcome.Outcome, error) {
	defer s.Busy(fmt.Sprintf("running %s on real servers, %d of %d", t.scenario.Name, n+1, f.times))()
	return session.Run(ctx, t.scenario, t.lock, live.Options{Seed: t.opts.Seed + uint64(n), Modes: t.opts.Modes,
		Scale: t.scale})
}

// severity is how bad an outcome is: by its labels, the worst first.
func severity(o *outcome.Outcome) int {
	total := 0
	for _, m := range o.Modes {
		total += m.Verdict.Label.Severity()
	}
	return total
}
