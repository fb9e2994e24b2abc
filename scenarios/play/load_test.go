package play_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
)

// otherSpec is an environment with another lock in its scenario.
type otherSpec struct {
	subject.Env
	change func(*file.LockSpec)
}

func (e otherSpec) Spec() file.LockSpec {
	spec := e.Env.Spec()
	e.change(&spec)
	return spec
}

// A release that fails or denies the lock, a call that goes on and on, a waiter that is not woken and a client that
// asks without a pause are misconduct, and the verdict says what it is. The same lock without it does what it promises.
func TestReportsReturnsWakesAndSpares(t *testing.T) {
	released := func(after func(e subject.Env, release func() error) error) func(subject.Env, lock.Locker) (lock.Locker,
		error) {
		return func(e subject.Env, l lock.Locker) (lock.Locker, error) {
			return unfaithful{Locker: l, lease: func(l lock.Lease) lock.Lease {
				return unfaithfulLease{Lease: l, release: func(ctx context.Context) error {
					return after(e, func() error { return l.Release(ctx) })
				}}
			}}, nil
		}
	}
	with := func(kind string, change func(*file.LockSpec)) func(subject.Env, lock.Locker) (lock.Locker, error) {
		return func(e subject.Env, _ lock.Locker) (lock.Locker, error) {
			return testruns.Kind(t, kind).New(otherSpec{e, change})
		}
	}
	for _, c := range []struct {
		name, kind, scenario string
		made                 func(subject.Env, lock.Locker) (lock.Locker, error)
		want                 string
	}{
		{"a release that fails", "single", "workload: {rounds: 1, hold: 1s}",
			released(func(_ subject.Env, release func() error) error {
				return errors.Join(release(), errors.New("no luck"))
			}), ", and Release failed at step "},
		{"a release that denies the lock", "single", "workload: {rounds: 1, hold: 1s}",
			released(func(subject.Env, func() error) error {
				return lock.ErrNotHeld
			}), ", although the nodes had its key all the time."},
		{"a release that goes on", "single", "workload: {rounds: 1, hold: 1s}",
			released(func(e subject.Env, release func() error) error {
				err := release()
				_ = e.Clock().Sleep(context.Background(), 5*time.Second)
				return err
			}), "called Release for order, and it returned after 5"},
		{"an extension that goes on", "single", "workload: {rounds: 1, hold: 1s, extend: 1}",
			func(e subject.Env, l lock.Locker) (lock.Locker, error) {
				return unfaithful{Locker: l, lease: func(l lock.Lease) lock.Lease {
					return unfaithfulLease{Lease: l, extend: func(ctx context.Context) error {
						_ = e.Clock().Sleep(context.Background(), 5*time.Second)
						return l.(lock.Extender).Extend(ctx)
					}}
				}}, nil
			}, "called Extend for order, and it returned after 5"},
		{"an Acquire that goes on", "single", "workload: {rounds: 1, hold: 1s, acquire_within: 300ms, deadline: true}",
			func(e subject.Env, l lock.Locker) (lock.Locker, error) {
				return unfaithful{Locker: l, err: func(err error) error {
					_ = e.Clock().Sleep(context.Background(), 5*time.Second)
					return err
				}}, nil
			}, "called Acquire for order, and it returned after 5"},
		{"a waiter that asks by itself", "single", "workload: {rounds: 2, hold: 1s}\nlock: {ttl: 9s, backoff: 800ms, wait: " +
			"notify}",
			with("single", func(s *file.LockSpec) { s.Wait = file.WaitPoll }), "to be told that order is free, and from"},
		{"a waiter that does not pause", "redlock", "workload: {rounds: 1, hold: 1s}",
			with("redlock", func(s *file.LockSpec) { s.Backoff = file.Range{Min: time.Millisecond, Max: time.Millisecond} }),
			"With 100ms between two of them there are "},
		{"a holder that renews all the time", "watchdog", "workload: {rounds: 1, hold: 1s}",
			func(e subject.Env, _ lock.Locker) (lock.Locker, error) {
				inner, err := testruns.Kind(t, "single").New(e)
				if err != nil {
					return nil, err
				}
				return lock.NewWatchdog(inner, lock.WatchdogOptions{Interval: 10 * time.Millisecond, Clock: e.Clock()})
			}, "With 166.666666ms between two of them there are "},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "name: load\nworld: {clients: 3, latency: 1ms}\n" + c.scenario + "\n"
			if !strings.Contains(text, "lock: ") {
				text += "lock: {ttl: 2s, backoff: 100ms..200ms}\n"
			}
			misconducts(t, testruns.Parse(t, text), c.kind, c.made, c.want)
		})
	}
}

// A server that is silent does not keep a call beyond its time.
func TestCallsReturnWhenTheServersAreSilent(t *testing.T) {
	for _, kind := range []string{"single", "fair", "reentrant", "watchdog", "redlock"} {
		sc := testruns.Parse(t, `
name: silent
world: {clients: 2, latency: 1ms}
lock: {ttl: 8s, backoff: 100ms..200ms}
workload: {rounds: 1, hold: 1s, extend: 2, acquire_within: 3s, deadline: true}
faults:
  - {at: 400ms, partition: {between: [c0, c1], bytes: drop, for: 30s}}
`)
		o, err := play.Run(sc, testruns.Kind(t, kind), play.RunOptions{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		silent := 0
		for _, m := range o.Modes {
			if m.Verdict.Facts.Misconduct != 0 {
				t.Errorf("%s: %v", kind, m.Verdict.Reasons)
			}
			for _, c := range m.History.Calls {
				if c.Returned-c.Called > 50*time.Millisecond {
					silent++
				}
			}
		}
		if silent == 0 {
			t.Errorf("%s: no call had to wait for a server: the test proves nothing", kind)
		}
	}
}
