package mysqlbroken

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"time"

	"locksim/lock"
	"locksim/lock/broken/polling"
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

	make func(p *poller) attempt
}

// attempt asks once for a resource; the lease is nil if another client has the lock.
type attempt func(ctx context.Context, resource string) (lock.Lease, error)

// Options configure a specimen. All but Second are required.
type Options struct {
	// TTL is that of the lease in the database: whole milliseconds.
	TTL time.Duration
	// Backoff is the time between two tries.
	Backoff lock.Backoff
	// Second says that a client writes names in another case than the first one.
	Second bool
	// Clock is the source of time, Wall the wall clock of the client, Jitter the source of the random times, Entropy that
	// of the owner ids.
	Clock   lock.Clock
	Wall    lock.Clock
	Jitter  rand.Source
	Entropy io.Reader
	// Point is called with the label "taken" once the lock is the client's, where a fault can be applied although no time
	// passes.
	Point func(label string)
}

// Leases is the table of the locks whose rows are leases: it has the columns of that of [locksim/lock/sqllock.Table].
const Leases = "broken_locks"

// The other tables: leases that end at whole seconds, and rows to lock.
const (
	seconds = "broken_seconds"
	rows    = "broken_rows"
)

// Schema makes the tables.
func Schema() []string {
	lease := func(table, until string) string {
		return `CREATE TABLE IF NOT EXISTS ` + table + ` (resource VARBINARY(255) PRIMARY KEY, owner VARBINARY(64) NOT NULL,
			expires_at ` + until + ` NOT NULL, token BIGINT NOT NULL) ENGINE=InnoDB`
	}
	return []string{
		lease(Leases, "DATETIME(6)"), lease(seconds, "DATETIME"),
		`CREATE TABLE IF NOT EXISTS ` + rows + ` (resource VARBINARY(255) PRIMARY KEY) ENGINE=InnoDB`,
	}
}

// All lists the specimens. The caller owns the slice.
func All() []Specimen {
	return []Specimen{
		{
			Name: "mysql-get-lock-pool", ID: "F66", Held: true,
			Wrong: "It calls GET_LOCK on the pool, which has the connection back then, and closes it when it has been idle " +
				"for a second.",
			make: pooled,
		},
		{
			Name: "mysql-name-case", Held: true,
			Wrong: "Its clients write the name for GET_LOCK in different cases, and rely on the server to fold them.",
			make:  cased,
		},
		{
			Name: "mysql-whole-seconds", ID: "F63",
			Wrong: "The end of its lease is a DATETIME, which has no fraction of a second, and it takes 0 rows of a renewal " +
				"for a loss.",
			make: func(p *poller) attempt { return p.leases(seconds, "NOW()", takeChecked) },
		},
		{
			Name: "mysql-repeatable-read", ID: "F03",
			Wrong: "It reads the row in a transaction at REPEATABLE READ, and takes it there by a second statement, which " +
				"does not look again.",
			make: func(p *poller) attempt { return p.leases(Leases, "NOW(6)", takeRead) },
		},
		{
			Name: "mysql-client-now", ID: "F63", Tokens: true,
			Wrong: "It compares the end of a lease with the clock of the client.",
			make:  func(p *poller) attempt { return p.leases(Leases, "", takeChecked) },
		},
		{
			Name: "mysql-missing-row", Held: true,
			Wrong: "It locks a row that is not there, and inserts it. One of two that do so is the victim of a deadlock, " +
				"takes the error for one that says that the row is there, and locks it outside of its transaction, which is over.",
			make: missing,
		},
		{
			Name: "mysql-dead-waiter", ID: "F54", Held: true,
			Wrong: "It waits for a row without a limit on an idle session: a waiter whose machine has died is granted the lock.",
			make:  waiting,
		},
	}
}

// New returns the lock of one client. It sends nothing.
func (s Specimen) New(db *sql.DB, o Options) (lock.Locker, error) {
	if db == nil || o.TTL < time.Millisecond || o.Clock == nil || o.Wall == nil || o.Jitter == nil || o.Entropy == nil ||
		o.Point == nil {
		return nil, errors.New("make broken/" + s.Name + ": a database, a TTL, a Clock, a Wall, a Jitter, an Entropy and a " +
			"Point are needed")
	}
	p := &poller{Specimen: s, db: db, opt: o, polling: polling.New(o.Clock, o.Backoff, o.Jitter, o.Entropy)}
	p.try = s.make(p)
	return p, nil
}

// poller asks again and again.
type poller struct {
	Specimen

	db      *sql.DB
	opt     Options
	polling *polling.Poller
	try     attempt
}

// Acquire implements [lock.Locker]. A statement that fails ends it.
func (p *poller) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return p.polling.Acquire(ctx, resource, func() (lock.Lease, error) { return p.try(ctx, resource) })
}

// long is longer than any run: a lease that lasts as long as a connection has no end.
const long = 1000 * time.Hour

// held is a lease that lasts as long as a connection.
func (p *poller) held(ctx context.Context, resource string, free func(ctx context.Context) (bool, error)) lock.Lease {
	p.opt.Point("taken")
	return lock.NewLease(ctx, p.opt.Clock, grant{free: free}, resource, 0, p.opt.Clock.Now().Add(long))
}

// grant is a lock that was taken.
type grant struct {
	free   func(ctx context.Context) (bool, error)
	extend func(ctx context.Context) (time.Time, bool, error)
}

// Extend implements [lock.Grant].
func (g grant) Extend(ctx context.Context) (until time.Time, held bool, err error) {
	if g.extend == nil {
		return time.Time{}, false, fmt.Errorf("this lock cannot be extended: %w", errors.ErrUnsupported)
	}
	return g.extend(ctx)
}

// Delete implements [lock.Grant].
func (g grant) Delete(ctx context.Context) (deleted bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lock.DefaultReleaseTimeout)
	defer cancel()
	if deleted, err = g.free(ctx); err != nil {
		err = fmt.Errorf("%w: %w", lock.ErrOutcomeUnknown, err)
	}
	return deleted, err
}

// asks is a pool, or a connection.
type asks interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// yes asks for a number, and reports whether it is 1.
func yes(ctx context.Context, on asks, query string, args ...any) (bool, error) {
	var n sql.NullInt64
	err := on.QueryRowContext(ctx, query, args...).Scan(&n)
	return n.Int64 == 1, err
}

// pooled takes and frees a name on whatever connection the pool gives.
func pooled(p *poller) attempt {
	p.db.SetConnMaxIdleTime(time.Second)
	return func(ctx context.Context, resource string) (lock.Lease, error) {
		granted, err := yes(ctx, p.db, `SELECT GET_LOCK(?, 0)`, resource)
		if err != nil || !granted {
			return nil, err
		}
		return p.held(ctx, resource, func(ctx context.Context) (bool, error) {
			return yes(ctx, p.db, `SELECT RELEASE_LOCK(?)`, resource)
		}), nil
	}
}

// cased takes a name on a connection of its own, as each client writes it.
func cased(p *poller) attempt {
	return func(ctx context.Context, resource string) (lock.Lease, error) {
		name := resource
		if p.opt.Second {
			name = strings.ToUpper(resource)
		}
		conn, err := p.db.Conn(ctx)
		if err != nil {
			return nil, err
		}
		granted, err := yes(ctx, conn, `SELECT GET_LOCK(?, 0)`, name)
		if err != nil || !granted {
			return nil, errors.Join(err, conn.Close())
		}
		return p.held(ctx, resource, func(ctx context.Context) (bool, error) {
			defer conn.Close() //nolint:errcheck // the pool has it back
			return yes(ctx, conn, `SELECT RELEASE_LOCK(?)`, name)
		}), nil
	}
}

// row is what a client writes into the row of a lock.
type row struct {
	table, resource, owner string
	now                    string // in SQL
	ttl                    time.Duration
}

// until is the end of a lease that begins now.
func (r row) until() string {
	return fmt.Sprintf(`%s + INTERVAL %d MICROSECOND`, r.now, r.ttl.Microseconds())
}

// leases is a lock whose rows are leases by the time now, in SQL; "" is that of the client.
func (p *poller) leases(table, now string, take func(context.Context, *sql.DB, row) (uint64, error)) attempt {
	at := func(r row) row {
		if r.now == "" {
			r.now = p.opt.Wall.Now().UTC().Format(`TIMESTAMP'2006-01-02 15:04:05.000000'`)
		}
		return r
	}
	return func(ctx context.Context, resource string) (lock.Lease, error) {
		owner, err := p.polling.Owner()
		if err != nil {
			return nil, err
		}
		_, err = p.db.ExecContext(ctx, `INSERT IGNORE INTO `+table+` VALUES (?, '', '1970-01-01', 0)`, resource)
		if err != nil {
			return nil, err
		}
		r := row{table: table, resource: resource, owner: owner, now: now, ttl: p.opt.TTL}
		until := p.opt.Clock.Now().Add(p.opt.TTL)
		token, err := take(ctx, p.db, at(r))
		if err != nil || token == 0 {
			return nil, err
		}
		p.opt.Point("taken")
		if !p.Tokens {
			token = 0
		}
		const mine = ` WHERE resource = ? AND owner = ?`
		g := grant{
			free: func(ctx context.Context) (bool, error) {
				return changed(p.db.ExecContext(ctx, `UPDATE `+table+` SET owner = '', expires_at = '1970-01-01'`+mine, resource,
					owner))
			},
			extend: func(ctx context.Context) (time.Time, bool, error) {
				until := p.opt.Clock.Now().Add(p.opt.TTL)
				held, err := changed(p.db.ExecContext(ctx, `UPDATE `+table+` SET expires_at = `+at(r).until()+mine, resource,
					owner))
				return until, held, err
			},
		}
		return lock.NewLease(ctx, p.opt.Clock, g, resource, token, until), nil
	}
}

// takeChecked is right: one statement looks and takes. The token is 0 if the row is taken.
func takeChecked(ctx context.Context, db *sql.DB, r row) (token uint64, err error) {
	result, err := db.ExecContext(ctx, `UPDATE `+r.table+` SET owner = ?, expires_at = `+r.until()+
		`, token = LAST_INSERT_ID(token + 1) WHERE resource = ? AND expires_at <= `+r.now, r.owner, r.resource)
	if err != nil {
		return 0, err
	}
	id, err := result.LastInsertId()
	return uint64(id), err
}

// takeRead looks, and takes what it has found to be free, in one transaction.
func takeRead(ctx context.Context, db *sql.DB, r row) (token uint64, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	free, err := yes(ctx, tx, `SELECT expires_at <= `+r.now+` FROM `+r.table+` WHERE resource = ?`, r.resource)
	if err != nil || !free {
		return 0, err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE `+r.table+` SET owner = ?, expires_at = `+r.until()+
		`, token = token + 1 WHERE resource = ?`, r.owner, r.resource); err != nil {
		return 0, err
	}
	return 1, tx.Commit()
}

func changed(r sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := r.RowsAffected()
	return n > 0, err
}

// begun begins a transaction on a connection of its own, and returns the lease of what it locks.
func (p *poller) begun(ctx context.Context, resource string, work func(conn *sql.Conn) error) (lock.Lease, error) {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	do := func(statement string) error { _, err := conn.ExecContext(ctx, statement); return err }
	if err = do(`BEGIN`); err == nil {
		err = work(conn)
	}
	if err != nil {
		return nil, errors.Join(err, do(`ROLLBACK`), conn.Close())
	}
	return p.held(ctx, resource, func(ctx context.Context) (bool, error) {
		defer conn.Close() //nolint:errcheck // the pool has it back
		_, err := conn.ExecContext(ctx, `COMMIT`)
		return err == nil, err
	}), nil
}

const lockRow = `SELECT 1 FROM ` + rows + ` WHERE resource = ? FOR UPDATE`

// missing locks a row, and makes it first if it is not there.
func missing(p *poller) attempt {
	return func(ctx context.Context, resource string) (lock.Lease, error) {
		return p.begun(ctx, resource, func(conn *sql.Conn) error {
			there, err := yes(ctx, conn, lockRow, resource)
			if there || !errors.Is(err, sql.ErrNoRows) {
				return err
			}
			_, err = conn.ExecContext(ctx, `INSERT INTO `+rows+` VALUES (?)`, resource)
			if err == nil || !answered(err) {
				return err
			}
			_, err = yes(ctx, conn, lockRow, resource) // another client has made it
			return err
		})
	}
}

// answered reports whether an error is one that the database has sent.
func answered(err error) bool {
	v := reflect.Indirect(reflect.ValueOf(err))
	return v.Kind() == reflect.Struct && v.FieldByName("Number").IsValid()
}

// waiting waits in the database for a row that is there.
func waiting(p *poller) attempt {
	return func(ctx context.Context, resource string) (lock.Lease, error) {
		if _, err := yes(ctx, p.db, `SELECT 1 FROM `+rows+` WHERE resource = ?`, resource); errors.Is(err, sql.ErrNoRows) {
			if _, err := p.db.ExecContext(ctx, `INSERT IGNORE INTO `+rows+` VALUES (?)`, resource); err != nil {
				return nil, err
			}
		} else if err != nil {
			return nil, err
		}
		return p.begun(ctx, resource, func(conn *sql.Conn) error {
			_, err := yes(ctx, conn, lockRow, resource)
			return err
		})
	}
}
