// Package elections has what the elections of programs on PostgreSQL need as locks: a pool of pgx over the links of a
// world, and terms.
package elections

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"locksim/lock"
	"locksim/scenarios"
	"locksim/scenarios/sqllocks"
)

// Elect runs a candidate with an id in the election of a name, until ctx ends. It calls changed whenever the candidate
// begins or ends to lead, from one goroutine.
type Elect func(ctx context.Context, pool *pgxpool.Pool, name, id string, changed func(leads bool)) error

// Lock is an election as a lock: an Acquire runs a candidate until it leads, and a Release ends it. detection is how
// long a leader may take to learn that it does not lead any more.
func Lock(elect Elect, detection time.Duration, tables ...string) scenarios.Lock {
	return scenarios.Lock{
		Traits: scenarios.Traits{
			Servers: sqllocks.With(tables...), Lease: scenarios.LeaseHeld, Detection: detection,
			Keys: func(string) []string { return nil },
		},
		New: func(e scenarios.Env) (lock.Locker, error) {
			pool, err := open(e)
			if err != nil {
				return nil, err
			}
			return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
				return campaign(ctx, e, func(ctx context.Context, changed func(leads bool)) error {
					return elect(ctx, pool, name, e.Identity(), changed)
				})
			}), nil
		},
	}
}

// campaign runs a candidate until it leads.
func campaign(
	ctx context.Context, e scenarios.Env, elect func(ctx context.Context, changed func(leads bool)) error,
) (lock.Lease, error) {
	life, resign := context.WithCancel(e.Context())
	led, lost, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var failed error
	go func() {
		defer close(over)
		leads, ended := false, false
		failed = elect(life, func(is bool) {
			switch {
			case is && !leads:
				leads = true
				close(led)
			case !is && leads && !ended: // it may lead again later, which is another term
				ended = true
				close(lost)
				resign()
			}
		})
	}()
	select {
	case <-led:
	case <-over:
	case <-ctx.Done():
	}
	select {
	case <-led:
		if ctx.Err() == nil {
			break
		}
		resign()
		<-over
		return nil, fmt.Errorf("campaign: %w: %w", lock.ErrOutcomeUnknown, ctx.Err())
	default:
		resign()
		<-over
		if ctx.Err() != nil {
			return nil, fmt.Errorf("campaign: %w: %w", lock.ErrOutcomeUnknown, ctx.Err())
		}
		return nil, scenarios.Unanswered(failed)
	}
	return scenarios.NewLease(ctx, e, scenarios.Grant{Lost: lost, Unlock: func(context.Context) error {
		gone := isClosed(lost)
		resign()
		<-over
		if gone {
			return lock.ErrNotHeld
		}
		return nil
	}}), nil
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// open is a pool of pgx with its defaults.
func open(e scenarios.Env) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(sqllocks.Source)
	if err != nil {
		return nil, err
	}
	sqllocks.Configure(e, cfg.ConnConfig)
	pool, err := pgxpool.NewWithConfig(e.Context(), cfg)
	if err != nil {
		return nil, err
	}
	e.OnEnd(pool.Close)
	return pool, nil
}
