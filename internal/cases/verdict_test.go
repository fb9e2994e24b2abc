package cases_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/lock"
	"locksim/reports"
	"locksim/reports/html"
	"locksim/scenarios"
)

// A right lock renews, and the answer arrives after the end of its lease, in a pause at the release. Every seed has a
// verdict; in those below the lease begins to hold again only after that pause.
func TestRenewalAnsweredLate(t *testing.T) {
	l := find(t, "mine")
	for _, seed := range []uint64{4, 9, 27, 58, 62} {
		out, err := scenarios.Run(load(t, "renewal-answered-late", l), l, scenarios.RunOptions{Seed: seed})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		for _, m := range out.Modes {
			g := m.History.Grants[0]
			if m.Verdict.Label != checker.Safe || g.Until == 0 || g.Revived <= g.Until {
				t.Errorf("seed %d, mode %s is %s, the end of the lease at step %d, it holds again at %d: want safe, and in "+
					"this order",
					seed, m.Mode, m.Verdict.Label, g.Until, g.Revived)
			}
		}
	}
}

// check is the text with which scenarios.Check fails for a case.
func check(t *testing.T, l scenarios.Lock, o scenarios.Options) string {
	t.Helper()
	r := &recorder{TB: t, name: t.Name() + "/" + l.Name}
	o.Dir = t.TempDir()
	done := make(chan struct{})
	go func() {
		defer close(done)
		scenarios.Check(r, l, o)
	}()
	<-done
	return r.failed
}

// recorder is a test that may fail.
type recorder struct {
	testing.TB
	name, failed string
}

func (r *recorder) Name() string { return r.name }
func (r *recorder) Log(...any)   {}
func (r *recorder) Fatal(args ...any) {
	r.failed = fmt.Sprint(args...)
	runtime.Goexit()
}
func (r *recorder) Fatalf(format string, args ...any) { r.Fatal(fmt.Sprintf(format, args...)) }

// A key that outlives every lease is stuck, with a minimal schedule and a page: the probe does not wait for its end.
func TestKeyForEver(t *testing.T) {
	page := ""
	says := check(t, find(t, "r01-absolute-ttl"),
		scenarios.Options{Seed: 1, Page: func(w io.Writer, o *scenarios.Outcome, replay string) error {
			var b strings.Builder
			err := html.Run(io.MultiWriter(w, &b), o, reports.Options{Replay: replay})
			page = b.String()
			return err
		}})
	for _, want := range []string{"stuck in mode none", "The key order on r0 has 26", "schedule, 1 fault of the",
		"page: "} {
		if !strings.Contains(says, want) {
			t.Errorf("want %q in\n%s", want, says)
		}
	}
	if !strings.Contains(page, "stuck") {
		t.Errorf("a page of %d bytes does not say stuck", len(page))
	}
}

// A process that has left its own mutex locked freezes the run. The error says who waits for the mutex, that no call
// that waits for a server has it, and that this may be the lock's own fault.
func TestLocalMutex(t *testing.T) {
	if testing.Short() {
		t.Skip("waits ten seconds of real time")
	}
	l := find(t, "r30-local-mutex")
	_, err := scenarios.Run(load(t, "local-mutex", l), l, scenarios.RunOptions{Seed: 1})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"of c0 waits for a mutex in locksim/internal/cases", "LocalMutex",
		"no other goroutine of c0 is blocked in that package",
		"this may be a deadlock of the lock's own",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("want %q in\n%s", want, err.Error()[:2000])
		}
	}
	if strings.Contains(err.Error(), "likely holds it") {
		t.Errorf("it blames a goroutine that only waits for Redis:\n%s", err.Error()[:2000])
	}
}

// A panic of the lock is the crash of its client, and a violation with a minimal schedule, in runs with faults and
// without. runtime.Goexit is called by its name.
func TestPanics(t *testing.T) {
	for _, c := range []struct {
		name string
		call func(n int)
		want []string
	}{
		{"panics-at-once", func(int) { panic("no such key") }, []string{"panicked in mode none", "no such key, in " +
			"locksim/internal/cases_test.TestPanics"}},
		{"panics-later", func(n int) {
			if n == 3 {
				var m map[string]int
				m["x"]++ //nolint:staticcheck // it panics
			}
		}, []string{"panicked in mode none", "assignment to entry in nil map, in locksim/internal/cases_test.TestPanics"}},
		{"goexit", func(n int) {
			if n == 2 {
				runtime.Goexit()
			}
		}, []string{"panicked in mode none", "runtime.Goexit was called", "in locksim/internal/cases_test.TestPanics"}},
	} {
		l := find(t, "mine")
		l.Name = c.name
		right := l.New
		l.New = func(e scenarios.Env) (lock.Locker, error) {
			inner, err := right(e)
			return &counted{Locker: inner, call: c.call}, err
		}
		says := check(t, l, scenarios.Options{Seed: 1})
		for _, want := range append(c.want, "schedule, ", "PANICS") {
			if !strings.Contains(says, want) {
				t.Errorf("%s: want %q in\n%s", c.name, want, says)
			}
		}
	}
}

// counted calls call in each Acquire, with its number.
type counted struct {
	lock.Locker
	n    int
	call func(n int)
}

func (l *counted) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	l.n++
	l.call(l.n)
	return l.Locker.Acquire(ctx, name)
}
