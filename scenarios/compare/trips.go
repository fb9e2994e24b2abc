package compare

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/comparisons"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// oneWay is the time of each message of these runs. In the first, all connections
// are open by the third round; in the second, the lock is held for twice the TTL,
// so that a lock that renews by itself has to do so.
const (
	oneWay      = 10 * time.Millisecond
	uncontended = "name: uncontended\nworld: {clients: 1, latency: 10ms}\nlock: {ttl: 10s}\nworkload: {rounds: 3, hold: " +
		"1s, think: 1s}\n"
	held = "name: held\nworld: {clients: 1, latency: 10ms}\nlock: {ttl: 10s}\nworkload: {rounds: 1, hold: 20s}\n"
)

// TripsOf counts the round trips of a lock. Its errors are those of [Measure].
func TripsOf(l subject.Lock) (comparisons.Trips, error) {
	trips, _, err := tripsOf(l)
	return trips, err
}

// tripsOf also has the names of all servers to which the client sends requests, the store too.
func tripsOf(l subject.Lock) (trips comparisons.Trips, asked map[string]bool, err error) {
	calls, err := alone(renewing(l), uncontended)
	if err != nil {
		return comparisons.Trips{}, nil, err
	}
	if trips, err = count(calls); err != nil {
		return comparisons.Trips{}, nil, err
	}
	idle, err := alone(l, held)
	if err != nil {
		return comparisons.Trips{}, nil, err
	}
	trips.Unasked = sendsWhileHeld(idle)
	asked = map[string]bool{}
	for _, e := range calls.Events {
		if _, ok := e.What.(trace.Send); ok && e.Actor == client {
			asked[e.Peer] = true
		}
	}
	return trips, asked, nil
}

// alone plays a scenario twice, which detects a lock that is not deterministic.
func alone(l subject.Lock, source string) (*trace.Trace, error) {
	sc, err := file.Parse("", []byte(source))
	if err != nil {
		return nil, err
	}
	o, err := play.Run(sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}, Repeat: outcome.Twice})
	if input, ok := errors.AsType[*file.InputError](err); ok {
		return nil, fmt.Errorf("%w: %s", ErrUnusable, input.Msg)
	}
	if err != nil {
		return nil, err
	}
	return o.Modes[0].Trace, nil
}

// waiting is a time in which a client has no answer, since it waits for no server.
const waiting = time.Second

// client is the client that is measured. The probe of the harness asks for the lock
// in the end.
const client = "c0"

// count counts the round trips of the calls of the last round.
func count(t *trace.Trace) (comparisons.Trips, error) {
	var trips comparisons.Trips
	var call *comparisons.Trip // the one that is under way
	var began, last time.Duration
	begin := func(c *comparisons.Trip, at time.Duration) { *c, call, began = comparisons.Trip{}, c, at }
	end := func(at time.Duration) {
		waits := time.Duration(call.WaitsSeconds * float64(time.Second))
		call.RoundTrips, call = int((at-began-waits+oneWay)/(2*oneWay)), nil
	}
	for _, e := range t.Events {
		if e.Actor != client {
			continue
		}
		if gap := e.At - last; call != nil && gap >= waiting {
			call.WaitsSeconds += gap.Seconds()
		}
		last = e.At
		switch what := e.What.(type) {
		case trace.Send:
			if call != nil {
				call.Messages++
			}
		case trace.Mark:
			switch {
			case what.Step == trace.Acquire:
				begin(&trips.Acquire, e.At)
			case what.Step == trace.Granted:
				end(e.At)
			case what.Step == trace.NotGranted:
				return trips, fmt.Errorf("%w: Acquire failed: %s", ErrUnusable, trace.Readable(what.Problem))
			case what.Step == trace.Point && what.Label == renewal:
				trips.Renew = new(comparisons.Trip)
				begin(trips.Renew, e.At)
			case what.Step == trace.Point && what.Label == renewed:
				end(e.At)
				begin(&trips.Release, e.At)
			case what.Step == trace.Release:
				begin(&trips.Release, e.At)
			case what.Step == trace.Released:
				end(e.At)
				if what.Problem != "" {
					return trips, fmt.Errorf("%w: it could not be renewed and released: %s", ErrUnusable, trace.Readable(what.Problem))
				}
			}
		}
	}
	if call != nil {
		return trips, fmt.Errorf("%w: a call did not return", ErrUnusable)
	}
	return trips, nil
}

// sendsWhileHeld reports whether the client sent anything between its read and its
// write, in which it does nothing.
func sendsWhileHeld(t *trace.Trace) bool {
	working := false
	for _, e := range t.Events {
		if e.Actor != client {
			continue
		}
		switch what := e.What.(type) {
		case trace.Send:
			if working {
				return true
			}
		case trace.Mark:
			working = what.Step == trace.Read || working && what.Step != trace.Write
		}
	}
	return false
}

// The named points around a renewal.
const (
	renewal = "compare-renewal"
	renewed = "compare-renewed"
)

// renewing is a lock whose leases are renewed once before each release, where they
// can be.
func renewing(l subject.Lock) subject.Lock {
	inner := l.New
	if inner == nil {
		return l // Run returns an error
	}
	l.Promise.Duties = nil // its calls are counted, not judged, which would call Release again
	l.New = func(e subject.Env) (lock.Locker, error) {
		locks, err := inner(e)
		if err != nil || locks == nil {
			return locks, err
		}
		return renewer{locks, e}, nil
	}
	return l
}

type renewer struct {
	lock.Locker
	env subject.Env
}

func (r renewer) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	lease, err := r.Locker.Acquire(ctx, resource)
	if extender, ok := lease.(lock.Extender); ok && err == nil {
		return renewable{lease, extender, r.env}, nil
	}
	return lease, err
}

type renewable struct {
	lock.Lease
	extender lock.Extender
	env      subject.Env
}

func (r renewable) Release(ctx context.Context) error {
	if err := r.env.Point(renewal); err != nil {
		return err
	}
	failed := r.extender.Extend(ctx)
	if err := r.env.Point(renewed); err != nil {
		return err
	}
	return errors.Join(failed, r.Lease.Release(ctx))
}
