package lock

import (
	"context"
	"time"
)

// A Clock is where a lock takes its time from. It is safe for concurrent use.
//
// Only differences between readings matter, so they should be monotonic. A [time.Time] made by
// time.Now carries a monotonic reading, which makes Sub, Before and After immune to steps of the wall
// clock (F21); so does a result of Add on it. A Clock that makes its own times, such as a simulator's,
// returns times that never step unless it means to simulate just that.
type Clock interface {
	// Now returns the current time.
	Now() time.Time

	// Sleep waits for d, or until ctx ends. Its error is nil after a full sleep and otherwise that of ctx.
	Sleep(ctx context.Context, d time.Duration) error

	// AfterFunc calls f in a goroutine of its own after d. The function that it returns cancels the
	// call, and reports whether it did: false means that f was called or is being called.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}
