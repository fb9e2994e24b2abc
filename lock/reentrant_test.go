package lock_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

var reentrantKinds = kinds[2:4]

// everyReentrant runs the test for the reentrant kinds.
func everyReentrant(t *testing.T, test func(w *world)) {
	for _, k := range reentrantKinds {
		t.Run(k.name, func(t *testing.T) { bubble(t, k, test) })
	}
}

// as is the lock for an owner.
func as(l lock.Locker, owner string) locker { return l.(lock.Owned).As(owner).(locker) }

// wantEntries fails unless the owner has that many entries on the node.
func (w *world) wantEntries(l locker, owner, entries string) {
	w.Helper()
	if got := w.node.HGet(l.Key(resource), "owner:"+owner); got != entries {
		w.Errorf("%q entries of %s, want %q", got, owner, entries)
	}
}

func TestOwnerEntersAgain(t *testing.T) {
	everyReentrant(t, func(w *world) {
		l, _ := w.lock(lock.Options{})
		other, _ := w.lock(lock.Options{})
		began := time.Now()
		outer, inner := w.acquire(as(l, "a")), w.acquire(as(l, "a"))
		elsewhere := w.acquire(as(other, "a")) // another process, the same owner
		w.wantEntries(l, "a", "3")
		if waited := time.Since(began); waited != 0 {
			w.Errorf("waited %v for its own lock", waited)
		}
		for i, lease := range []lock.Lease{outer, inner, elsewhere} { // not the order of the entries
			_, err := w.try(as(l, "b"))
			w.want(err, lock.ErrTaken)
			_, err = w.try(l)
			w.want(err, lock.ErrTaken)
			w.release(lease)
			w.wantEntries(l, "a", []string{"2", "1", ""}[i])
		}
		w.wantFree(l)
	})
}

func TestPlainAcquireNeverEntersAgain(t *testing.T) {
	everyReentrant(t, func(w *world) {
		l, _ := w.lock(lock.Options{})
		w.acquire(l)
		_, err := w.try(l)
		w.want(err, lock.ErrTaken)
	})
}

func TestOwnerNeedsAName(t *testing.T) {
	everyReentrant(t, func(w *world) {
		l, _ := w.lock(lock.Options{})
		for _, err := range []error{
			func() error { _, err := l.(lock.Owned).As("").Acquire(w.Context(), resource); return err }(),
			func() error { _, err := w.try(as(l, "")); return err }(),
		} {
			if err == nil || !strings.HasSuffix(err.Error(), `acquire "order:42": the owner has no name`) {
				w.Errorf("error %v", err)
			}
		}
	})
}

func TestOwnersMayBeCalledAnything(t *testing.T) {
	everyReentrant(t, func(w *world) {
		l, _ := w.lock(lock.Options{})
		for _, name := range []string{"token", "owner:a", "entry:a", "\x00", "{}"} {
			outer, inner := w.acquire(as(l, name)), w.acquire(as(l, name))
			w.wantEntries(l, name, "2")
			w.release(outer)
			w.release(inner)
			w.wantFree(l)
		}
	})
}

// TestEntriesShareTheToken is F34: the token belongs to the grant.
func TestEntriesShareTheToken(t *testing.T) {
	bubble(t, reentrantKinds[1], func(w *world) {
		l, _ := w.lock(lock.Options{})
		for want := uint64(1); want <= 3; want++ {
			outer, inner := w.acquire(as(l, "a")), w.acquire(as(l, "a"))
			if outer.Token() != want || inner.Token() != want {
				w.Errorf("tokens %d and %d, want %d", outer.Token(), inner.Token(), want)
			}
			w.release(inner)
			w.release(outer)
		}
	})
}

// TestEntryOfAFencedKindIntoAPlainGrant mixes kinds under one owner: the grant gets a token then.
func TestEntryOfAFencedKindIntoAPlainGrant(t *testing.T) {
	bubble(t, reentrantKinds[0], func(w *world) {
		plain, _ := w.lock(lock.Options{})
		c, _ := w.client()
		fenced, err := lock.NewReentrantFenced(c, lock.Options{})
		if err != nil {
			w.Fatal(err)
		}
		w.acquire(as(plain, "a"))
		first, second := w.acquire(fenced.As("a")), w.acquire(fenced.As("a"))
		if first.Token() != 1 || second.Token() != 1 {
			w.Errorf("tokens %d and %d, want 1", first.Token(), second.Token())
		}
	})
}

func TestEntryRenewsTheTTL(t *testing.T) {
	everyReentrant(t, func(w *world) {
		l, _ := w.lock(lock.Options{TTL: 10 * time.Second})
		outer := w.acquire(as(l, "a"))
		time.Sleep(6 * time.Second)
		inner := w.acquire(as(l, "a"))
		if left := w.node.TTL(l.Key(resource)); left != 10*time.Second {
			w.Errorf("the key lasts %v, want 10s", left)
		}
		if ahead := inner.Until().Sub(outer.Until()); ahead != 6*time.Second {
			w.Errorf("the inner lease ends %v after the outer one, want 6s", ahead)
		}
		<-outer.Lost() // it has only its own TTL
		w.wantEntries(l, "a", "2")
		w.release(outer)
		w.release(inner)
		w.wantFree(l)
	})
}

func TestEntryWithAShorterTTLShortensNothing(t *testing.T) {
	everyReentrant(t, func(w *world) {
		long, _ := w.lock(lock.Options{TTL: time.Minute})
		short, _ := w.lock(lock.Options{TTL: time.Second})
		outer, inner := w.acquire(as(long, "a")), w.acquire(as(short, "a"))
		if err := inner.(lock.Extender).Extend(w.Context()); err != nil {
			w.Error(err)
		}
		if left := w.node.TTL(long.Key(resource)); left != time.Minute {
			w.Errorf("the key lasts %v, want the outer lease's minute", left)
		}
		w.release(inner)
		w.release(outer)
	})
}

func TestExtendOfAnEntry(t *testing.T) {
	everyReentrant(t, func(w *world) {
		l, _ := w.lock(lock.Options{TTL: 10 * time.Second})
		outer, inner := w.acquire(as(l, "a")), w.acquire(as(l, "a"))
		w.release(inner)
		time.Sleep(6 * time.Second)
		w.want(inner.(lock.Extender).Extend(w.Context()), lock.ErrNotHeld)
		if left := w.node.TTL(l.Key(resource)); left != 4*time.Second {
			w.Errorf("the key lasts %v: a released entry renewed it", left)
		}
		if err := outer.(lock.Extender).Extend(w.Context()); err != nil {
			w.Error(err)
		}
		if left := w.node.TTL(l.Key(resource)); left != 10*time.Second {
			w.Errorf("the key lasts %v, want 10s", left)
		}
	})
}

// TestExpiryBetweenInnerAndOuterRelease is F33: a release in an expired grant does not affect another grant, not even
// its own owner's next one (F30, F31).
func TestExpiryBetweenInnerAndOuterRelease(t *testing.T) {
	for _, successor := range []string{"", "b", "a"} {
		t.Run("then granted to "+successor, func(t *testing.T) {
			everyReentrant(t, func(w *world) {
				l, _ := w.lock(lock.Options{TTL: time.Second})
				outer, middle, inner := w.acquire(as(l, "a")), w.acquire(as(l, "a")), w.acquire(as(l, "a"))
				w.release(inner)
				time.Sleep(time.Second)
				var next lock.Lease
				if successor != "" {
					next = w.acquire(as(l, successor))
				}
				for range 2 {
					w.want(middle.Release(w.Context()), lock.ErrNotHeld)
					w.want(outer.Release(w.Context()), lock.ErrNotHeld)
					w.want(outer.(lock.Extender).Extend(w.Context()), lock.ErrNotHeld)
				}
				if next == nil {
					w.wantFree(l)
					return
				}
				w.wantEntries(l, successor, "1")
				w.release(next)
				w.wantFree(l)
			})
		})
	}
}

// TestReleaseOfAnEntryWithoutAnswer is F30: the second release of an entry does not undo another one.
func TestReleaseOfAnEntryWithoutAnswer(t *testing.T) {
	everyReentrant(t, func(w *world) {
		l, line := w.lock(lock.Options{})
		w.release(w.acquire(l)) // the scripts are cached from here on
		outer, inner := w.acquire(as(l, "a")), w.acquire(as(l, "a"))
		line.arm(fault{command: "evalsha", loseReply: true, err: io.EOF})
		w.want(inner.Release(w.Context()), lock.ErrOutcomeUnknown)
		w.wantEntries(l, "a", "1")
		w.want(inner.Release(w.Context()), lock.ErrNotHeld)
		w.wantEntries(l, "a", "1")
		w.release(outer)
		w.wantFree(l)
	})
}

func TestEntryWithoutAnswerIsUndone(t *testing.T) {
	for _, loss := range losses {
		t.Run(loss.name, func(t *testing.T) {
			everyReentrant(t, func(w *world) {
				l, line := w.lock(lock.Options{})
				w.release(w.acquire(l))
				outer := w.acquire(as(l, "a"))
				f := loss.fault
				f.command = "evalsha"
				line.arm(f)
				_, err := w.try(as(l, "a"))
				w.want(err, lock.ErrOutcomeUnknown)
				w.wantEntries(l, "a", "1")
				w.release(outer)
				w.wantFree(l)
			})
		})
	}
}

// TestRequestsThatAreSentTwice uses a client that sends again without an answer, as go-redis does by default (F27): an
// entry still counts once.
func TestRequestsThatAreSentTwice(t *testing.T) {
	everyReentrant(t, func(w *world) {
		line := &wire{node: w.node}
		o := quiet(line)
		o.MaxRetries = 3
		c := redis.NewClient(o)
		w.Cleanup(func() { _ = c.Close() })
		l := w.on(c, lock.Options{})
		w.release(w.acquire(l))
		lose := func() { line.arm(fault{command: "evalsha", loseReply: true, err: io.EOF}) }

		lose()
		outer := w.acquire(as(l, "a"))
		lose()
		inner := w.acquire(as(l, "a"))
		w.wantEntries(l, "a", "2")
		if outer.Token() != inner.Token() {
			w.Errorf("tokens %d and %d", outer.Token(), inner.Token())
		}
		lose()
		w.want(inner.Release(w.Context()), lock.ErrNotHeld) // the first request had worked
		w.wantEntries(l, "a", "1")
		w.release(outer)
		w.wantFree(l)
	})
}

// TestKindsExcludeEachOther takes one resource with all pairs of kinds of lock.
func TestKindsExcludeEachOther(t *testing.T) {
	for _, first := range kinds {
		t.Run(first.name, func(t *testing.T) {
			everyKind(t, func(w *world) {
				c, _ := w.client()
				a, err := first.make(c, lock.Options{})
				if err != nil {
					w.Fatal(err)
				}
				b, _ := w.lock(lock.Options{})
				late := w.acquire(a)
				_, err = w.try(b)
				w.want(err, lock.ErrTaken)
				w.node.Del(a.Key(resource)) // by an administrator (F46), so that the first lease does not notice its end
				successor, owner := w.acquire(b), w.owner(b)
				w.want(late.(lock.Extender).Extend(w.Context()), lock.ErrNotHeld)
				w.want(late.Release(w.Context()), lock.ErrNotHeld)
				if now := w.owner(b); now != owner {
					w.Errorf("the key is %q's, want %q's", now, owner)
				}
				w.release(successor)
			})
		})
	}
}
