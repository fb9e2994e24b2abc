// Package glue has what several adapters of other people's locks need, in the modules below examples.
package glue

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/lock"
	"locksim/scenarios"
)

// Way is how a lock is asked for: it calls what asks, and returns the instant of the last call.
type Way func(ctx context.Context, e scenarios.Env, ask func(ctx context.Context) error) (asked time.Time, err error)

// Once is the [Way] of a call that waits, or of one that does not.
func Once(ctx context.Context, e scenarios.Env, ask func(ctx context.Context) error) (asked time.Time, err error) {
	asked = e.Clock().Now()
	return asked, scenarios.Unanswered(ask(ctx))
}

// Tried is the [Way] of one that does not wait: it is called until it has the lock, with a pause of 100 ms.
func Tried(ctx context.Context, e scenarios.Env, ask func(ctx context.Context) error) (asked time.Time, err error) {
	err = scenarios.Retry(ctx, e.Clock(), 100*time.Millisecond, func(ctx context.Context) (bool, error) {
		asked = e.Clock().Now()
		if ask(ctx) == nil { // also when the context has ended meanwhile: else the lock would never be given back
			return true, nil
		}
		return false, ctx.Err()
	})
	return asked, scenarios.Unanswered(err)
}

// Patient calls what waits for a lock without a context. If ctx ends first it returns its error, and the wait goes on:
// once it has the lock it gives it back, as its user has to.
func Patient(ctx context.Context, wait, giveBack func() error) error {
	done := make(chan error, 1)
	go func() { done <- wait() }()
	select {
	case err := <-done:
		return scenarios.Unanswered(err)
	case <-ctx.Done():
		go func() {
			if <-done == nil {
				_ = giveBack()
			}
		}()
		return ctx.Err()
	}
}

// Done is the error of a release or a renewal that says in two results how it went: whether the lock was still held,
// and why not. Without a reason, or where each line of it has one of the words by which the library says so, it was
// not; else that is not known.
func Done(ok bool, err error, lost ...string) error {
	switch {
	case ok:
		return nil
	case err == nil:
		return lock.ErrNotHeld
	}
	err = scenarios.Sorted(err)
	for line := range strings.SplitSeq(err.Error(), "; ") {
		said := func(word string) bool { return strings.Contains(line, word) }
		if !strings.HasSuffix(line, "occurred:") && !slices.ContainsFunc(lost, said) {
			return scenarios.Unanswered(err)
		}
	}
	return fmt.Errorf("%w: %w", lock.ErrNotHeld, err)
}
