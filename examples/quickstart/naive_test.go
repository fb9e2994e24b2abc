package quickstart

import (
	"context"
	"io"
	"os"
	"testing"

	"locksim/lock"
	"locksim/reports"
	"locksim/reports/html"
	"locksim/scenarios"
	simredis "locksim/sim/redis"
)

// naive releases Mutex by DEL without a check of the key's owner, a common first
// mistake.
type naive struct{ lease }

func (n naive) Release(ctx context.Context) error { return n.client.Del(ctx, n.key).Err() }

type naiveGlue struct{ glue }

func (g naiveGlue) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	l, err := g.glue.Acquire(ctx, name)
	if err != nil {
		return nil, err
	}
	return naive{l.(lease)}, nil
}

func TestNaive(t *testing.T) {
	if os.Getenv("NAIVE") == "" {
		t.Skip("this test must fail: NAIVE=1 go test -run TestNaive .")
	}
	scenarios.Check(t, scenarios.Lock{Name: "naive", Promise: mutual, New: func(e scenarios.Env) (lock.Locker, error) {
		return naiveGlue{glue{simredis.Client(e, "r0")}}, nil
	}}, scenarios.Options{Seed: 1, Page: func(w io.Writer, o *scenarios.Outcome, replay string) error {
		return html.Run(w, o, reports.Options{Replay: replay})
	}})
}
