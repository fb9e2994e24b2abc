package articles

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/scenarios/sqllocks"
	"locksim/sim"
)

// blind is recipe A19 without its comparison: what the second writer has not seen is lost.
type blind struct{ db *sql.DB }

func (b blind) Change(ctx context.Context, name string, change func(value string) (string, error)) error {
	var value string
	row := b.db.QueryRowContext(ctx, "SELECT value FROM article_values WHERE name = $1", name)
	if err := row.Scan(&value); err != nil {
		return err
	}
	value, err := change(value)
	if err == nil {
		_, err = b.db.ExecContext(ctx, "UPDATE article_values SET value = $1 WHERE name = $2", value, name)
	}
	return err
}

// The world in which A19 and STM are judged shows a lost change in its first run.
func TestLostChangesAreFound(t *testing.T) {
	if err := recipe(t, "A19").Missing(); err != nil {
		t.Skip(err)
	}
	world := inRow()
	world.open = func(p *sim.Process) (changer, error) {
		db, err := sqllocks.Open(p)
		return blind{db}, err
	}
	if got := world.try(2); got.Err != nil || got.Wrong == "" {
		t.Errorf("nothing is lost: %+v", got)
	}
}

// What A20 does wrong is the second look: with one into a cache that all share, as that of lock.Fill, one process
// computes the value.
func TestSecondLook(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		if got := computed(seed); got.Err != nil || got.Wrong == "" {
			t.Errorf("seed %d: A20 computes once: %+v", seed, got)
		}
		calls := 0
		got := cached(seed, func(p *sim.Process, client *redis.Client) error {
			locks, err := lock.NewSingle(client, lock.Options{TTL: ttl, Clock: p.Clock()})
			if err != nil {
				return err
			}
			_, err = lock.Fill(p.Context(), locks, "cache:page", func(ctx context.Context) (string, bool, error) {
				value, err := client.Get(ctx, "page").Result()
				if errors.Is(err, redis.Nil) {
					return "", false, nil
				}
				return value, err == nil, err
			}, func(ctx context.Context, _ lock.Lease) (string, error) {
				calls++
				if err := p.Clock().Sleep(ctx, 500*time.Millisecond); err != nil {
					return "", err
				}
				return "text", client.Set(ctx, "page", "text", 0).Err()
			})
			return err
		})
		if got.Err != nil || calls != 1 {
			t.Errorf("seed %d: Fill computes %d times: %v", seed, calls, got.Err)
		}
	}
}

// A21 has a negative segment for a negative id, and so has an array none. A language whose remainders have the sign of
// the divisor has another one. Stripe has one of 16, for each key.
func TestSegments(t *testing.T) {
	id := int64(-3)
	if got := segment(id); got != "segment:-3" {
		t.Errorf("the segment of %d is %s", id, got)
	}
	if floor := (id%segments + segments) % segments; floor != 13 {
		t.Errorf("in Python it is %d", floor)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("an array has a place for it")
			}
		}()
		var locks [segments]int
		locks[id%segments]++
	}()
	for id := int64(-1000); id <= 1000; id++ {
		if s := lock.Stripe(fmt.Sprint(id), segments); s < 0 || s >= segments {
			t.Errorf("Stripe of %d is %d", id, s)
		}
	}
}

// The inner call of A22 waits for its own client until the key of the outer one has ended.
func TestNested(t *testing.T) {
	var waited time.Duration
	calls := 0
	got := cached(1, func(p *sim.Process, client *redis.Client) error {
		if p.Name() != "c0" {
			return nil
		}
		began := p.Clock().Now()
		s := service{func(account string) mutex {
			return &setNX{ctx: p.Context(), now: p.WallClock().Now, client: client, key: account, id: newID(), ttl: ttl}
		}}
		_, err := s.Transfer("order", 2*ttl, func() error { calls++; return nil })
		waited = p.Clock().Now().Sub(began)
		return err
	})
	if got.Err != nil || calls != 2 || waited < ttl || waited > ttl+time.Second {
		t.Errorf("%d calls after %v: %v", calls, waited, got.Err)
	}
}
