//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/internal/live/guard"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
)

// DefaultScale makes the durations of scenarios, which are written for people, a tenth.
const DefaultScale = 0.1

// Options say how [Session.Run] plays a scenario.
type Options struct {
	// Seed decides what the workload draws: how long clients think, which resource they take. Nothing else of a live run
	// follows it.
	Seed uint64
	// Modes are the fencing modes to run. Default: [subject.DefaultModes].
	Modes []fence.Mode
	// Scale is by what the durations of the scenario are multiplied. 0 means [DefaultScale].
	Scale float64
	// Alone leaves out the run in mode none if Modes does not have it.
	Alone bool
}

// Session plays live runs, several at once if wanted. However its program ends, no process of it is left.
type Session struct{ guard *guard.Guard }

// Open starts a session.
func Open() (*Session, error) {
	redis.SetLogger(silent{})
	g, err := guard.Start("locksim-live-")
	if err != nil {
		return nil, fmt.Errorf("prepare a live run: %w", err)
	}
	return &Session{g}, nil
}

// silent keeps go-redis from writing to standard error that a server is down: faults do that.
type silent struct{}

// Printf writes nothing.
func (silent) Printf(context.Context, string, ...any) {}

// Close ends what is left of all runs. No run may be under way.
func (s *Session) Close() error { return s.guard.End() }

// Check says why a scenario cannot be played live with a lock, at a scale, on this machine; nil if it can.
func Check(sc *file.Scenario, l subject.Lock, scale float64) error {
	if l.TestsFence() && l.Data.Ledger {
		return fmt.Errorf("the ledger, which mints the tokens for the fence %s, runs in the simulated world alone: name a "+
			"lock for a live run with --lock, such as fenced", l.Fence())
	}
	for _, o := range wanted(sc, l) {
		if err := o.Missing(); err != nil {
			return err
		}
	}
	if sc.Workload.Data != file.DataStore || l.Data != nil && l.Data.Alone {
		return fmt.Errorf("scenario %s has its data in the servers of the lock: %w: live runs keep it in the store s0",
			sc.Name, faults.ErrUnable)
	}
	return checkScale(sc, l, scale)
}

// Run plays a scenario with a lock under each fencing mode, each on servers of its own. The outcome says that it is
// live. Errors are those of [Check], of the servers, and of play.On; a lock that breaks is none.
func (s *Session) Run(ctx context.Context, sc *file.Scenario, l subject.Lock, o Options) (*outcome.Outcome, error) {
	if o.Scale == 0 {
		o.Scale = DefaultScale
	}
	if err := errors.Join(sc.Validate(), l.Validate()); err != nil {
		return nil, err
	}
	if err := Check(sc, l, o.Scale); err != nil {
		return nil, err
	}
	modes := o.Modes
	if len(modes) == 0 || l.TestsFence() {
		modes = subject.DefaultModes(l)
	}
	at := Scaled(sc, o.Scale)
	out := &outcome.Outcome{Scenario: at, Lock: l.Name, Seed: o.Seed, Live: &outcome.Live{Scale: o.Scale}}
	var base *outcome.ModeRun
	if !o.Alone && (len(modes) > 1 || modes[0] != fence.None) {
		var err error
		if base, err = s.runMode(ctx, at, l, fence.None, o.Seed, nil); err != nil {
			return nil, err
		}
	}
	for _, mode := range modes {
		if mode == fence.None && base != nil {
			out.Modes = append(out.Modes, *base)
			continue
		}
		run, err := s.runMode(ctx, at, l, mode, o.Seed, base)
		if err != nil {
			return nil, err
		}
		out.Modes = append(out.Modes, *run)
	}
	if !slices.Contains(modes, fence.None) {
		out.Base = base
	}
	return out, nil
}

// runMode is one run in a world of its own.
func (s *Session) runMode(ctx context.Context, sc *file.Scenario, l subject.Lock, mode fence.Mode, seed uint64,
	base *outcome.ModeRun) (_ *outcome.ModeRun, err error) {
	if mode.NeedsToken() && !l.Tokens {
		return outcome.NotApplicable(mode), nil
	}
	began := time.Now()
	w, err := newWorld(ctx, s.guard, sc, l, mode, seed)
	if err != nil {
		return nil, fmt.Errorf("scenario %s, lock %s, live, mode %s: %w", sc.Name, l.Name, mode, err)
	}
	run, err := play.On(w, sc, w.remote(l), mode, base)
	if err := errors.Join(err, w.close()); err != nil {
		return nil, fmt.Errorf("scenario %s, lock %s, live, mode %s: %w", sc.Name, l.Name, mode, err)
	}
	run.Wall = time.Since(began)
	run.Late = time.Duration(w.late.Load())
	return run, nil
}

// remote is the lock as its driver has it: New makes it in the process of the client.
func (w *World) remote(l subject.Lock) subject.Lock {
	l.New = func(e subject.Env) (lock.Locker, error) {
		return w.machine(e.Name()).newLocker(e.Identity())
	}
	l.Data = w.data(l.Data)
	return l
}
