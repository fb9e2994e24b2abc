package subject_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/scenarios/subject"
)

// process is the environment of a client of which only the context is asked.
type process struct {
	subject.Env
	ctx context.Context
}

func (p process) Context() context.Context { return p.ctx }

type valueKey struct{}

// A lease of the glue is as package lock says: its context has the values of the Acquire and ends with the release, the
// loss or the process; a release that is called again returns the same.
func TestNewLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life, die := context.WithCancel(t.Context())
		asked, end := context.WithCancel(context.WithValue(life, valueKey{}, "request"))
		calls, answer := 0, error(nil)
		lost := make(chan struct{})
		lease := func() lock.Lease {
			return subject.NewLease(asked, process{ctx: life}, subject.Grant{
				Unlock: func(context.Context) error { calls++; return answer }, Lost: lost, Token: 7,
			})
		}
		a, b := lease(), lease()
		end()
		if a.Context().Err() != nil || a.Context().Value(valueKey{}) != "request" || a.Token() != 7 || !a.Until().IsZero() {
			t.Errorf("the lease ends with the wait, or lacks something: %v", a)
		}
		if _, ok := a.(lock.Extender); ok {
			t.Error("a lease without Extend can be extended")
		}
		answer = io.EOF
		if err := a.Release(life); !errors.Is(err, io.EOF) || a.Context().Err() == nil {
			t.Errorf("release: %v, and the context of the lease has ended: %v", err, a.Context().Err())
		}
		answer = nil
		if err := errors.Join(a.Release(life), a.Release(life)); err != nil || calls != 2 {
			t.Errorf("%v after %d calls, want a second call, and none after its answer", err, calls)
		}
		close(lost)
		synctest.Wait()
		if cause := context.Cause(b.Context()); !errors.Is(cause, lock.ErrLost) {
			t.Errorf("a lost lease ended by %v", cause)
		}
		d := subject.NewLease(asked, process{ctx: life}, subject.Grant{Until: func() time.Time { return time.Unix(1, 0) },
			Extend: func(context.Context) error { return io.EOF }})
		die()
		synctest.Wait()
		if d.Context().Err() == nil || !d.Until().Equal(time.Unix(1, 0)) {
			t.Error("the context of a lease outlives the process, or its end is not told")
		}
		if err := d.(lock.Extender).Extend(life); !errors.Is(err, io.EOF) {
			t.Errorf("extend: %v", err)
		}
	})
}

// The end of a term is the loss of its lease, which says how often the election has called back.
func TestTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := subject.NewTerm()
		select {
		case <-term.Leads():
			t.Error("it leads before it is told")
		default:
			term.Started()
		}
		<-term.Leads()
		l := subject.NewLease(t.Context(), process{ctx: t.Context()},
			subject.Grant{Term: term, Unlock: func(context.Context) error { return nil }})
		for range 2 {
			term.Stopped()
			<-l.Lost()
		}
		synctest.Wait()
		if cause := context.Cause(l.Context()); !errors.Is(cause, lock.ErrLost) {
			t.Errorf("a term that is over ended its lease by %v", cause)
		}
		if started, stopped := l.(interface{ CalledBack() (int, int) }).CalledBack(); started != 1 || stopped != 2 {
			t.Errorf("called back %d and %d times", started, stopped)
		}
	})
}

// timed is one with a clock too.
type timed struct{ process }

func (timed) Clock() lock.Clock { return lock.SystemClock() }

// The lease of a lock that does not tell its end lasts for its TTL from the request, and from that of an Extend that
// succeeds.
func TestNewLeaseTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ttl = 8 * time.Second
		answer, asked := error(nil), time.Now()
		time.Sleep(time.Second) // the request was on its way
		l := subject.NewLease(t.Context(), timed{process{ctx: t.Context()}}, subject.Grant{
			Unlock: func(context.Context) error { return nil }, TTL: ttl, Asked: asked,
			Extend: func(context.Context) error { time.Sleep(time.Second); return answer },
		})
		if want := asked.Add(ttl); !l.Until().Equal(want) {
			t.Errorf("granted until %v, want %v", l.Until(), want)
		}
		want := time.Now().Add(ttl)
		if err := l.(lock.Extender).Extend(t.Context()); err != nil || !l.Until().Equal(want) {
			t.Errorf("extended until %v, want %v: %v", l.Until(), want, err)
		}
		answer = io.EOF
		if err := l.(lock.Extender).Extend(t.Context()); !errors.Is(err, io.EOF) || !l.Until().Equal(want) {
			t.Errorf("an Extend that failed: until %v, want %v: %v", l.Until(), want, err)
		}
	})
}

// An answer of a server is certain, all else is not.
func TestUnanswered(t *testing.T) {
	taken := errors.New("taken")
	for name, c := range map[string]struct {
		err     error
		unknown bool
	}{
		"none":            {nil, false},
		"an answer":       {redis.Nil, false},
		"a deadline":      {context.DeadlineExceeded, true},
		"an end":          {io.EOF, true},
		"certain":         {taken, false},
		"marked already":  {lock.ErrOutcomeUnknown, true},
		"lost, certainly": {lock.ErrNotHeld, false},
	} {
		got := subject.Unanswered(c.err, taken)
		if errors.Is(got, lock.ErrOutcomeUnknown) != c.unknown || !errors.Is(got, c.err) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if err := subject.NotHeld(io.EOF, taken); errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("%v counts as not held", err)
	}
	if err := subject.NotHeld(taken, taken); !errors.Is(err, lock.ErrNotHeld) || !errors.Is(err, taken) {
		t.Errorf("%v does not count as not held", err)
	}
	if err := subject.NotHeld(nil, taken); err != nil {
		t.Error(err)
	}
}

// A lock that only tries is asked again after a pause, until it is granted, fails, or the wait ends.
func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, tries := time.Now(), 0
		third := func(context.Context) (bool, error) { tries++; return tries == 3, nil }
		if err := subject.Retry(t.Context(), lock.SystemClock(), time.Second, third); err != nil || tries != 3 ||
			time.Since(began) != 2*time.Second {
			t.Errorf("%v after %d tries in %v", err, tries, time.Since(began))
		}
		if err := subject.Retry(t.Context(), lock.SystemClock(), time.Second,
			func(context.Context) (bool, error) { return false, io.EOF }); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := subject.Retry(ctx, lock.SystemClock(), time.Second, func(context.Context) (bool, error) {
			return false,
				nil
		}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// The text of an error does not depend on the order in which its parts came.
func TestSorted(t *testing.T) {
	a, b := errors.New("r0: refused"), errors.New("r1: late")
	one, other := subject.Sorted(errors.Join(a, b, a)), subject.Sorted(errors.Join(b, a))
	if one.Error() != "r0: refused; r1: late" || one.Error() != other.Error() || !errors.Is(one, b) ||
		subject.Sorted(nil) != nil {
		t.Errorf("%q and %q", one, other)
	}
}
