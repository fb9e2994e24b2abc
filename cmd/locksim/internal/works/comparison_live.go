package works

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/publish"
	"locksim/cmd/locksim/internal/roster"
	"locksim/cmd/locksim/internal/runfiles"
	"locksim/internal/live"
	"locksim/lock/fence"
	"locksim/scenarios/compare"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/comparisons"
	"locksim/scenarios/subject"
)

// LiveTogether is how many live runs are made at once by default: they mostly sleep.
const LiveTogether = 6

// CompareLive measures what the locks survive on real servers, several locks at once. The round trips are those of the
// simulated world, which counts them.
func CompareLive(w *publish.Crew, r roster.Roster, locks []subject.Lock, seeds outcome.Seeds, files []string,
	scale float64) (*comparisons.Comparison, error) {
	also, err := r.Also(files)
	if err != nil {
		return nil, err
	}
	session, err := live.Open()
	if err != nil {
		return nil, &console.BrokenError{Cause: err}
	}
	scale = cmp.Or(scale, live.DefaultScale) // of each scenario whose servers can take it
	var runs, done atomic.Int64
	step := func() {
		w.Progress.Show(fmt.Sprintf("%d live runs made, %d of %d locks measured", runs.Add(1), done.Load(), len(locks)))
	}
	rows := make([]comparisons.Lock, len(locks))
	going, cancel := context.WithCancelCause(w.Ctx) // the first error ends the runs of the other locks
	turns := make(chan struct{}, LiveTogether)
	var all sync.WaitGroup
	for i, l := range locks {
		all.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			m, err := compare.Measure(l, compare.Options{Seeds: seeds, Also: also, Replay: liveRunAgain(w.Console, r, l, scale),
				Step: step, Play: playLive(going, session, scale)})
			if err != nil {
				cancel(err)
				return
			}
			rows[i] = *m
			done.Add(1)
		})
	}
	all.Wait()
	w.Progress.Clear()
	first := context.Cause(going)
	cancel(nil)
	err = errors.Join(first, session.Close())
	switch {
	case w.Ctx.Err() != nil:
		return nil, &console.BrokenError{Cause: fmt.Errorf("the comparison was interrupted: %d of %d locks are measured",
			done.Load(), len(locks))}
	case errors.Is(err, compare.ErrUnusable):
		return nil, err
	case err != nil:
		return nil, &console.BrokenError{Cause: err}
	}
	c := comparisons.New(seeds, rows)
	c.Live, c.Also = true, files
	return c, nil
}

// playLive makes one run of a comparison on real servers.
func playLive(ctx context.Context, session *live.Session, scale float64) func(*file.Scenario, subject.Lock, uint64,
	fence.Mode) (*outcome.ModeRun, error) {
	return func(sc *file.Scenario, l subject.Lock, seed uint64, mode fence.Mode) (*outcome.ModeRun, error) {
		o, err := session.Run(ctx, sc, l, live.Options{Seed: seed, Modes: []fence.Mode{mode},
			Scale: live.ScaleFor(sc, l, scale), Alone: true})
		if err != nil {
			return nil, err
		}
		return &o.Modes[0], nil
	}
}

// liveRunAgain makes the commands that make runs of a lock again on real servers.
func liveRunAgain(c *console.Console, r roster.Roster, l subject.Lock, scale float64) func(string, string, uint64,
	...fence.Mode) string {
	return func(scenario, lock string, seed uint64, modes ...fence.Mode) string {
		at := scale
		if sc, err := file.Load(scenario, r.ServerNames()...); err == nil {
			at = live.ScaleFor(sc, l, scale)
		}
		return runfiles.Again(c)(scenario, lock, seed, modes...) + runfiles.LiveFlags(&outcome.Live{Scale: at})
	}
}
