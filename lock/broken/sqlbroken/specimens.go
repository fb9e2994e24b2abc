package sqlbroken

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"locksim/lock"
	"locksim/lock/broken/polling"
	"locksim/lock/sqllock"
)

// Specimen is one mistake, with its properties.
type Specimen struct {
	// Name is the name of the lock, after "broken/" in flags and scenario files.
	Name string
	// ID is its entry in the catalogue of failure modes, such as F66; "" if it has none.
	ID string
	// Wrong says in one sentence what is wrong.
	Wrong string
	// Tokens says that its leases carry fencing tokens.
	Tokens bool
	// Held says that its leases last as long as a connection.
	Held bool
	// Pooled says that the mistake is the way to the database: a proxy that gives each transaction a connection.
	Pooled bool

	mistake mistake
	// lock makes the lock, if it is none on a row of [Schema].
	lock func(db *sql.DB, o Options) (lock.Locker, error)
}

// mistake replaces a step of a lock on a row. What is nil is right.
type mistake struct {
	// clean is done before each try.
	clean func(ctx context.Context, db *sql.DB, wall lock.Clock) error
	// take takes the row, if it is free or expired.
	take func(ctx context.Context, db *sql.DB, r row) (token uint64, granted bool, err error)
	// token is the fencing token of a grant.
	token func(ctx context.Context, db *sql.DB, resource string, minted uint64) (uint64, error)
	// free ends the lease.
	free func(ctx context.Context, db *sql.DB, r row) (had bool, err error)
}

// row is what a client writes into the row of a lock.
type row struct {
	resource, owner string
	ttl             time.Duration
}

// Options configure a specimen. All but Second are required.
type Options struct {
	// TTL is that of the lease in the database: whole milliseconds.
	TTL time.Duration
	// Backoff is the time between two tries.
	Backoff lock.Backoff
	// Second says that a client takes two locks in the other order.
	Second bool
	// Clock is the source of time, Wall the wall clock of the client, Jitter the source of the random times, Entropy that
	// of the owner ids.
	Clock   lock.Clock
	Wall    lock.Clock
	Jitter  rand.Source
	Entropy io.Reader
	// Point is called with the label "taken" once the row is the client's, where a fault can be applied although no time
	// passes.
	Point func(label string)
}

// Leases is the table of the locks whose rows are leases: it has the columns of that of [sqllock.Table].
const Leases = "broken_locks"

// rows are the tables of the specimens: that of the locks on a row, and that of [sqllock.ForUpdate].
const (
	rows   = Leases
	single = "broken_rows"
)

// Schema makes the tables.
func Schema() []string {
	return []string{
		`CREATE TABLE ` + rows +
			` (resource text PRIMARY KEY, owner text NOT NULL, expires_at timestamptz NOT NULL, token bigint NOT NULL)`,
		`CREATE TABLE ` + single + ` (resource text PRIMARY KEY)`,
	}
}

// All lists the specimens. The caller owns the slice.
func All() []Specimen {
	return []Specimen{
		{
			Name: "sql-release-without-owner", ID: "F02",
			Wrong: "Its release ends the lease of the row, also that of another client.",
			mistake: mistake{free: func(ctx context.Context, db *sql.DB, r row) (bool, error) {
				return changed(db.ExecContext(ctx, `UPDATE `+rows+` SET owner = '', expires_at = '-infinity' WHERE resource = $1`,
					r.resource))
			}},
		},
		{
			Name: "sql-takeover-unchecked", ID: "F03",
			Wrong: "It looks whether the row is free or expired, and takes it by a second statement, which does not look " +
				"again.",
			mistake: mistake{take: takeUnchecked},
		},
		{
			Name: "sql-token-read-late", ID: "F08", Tokens: true,
			Wrong: "It reads its fencing token from the row by a second statement, outside the transaction of the grant.",
			mistake: mistake{token: func(ctx context.Context, db *sql.DB, resource string, _ uint64) (token uint64, err error) {
				err = db.QueryRowContext(ctx, `SELECT token FROM `+rows+` WHERE resource = $1`, resource).Scan(&token)
				return token, err
			}},
		},
		{
			Name: "sql-cleaner", ID: "F64", Tokens: true,
			Wrong: "Before it asks, it deletes the rows whose leases have ended by the clock of the client, and their numbers " +
				"with them.",
			mistake: mistake{clean: func(ctx context.Context, db *sql.DB, wall lock.Clock) error {
				_, err := db.ExecContext(ctx, `DELETE FROM `+rows+` WHERE expires_at < $1`, wall.Now())
				return err
			}},
		},
		{
			Name: "sql-advisory-pooled", ID: "F66", Held: true, Pooled: true,
			Wrong: "Its advisory lock belongs to a session, and a pooling proxy gives the next transaction of any client that " +
				"session.",
			lock: func(db *sql.DB, o Options) (lock.Locker, error) {
				return sqllock.NewAdvisory(db, o.right())
			},
		},
		{
			Name: "sql-two-locks", ID: "", Held: true,
			Wrong: "It takes two locks, one after the other, and not every client takes the same one first.",
			lock: func(db *sql.DB, o Options) (lock.Locker, error) {
				right := o.right()
				right.Table, right.Block = single, true
				each, err := sqllock.NewForUpdate(db, right)
				return &pair{each, o.Second}, err
			},
		},
	}
}

// right are the options of a lock of package sqllock.
func (o Options) right() sqllock.Options {
	return sqllock.Options{TTL: o.TTL, Backoff: o.Backoff, Clock: o.Clock, Jitter: o.Jitter, Entropy: o.Entropy}
}

// New returns the lock of one client. It sends nothing.
func (s Specimen) New(db *sql.DB, o Options) (lock.Locker, error) {
	if db == nil || o.TTL < time.Millisecond || o.Clock == nil || o.Wall == nil || o.Jitter == nil || o.Entropy == nil ||
		o.Point == nil {
		return nil, errors.New("make broken/" + s.Name + ": a database, a TTL, a Clock, a Wall, a Jitter, an Entropy and a " +
			"Point are needed")
	}
	if s.lock != nil {
		l, err := s.lock(db, o)
		if err != nil {
			return nil, fmt.Errorf("make broken/%s: %w", s.Name, err)
		}
		return l, nil
	}
	m := s.mistake
	if m.clean == nil {
		m.clean = func(context.Context, *sql.DB, lock.Clock) error { return nil }
	}
	if m.take == nil {
		m.take = take
	}
	if m.token == nil {
		m.token = func(_ context.Context, _ *sql.DB, _ string, minted uint64) (uint64, error) { return minted, nil }
	}
	if m.free == nil {
		m.free = free
	}
	return &poller{Specimen: s, mistake: m, db: db, opt: o, polling: polling.New(o.Clock, o.Backoff, o.Jitter, o.Entropy)},
		nil
}

// take is the right way: one statement.
func take(ctx context.Context, db *sql.DB, r row) (token uint64, granted bool, err error) {
	return granting(db.QueryRowContext(ctx, `INSERT INTO `+rows+
		` AS held VALUES ($1, $2, clock_timestamp() + $3::bigint * interval '1 millisecond', 1)
		ON CONFLICT (resource) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at, token = held.token + 1
		WHERE held.expires_at <= clock_timestamp() RETURNING token`, r.resource, r.owner, r.ttl.Milliseconds()))
}

// takeUnchecked looks, and takes what it has found to be free.
func takeUnchecked(ctx context.Context, db *sql.DB, r row) (token uint64, granted bool, err error) {
	var taken bool
	err = db.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM `+rows+
		` WHERE resource = $1 AND expires_at > clock_timestamp())`, r.resource).Scan(&taken)
	if err != nil || taken {
		return 0, false, err
	}
	return granting(db.QueryRowContext(ctx, `INSERT INTO `+rows+
		` AS held VALUES ($1, $2, clock_timestamp() + $3::bigint * interval '1 millisecond', 1)
		ON CONFLICT (resource) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at, token = held.token + 1
		RETURNING token`, r.resource, r.owner, r.ttl.Milliseconds()))
}

// granting is the answer of a statement that takes a row: without a row it has taken none.
func granting(answer *sql.Row) (token uint64, granted bool, err error) {
	if err = answer.Scan(&token); errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return token, err == nil, err
}

// free is the right way: only the owner's lease.
func free(ctx context.Context, db *sql.DB, r row) (had bool, err error) {
	return changed(db.ExecContext(ctx, `UPDATE `+rows+` SET owner = '', expires_at = '-infinity'
		WHERE resource = $1 AND owner = $2 AND expires_at > clock_timestamp()`, r.resource, r.owner))
}

func changed(r sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	return n > 0, err
}
