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

// brief is the TTL on a server in real time.
const brief = 200 * time.Millisecond

// On a PostgreSQL that runs freely, without a world, each mistake shows as in its scenario, and the lock without mistakes has
// none of them.
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

// client is one that does something when it has taken the row.
func (f *freely) client(taken func()) lock.Locker {
	f.t.Helper()
	l, err := f.specimen.New(f.db, sqlbroken.Options{TTL: brief, Backoff: lock.Backoff{Min: time.Millisecond, Max: 5 * time.Millisecond},
		Clock: lock.SystemClock(), Jitter: rand.NewPCG(1, 2), Entropy: crypto.Reader, Point: func(string) { taken() }})
	if err != nil {
		f.t.Fatal(err)
	}
	return l
}

func nothing() {}

// acquire acquires the lock, and waits for half of the TTL at most.
func (f *freely) acquire(ctx context.Context, l lock.Locker) (lock.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, brief/2)
	defer cancel()
	return l.Acquire(ctx, f.resource)
}

// releasesAnother reports whether a late release lets a third client in beside the second.
func releasesAnother(ctx context.Context, f *freely) bool {
	late, err := f.acquire(ctx, f.client(nothing))
	if err != nil {
		f.t.Fatal(err)
	}
	time.Sleep(brief + brief/4)
	if _, err := f.acquire(ctx, f.client(nothing)); err != nil {
		f.t.Fatal(err)
	}
	_ = late.Release(ctx)
	_, err = f.acquire(ctx, f.client(nothing))
	return err == nil
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
	granted := make(chan bool, 2)
	for range 2 {
		go func() {
			ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			_, err := f.client(nothing).Acquire(ctx, f.resource)
			granted <- err == nil
		}()
	}
	for waiting := 0; waiting < 2; {
		if err := f.db.QueryRowContext(ctx, "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'broken_locks'::regclass").Scan(&waiting); err != nil {
			f.t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		f.t.Fatal(err)
	}
	first := <-granted
	select {
	case second := <-granted:
		return first && second
	case <-time.After(brief / 2):
		<-granted // when the lease of the first has ended
		return false
	}
}

// sameToken reports whether a client that is slow to read its token gets that of its successor.
func sameToken(ctx context.Context, f *freely) bool {
	var successor lock.Lease
	slow, err := f.client(func() {
		time.Sleep(brief + brief/4)
		l, err := f.acquire(ctx, f.client(nothing))
		if err != nil {
			f.t.Error(err)
		}
		successor = l
	}).Acquire(ctx, f.resource)
	if err != nil || successor == nil {
		f.t.Fatal(err)
	}
	return slow.Token() == successor.Token()
}
