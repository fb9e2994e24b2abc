package sqlbroken_test

import (
	"context"
	crypto "crypto/rand"
	"database/sql"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"locksim/internal/pgserver"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/broken/sqlbroken"
)

// On a PostgreSQL that runs freely, without a world, each mistake shows as in its scenario, and the lock without
// mistakes has none of them.
func TestMistakesOnAFreeServer(t *testing.T) {
	testruns.NeedsPostgres(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := pgserver.Start(ctx, pgserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	cfg, err := pgx.ParseConfig(server.Source())
	if err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDB(*cfg)
	defer db.Close() //nolint:errcheck // the server ends
	for _, statement := range sqlbroken.Schema() {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	for name, isWrong := range map[string]func(ctx context.Context, f *freely) bool{
		"sql-release-without-owner": releasesAnother,
		"sql-takeover-unchecked":    bothTake,
		"sql-token-read-late":       sameToken,
		"sql-cleaner":               losesTheNumber,
	} {
		for _, s := range append(sqlbroken.All(), sqlbroken.Right()) {
			isRight := s.Name == sqlbroken.Right().Name
			if s.Name != name && !isRight {
				continue
			}
			t.Run(name+" by "+s.Name, func(t *testing.T) {
				if wrong := isWrong(ctx, &freely{t, db, s, name + s.Name}); wrong == isRight {
					t.Errorf("the mistake shows: %v", wrong)
				}
			})
		}
	}
}

// freely makes the clients of one lock.
type freely struct {
	t        *testing.T
	db       *sql.DB
	specimen sqlbroken.Specimen
	resource string
}

// client is one that does something when it has taken the row, and says when it was refused. Its leases do not end
// before the test does.
func (f *freely) client(taken, refused func()) lock.Locker {
	f.t.Helper()
	l, err := f.specimen.New(f.db,
		sqlbroken.Options{TTL: time.Hour, Backoff: lock.Backoff{Min: time.Millisecond, Max: 5 * time.Millisecond},
			Clock: noticed{lock.SystemClock(), refused}, Wall: lock.SystemClock(), Jitter: rand.NewPCG(1, 2),
			Entropy: crypto.Reader, Point: func(string) { taken() }})
	if err != nil {
		f.t.Error(err)
	}
	return l
}

// noticed is a clock that is told when a client waits before it asks again.
type noticed struct {
	lock.Clock
	refused func()
}

func (n noticed) Sleep(ctx context.Context, d time.Duration) error {
	n.refused()
	return n.Clock.Sleep(ctx, d)
}

func nothing() {}

// acquire acquires a lock that is free.
func (f *freely) acquire(ctx context.Context) lock.Lease {
	f.t.Helper()
	l, err := f.client(nothing, nothing).Acquire(ctx, f.resource)
	if err != nil {
		f.t.Error(err)
	}
	return l
}

// expire ends the lease of the row, as its end does.
func (f *freely) expire(ctx context.Context) {
	f.t.Helper()
	if _, err := f.db.ExecContext(ctx, "UPDATE broken_locks SET expires_at = clock_timestamp() WHERE resource = $1",
		f.resource); err != nil {
		f.t.Error(err)
	}
}

// releasesAnother reports whether a late release frees the row of another client.
func releasesAnother(ctx context.Context, f *freely) (freed bool) {
	late := f.acquire(ctx)
	f.expire(ctx)
	f.acquire(ctx)
	_ = late.Release(ctx)
	if err := f.db.QueryRowContext(ctx, "SELECT expires_at <= clock_timestamp() FROM broken_locks WHERE resource = $1",
		f.resource).Scan(&freed); err != nil {
		f.t.Fatal(err)
	}
	return freed
}

// bothTake reports whether two clients take a row that both have seen to be free: none can write it until both wait to.
func bothTake(ctx context.Context, f *freely) bool {
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	if _, err := tx.ExecContext(ctx, "LOCK TABLE broken_locks IN EXCLUSIVE MODE"); err != nil {
		f.t.Fatal(err)
	}
	both, end := context.WithCancel(ctx)
	defer end()
	outcomes := make(chan bool, 1000) // of statements: whether they took the row
	for range 2 {
		go func() {
			_, _ = f.client(func() { outcomes <- true }, func() { outcomes <- false }).Acquire(both, f.resource)
		}()
	}
	for waiting := 0; waiting < 2; {
		if err := f.db.QueryRowContext(ctx, "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = "+
			"'broken_locks'::regclass").Scan(&waiting); err != nil {
			f.t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		f.t.Fatal(err)
	}
	first, second := <-outcomes, <-outcomes
	return first && second
}

// sameToken reports whether a client that is slow to read its token gets that of its successor.
func sameToken(ctx context.Context, f *freely) bool {
	var successor lock.Lease
	slow, err := f.client(func() {
		f.expire(ctx)
		successor = f.acquire(ctx)
	}, nothing).Acquire(ctx, f.resource)
	if err != nil || successor == nil {
		f.t.Fatal(err)
	}
	return slow.Token() == successor.Token()
}

// losesTheNumber reports whether a grant after the end of another's lease has its token.
func losesTheNumber(ctx context.Context, f *freely) bool {
	ended := f.acquire(ctx)
	f.expire(ctx)
	return f.acquire(ctx).Token() == ended.Token()
}
