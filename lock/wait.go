package lock

import (
	"context"
	"fmt"
)

// Waiting is how an Acquire waits between two tries for a lock that is held.
type Waiting int

const (
	// WaitPoll asks again after each delay of Options.Backoff. A waiter notices a free lock after at most Backoff.Max,
	// and sends the node a request per delay.
	WaitPoll Waiting = iota

	// WaitNotify sleeps until a release is published, and never past the end of the holder's TTL. The client must be a
	// [Subscriber].
	//
	// A waiter subscribes after its first failed try, asks again as soon as the node has confirmed that, and then
	// sleeps until a message arrives, or until the key's remaining TTL and a delay of Options.Backoff have passed: a
	// lost message, which pub/sub allows, delays a waiter by that much and no longer (F50). It polls by Backoff until
	// it is confirmed.
	//
	// The cost: each waiter holds a separate connection, outside the pool; and each release wakes all waiters of the
	// resource, which then send two requests each (F55), except those of a fair lock, of which it wakes only the first.
	WaitNotify
)

// String returns "poll" or "notify".
func (w Waiting) String() string {
	switch w {
	case WaitPoll:
		return "poll"
	case WaitNotify:
		return "notify"
	}
	return fmt.Sprintf("Waiting(%d)", int(w))
}

func (w Waiting) validate() error {
	if w != WaitPoll && w != WaitNotify {
		return fmt.Errorf("Waiting %d is none: use WaitPoll or WaitNotify", int(w))
	}
	return nil
}

// check returns an error if a client does not support that way of waiting.
func (w Waiting) check(client Redis) error {
	if _, ok := client.(Subscriber); !ok && w == WaitNotify {
		return fmt.Errorf("WaitNotify needs a client with Subscribe and PTTL, such as a *redis.Client, and %T is none", client)
	}
	return nil
}

// waiter waits between the tries of one Acquire.
type waiter interface {
	// wait returns when it is time for the nth retry, and an error once ctx has ended or waiting failed.
	wait(ctx context.Context, n int) error

	// close releases the resources of the waiter.
	close()
}

func (e *engine) waiter(c claim) waiter {
	if e.opt.Waiting == WaitNotify {
		return &listener{engine: e, client: e.redis.(Subscriber), claim: c}
	}
	return poller{e.core}
}

// poller waits only by Options.Backoff.
type poller struct{ *core }

func (poller) close() {}
