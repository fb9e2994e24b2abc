package zklock

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"locksim/lock"
)

// refusals are the errors of the servers that prove that they did nothing, and will not.
var refusals = []error{
	zk.ErrNoNode, zk.ErrNoAuth, zk.ErrBadVersion, zk.ErrNoChildrenForEphemerals, zk.ErrNodeExists, zk.ErrNotEmpty,
	zk.ErrInvalidACL,
	zk.ErrInvalidFlags, zk.ErrBadArguments, zk.ErrAuthFailed, zk.ErrAPIError,
}

// refused reports whether an error is one of a server that has done nothing.
func refused(err error) bool {
	for _, refusal := range refusals {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

// final reports whether it is of no use to try again after an error.
func final(err error) bool {
	return refused(err) || errors.Is(err, errPlaceLost) || errors.Is(err, lock.ErrTaken)
}

// outcome makes lock.ErrOutcomeUnknown part of err, unless err proves that the servers did nothing.
func outcome(err error) error {
	if err == nil || refused(err) {
		return err
	}
	return fmt.Errorf("%w: %w", lock.ErrOutcomeUnknown, err)
}

// call calls f, which cannot be cancelled, and waits for it until ctx ends. f goes on then.
func call[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
