// Package compare compares locks: what each needs, how many round trips it takes,
// for how long it is not to be had after a trouble, and which fence kept the data right under each fault.
//
// Only the declarations of a lock in a [comparisons.Comparison] are written by hand: its
// servers, its tokens, its promise, and for what it is suitable. Round trips are
// counted in a run of one client without faults. For how long it is not to be had is measured in many runs with one
// trouble each, in which two clients ask for it again and again ([Troubled]). What a lock survives is measured
// in the scenarios of the library, for each class of fault: the weakest fence
// behind which the data stayed right in every run, and for each weaker one a run in
// which it did not. A lock from another module is measured in the same way.
//
// It makes its own runs and does not read the results of a matrix, which has the figures of a cell and not of each
// run, and only of locks that a scenario names. A comparison asks of each run which faults struck which servers and
// whether clients contended, and makes it again without the faults of a class, to know the cause.
//
// The same locks and seeds give the same Comparison on every machine.
package compare

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/matrix"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/comparisons"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// ErrUnusable is returned for a lock that cannot be made, or that a client cannot
// acquire, renew and release without contention.
var ErrUnusable = errors.New("a single client cannot use it")

// Options say how a lock is measured.
type Options struct {
	// Seeds are the seeds of each scenario. Required.
	Seeds outcome.Seeds
	// Also are scenarios that are played beside those of the library, if they name the lock.
	Also []*file.Scenario
	// Replay makes the commands of [comparisons.Seen]. Required.
	Replay matrix.ReplayCommand
	// Troubles is how often each trouble is played: see [comparisons.Availability]. Default: 200 times with a lock on
	// Redis servers alone, 50 times with any other one, whose runs take longer.
	Troubles int
	// Step is called after each run of a scenario. Default: none.
	Step func()
	// Play makes a run, in another world than the simulated one. Default: [play.Run]. An error that is a
	// *file.InputError, or wraps [faults.ErrUnable], says that the lock or that world cannot play the scenario.
	Play func(sc *file.Scenario, l subject.Lock, seed uint64, mode fence.Mode) (*outcome.ModeRun, error)
}

// Measure measures one lock.
//
// Errors wrap ErrUnusable, or are those of [redislocks.Library] and [play.Run].
func Measure(l subject.Lock, opt Options) (*comparisons.Lock, error) {
	library, err := redislocks.Library([]subject.Lock{l})
	if err != nil {
		return nil, err
	}
	for _, sc := range opt.Also {
		if slices.Contains(sc.LockNames(), l.Name) {
			library = append(library, sc)
		}
	}
	about, err := byClass(library)
	if err != nil {
		return nil, err
	}
	trips, asked, err := tripsOf(l)
	if err != nil {
		return nil, fmt.Errorf("count the round trips of %s: %w", l.Name, err)
	}
	m := &comparisons.Lock{Name: l.Name, About: l.About, ForWhom: l.ForWhom, Servers: serversOf(l), Tokens: l.Tokens,
		Promise: l.Promise, Trips: trips}
	if m.Crowd, err = crowdOf(l); err != nil {
		return nil, fmt.Errorf("play a crowd with %s: %w", l.Name, err)
	}
	if m.Availability, err = availabilityOf(l, cmp.Or(opt.Troubles, timesOf(l)), opt.Step); err != nil {
		return nil, fmt.Errorf("play troubles with %s: %w", l.Name, err)
	}
	if opt.Play == nil {
		opt.Play = simulated
	}
	reached(l, asked)
	t := trials{lock: l, opt: opt, asked: asked, made: map[trial]result{}}
	for _, class := range comparisons.Classes() {
		s, err := t.survival(class, about[class])
		if err != nil {
			return nil, err
		}
		m.Survives = append(m.Survives, s)
	}
	return m, nil
}

func simulated(sc *file.Scenario, l subject.Lock, seed uint64, mode fence.Mode) (*outcome.ModeRun, error) {
	o, err := play.Run(sc, l, play.RunOptions{Seed: seed, Modes: []fence.Mode{mode}, Alone: true})
	if err != nil {
		return nil, err
	}
	return &o.Modes[0], nil
}

// serversOf are the servers that a lock needs.
func serversOf(l subject.Lock) []comparisons.Servers {
	all := []comparisons.Servers{}
	for _, s := range l.Needs() {
		all = append(all, comparisons.Servers{Kind: s.Kind.Name, Count: s.Count, Uncompared: s.Kind.Uncompared})
	}
	return all
}

// reached adds the servers that a lock reaches through those that it asks: the ones behind them, and all members of a
// group that has a leader.
func reached(l subject.Lock, asked map[string]bool) {
	for _, s := range l.Needs() {
		if !s.Kind.Behind && s.Kind.Leader == "" {
			continue
		}
		for _, name := range file.Numbered(s.Kind.Prefix, s.Count) {
			asked[name] = true
		}
	}
}
