package lock_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

func TestContextEndsWhileWaiting(t *testing.T) {
	everyKind(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Minute})
		b, _ := w.lock(lock.Options{Backoff: lock.Backoff{Min: 100 * time.Millisecond, Max: 100 * time.Millisecond}})
		holder := w.acquire(a)
		ctx, cancel := context.WithTimeout(w.Context(), 250*time.Millisecond)
		defer cancel()

		began := time.Now()
		_, err := b.Acquire(ctx, resource)
		w.want(err, context.DeadlineExceeded)
		if want := "acquire order:42: gave up after 250ms and 3 tries: context deadline exceeded"; err == nil ||
			err.Error() != want {
			w.Errorf("error %q, want %q", err, want)
		}
		if waited := time.Since(began); waited != 250*time.Millisecond {
			w.Errorf("waited %v, want to the deadline", waited)
		}
		w.release(holder)
		w.wantFree(b)
	})
}

func TestCancelWhileWaiting(t *testing.T) {
	everyWaiting(t, func(w *world) {
		a, _ := w.lock(lock.Options{TTL: time.Minute})
		b, _ := w.lock(lock.Options{})
		w.acquire(a)
		ctx, cancel := context.WithCancel(w.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		_, err := b.Acquire(ctx, resource)
		w.want(err, context.Canceled)
		if waited := time.Since(began); waited != time.Second {
			w.Errorf("waited %v, want 1s", waited)
		}
	})
}

func TestAcquireWithDeadContextSendsNothing(t *testing.T) {
	everyKind(t, func(w *world) {
		l, line := w.lock(lock.Options{})
		line.refuse()
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		_, err := l.Acquire(ctx, resource)
		w.want(err, context.Canceled)
		if errors.Is(err, syscall.ECONNREFUSED) {
			w.Errorf("error %v: it dialled", err)
		}
	})
}

func TestUnknownOutcomeIsCleanedUp(t *testing.T) {
	for _, loss := range losses {
		t.Run(loss.name, func(t *testing.T) {
			everyKind(t, func(w *world) {
				l, line := w.lock(lock.Options{})
				f := loss.fault
				f.command = w.kind.ask
				line.arm(f)
				ctx, cancel := context.WithTimeout(w.Context(), time.Second)
				defer cancel()

				_, err := l.Acquire(ctx, resource)
				w.want(err, lock.ErrOutcomeUnknown, loss.cause)
				if errors.Is(loss.cause, os.ErrDeadlineExceeded) {
					w.want(err, context.DeadlineExceeded)
				}
				w.wantFree(l)
				began := time.Now()
				w.acquire(l)
				if waited := time.Since(began); waited != 0 {
					w.Errorf("the next Acquire waited %v", waited)
				}
			})
		})
	}
}

func TestCleanUpLeavesTheHolder(t *testing.T) {
	everyKind(t, func(w *world) {
		a, _ := w.lock(lock.Options{})
		b, line := w.lock(lock.Options{})
		holder := w.acquire(a)
		line.arm(fault{command: askAgain(w.kind), loseReply: true, err: syscall.ECONNRESET})
		_, err := b.Acquire(w.Context(), resource)
		w.want(err, lock.ErrOutcomeUnknown)
		w.release(holder)
	})
}

// askAgain is the command that asks for the lock on a node that has the kind's scripts.
func askAgain(k kind) string {
	if k.ask == "eval" {
		return "evalsha"
	}
	return k.ask
}

func TestFailedCleanUpIsReported(t *testing.T) {
	everyKind(t, func(w *world) {
		l, line := w.lock(lock.Options{TTL: 5 * time.Second})
		line.arm(fault{command: w.kind.ask, loseReply: true, err: syscall.ECONNRESET, thenRefuse: true})
		_, err := l.Acquire(w.Context(), resource)
		w.want(err, lock.ErrOutcomeUnknown, syscall.ECONNRESET, syscall.ECONNREFUSED)
		if want := "nobody may get the lock for 5s"; err == nil || !strings.Contains(err.Error(), want) {
			w.Errorf("error %q does not say %q", err, want)
		}
		time.Sleep(5 * time.Second)
		w.wantFree(l)
	})
}

func TestRefusalsAreNotUnknown(t *testing.T) {
	for _, reply := range []string{
		"READONLY You can't write against a read only replica.",
		"OOM command not allowed when used memory > 'maxmemory'.",
		"LOADING Redis is loading the dataset in memory",
	} {
		t.Run(reply[:strings.IndexByte(reply, ' ')], func(t *testing.T) {
			everyKind(t, func(w *world) {
				l, _ := w.lock(lock.Options{})
				w.node.SetError(reply)
				_, err := l.Acquire(w.Context(), resource)
				if err == nil || errors.Is(err, lock.ErrOutcomeUnknown) || !strings.Contains(err.Error(), reply) {
					w.Errorf("error %v, want the node's and a known outcome", err)
				}
			})
		})
	}
}

func TestRefusedDialIsNotUnknown(t *testing.T) {
	everyKind(t, func(w *world) {
		l, line := w.lock(lock.Options{})
		line.refuse()
		_, err := l.Acquire(w.Context(), resource)
		w.want(err, syscall.ECONNREFUSED)
		if errors.Is(err, lock.ErrOutcomeUnknown) {
			w.Errorf("error %v: nothing was sent", err)
		}
	})
}

func TestExhaustedPoolIsNotUnknown(t *testing.T) {
	everyKind(t, func(w *world) {
		o := quiet(&wire{node: w.node})
		o.PoolSize, o.MaxActiveConns = 2, 1 // a waiting pool would use a timer of another bubble
		c := redis.NewClient(o)
		w.Cleanup(func() { _ = c.Close() })
		l, err := w.kind.make(c, lock.Options{})
		if err != nil {
			w.Fatal(err)
		}
		only := c.Conn()
		if err := only.Ping(w.Context()).Err(); err != nil {
			w.Fatal(err)
		}
		_, err = l.Acquire(w.Context(), resource)
		w.want(err, redis.ErrPoolExhausted)
		if errors.Is(err, lock.ErrOutcomeUnknown) {
			w.Errorf("error %v: nothing was sent", err)
		}
		_ = only.Close()
	})
}

func TestValidityCountsFromTheSend(t *testing.T) {
	everyKind(t, func(w *world) {
		l, line := w.lock(lock.Options{TTL: 10 * time.Second})
		line.arm(fault{command: w.kind.ask, delay: 3 * time.Second})
		sent := time.Now()
		lease := w.acquire(l)
		if took := time.Since(sent); took != 3*time.Second {
			w.Errorf("the answer took %v, want 3s", took)
		}
		if valid := lease.Until().Sub(sent); valid != 10*time.Second {
			w.Errorf("valid for %v after the send, want 10s", valid)
		}
		<-lease.Lost()
		if lost := time.Since(sent); lost != 10*time.Second {
			w.Errorf("lost %v after the send, want 10s", lost)
		}
	})
}

func TestAnswerSlowerThanTheTTL(t *testing.T) {
	everyWaiting(t, func(w *world) {
		l, line := w.lock(lock.Options{TTL: time.Second})
		line.arm(fault{command: w.kind.ask, delay: time.Second})
		lease := w.acquire(l)
		if left := time.Until(lease.Until()); left != time.Second {
			w.Errorf("the lease has %v left, want that of a second, fresh grant", left)
		}
		w.release(lease)
	})
}

func TestGrantAfterEndOfContextIsGivenBack(t *testing.T) {
	everyWaiting(t, func(w *world) {
		l, line := w.lock(lock.Options{})
		line.arm(fault{command: w.kind.ask, delay: 2 * time.Second})
		ctx, cancel := context.WithCancel(w.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := l.Acquire(ctx, resource)
		w.want(err, context.Canceled)
		if errors.Is(err, lock.ErrOutcomeUnknown) {
			w.Errorf("error %v: the answer came", err)
		}
		w.wantFree(l)
	})
}

func TestGrantThatCannotBeGivenBack(t *testing.T) {
	everyKind(t, func(w *world) {
		l, line := w.lock(lock.Options{TTL: time.Second})
		line.arm(fault{command: w.kind.ask, delay: time.Second})
		time.AfterFunc(500*time.Millisecond, func() { w.node.SetError("READONLY just demoted") })
		_, err := l.Acquire(w.Context(), resource)
		if want := "acquire order:42: granted too late, and giving it back failed"; err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			w.Errorf("error %v, want %q", err, want)
		}
	})
}
