package lock_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"locksim/lock"
)

// cache is where the tests of Fill keep their value.
type cache struct {
	work time.Duration

	mu       sync.Mutex // guards the rest
	value    string
	computed int
}

func (c *cache) look(context.Context) (string, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.value, c.value != "", nil
}

func (c *cache) compute(ctx context.Context, _ lock.Lease) (string, error) {
	c.mu.Lock()
	c.computed++
	c.mu.Unlock()
	select {
	case <-time.After(c.work):
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.value = "page"
	return c.value, nil
}

// Of many that find no value at the same time, one computes it: the others wait for the lock, and find it by their
// second look. Who finds it by the first look does not ask for the lock.
func TestFillComputesOnce(t *testing.T) {
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{})
		c := &cache{work: time.Second}
		type result struct {
			value string
			err   error
		}
		results := make(chan result)
		for range 5 {
			go func() {
				value, err := lock.Fill(w.Context(), l, resource, c.look, c.compute)
				results <- result{value, err}
			}()
		}
		for range 5 {
			if r := <-results; r.value != "page" || r.err != nil {
				w.Errorf("%q, %v", r.value, r.err)
			}
		}
		if c.computed != 1 {
			w.Errorf("the value was computed %d times", c.computed)
		}
		w.wantFree(l)

		held := w.acquire(l)
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		if value, err := lock.Fill(ctx, l, resource, c.look, c.compute); value != "page" || err != nil {
			w.Errorf("while another one holds the lock: %q, %v", value, err)
		}
		w.release(held)
	})
}

// The context of compute ends with the lease, and with that of the caller; the lock is free then, and the cause is
// known.
func TestFillEnds(t *testing.T) {
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{TTL: 10 * time.Second})
		c := &cache{work: time.Minute}
		start := time.Now()
		_, err := lock.Fill(w.Context(), l, resource, c.look, c.compute)
		w.want(err, lock.ErrLost)
		if took := time.Since(start); took > 11*time.Second {
			w.Errorf("compute went on for %v with a lease of 10s", took)
		}
		w.wantFree(l)

		gone := errors.New("the visitor has left")
		ctx, cancel := context.WithCancelCause(w.Context())
		time.AfterFunc(time.Second, func() { cancel(gone) })
		start = time.Now()
		_, err = lock.Fill(ctx, l, resource, c.look, c.compute)
		w.want(err, gone)
		if errors.Is(err, lock.ErrNotHeld) || time.Since(start) > 2*time.Second {
			w.Errorf("after %v: %v", time.Since(start), err)
		}
		w.wantFree(l)
	})
}

// Errors of the looks, of Acquire, of compute and of Release reach the caller, and the lock is free after each.
func TestFillErrors(t *testing.T) {
	everyKind(t, func(w *world) {
		l, _ := w.lock(lock.Options{TTL: 10 * time.Second})
		broken := errors.New("broken")
		c := &cache{}
		for failing := range 2 {
			looks := 0
			_, err := lock.Fill(w.Context(), l, resource, func(context.Context) (string, bool, error) {
				looks++
				if looks == failing+1 {
					return "", false, broken
				}
				return "", false, nil
			}, c.compute)
			w.want(err, broken)
			w.wantFree(l)
		}
		if c.computed != 0 {
			w.Error("computed after a look that failed")
		}
		fail := func(context.Context, lock.Lease) (string, error) { return "", broken }
		_, err := lock.Fill(w.Context(), l, resource, c.look, fail)
		w.want(err, broken)
		w.wantFree(l)

		held := w.acquire(l)
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		_, err = lock.Fill(ctx, l, resource, c.look, c.compute)
		w.want(err, context.DeadlineExceeded)
		w.release(held)

		// A release that fails takes nothing from a value that is there.
		value, err := lock.Fill(w.Context(), l, resource, c.look, func(ctx context.Context, lease lock.Lease) (string,
			error) {
			w.node.FlushAll()
			return c.compute(ctx, lease)
		})
		w.want(err, lock.ErrNotHeld)
		if value != "page" {
			w.Errorf("value %q after a release that failed", value)
		}
	})
}
