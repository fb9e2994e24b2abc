package lock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// lagging is a context whose own timer has not fired yet, although its deadline may have passed.
type lagging struct {
	context.Context
	deadline time.Time
}

func (c lagging) Deadline() (time.Time, bool) { return c.deadline, true }

func TestDeadlineCountsFromItsInstantOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := lagging{context.Background(), time.Now().Add(time.Second)}
		time.Sleep(time.Second - 1)
		if err := ended(ctx); err != nil {
			t.Errorf("before the deadline: %v", err)
		}
		time.Sleep(time.Nanosecond)
		if err := ended(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("at the deadline: %v", err)
		}
	})
}
