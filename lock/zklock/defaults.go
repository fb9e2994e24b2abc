package zklock

import (
	"context"
	"crypto/rand"
	"io"
	"time"
)

// This file has all that goes by the machine's clock, and its randomness.

// detached returns a context with the values of ctx that ends after d, independently of ctx.
func detached(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), d)
}

// earlier is the earlier one of a deadline and a time from now.
func earlier(deadline time.Time, d time.Duration) time.Time {
	if latest := time.Now().Add(d); deadline.After(latest) {
		return latest
	}
	return deadline
}

func defaultEntropy() io.Reader { return rand.Reader }
