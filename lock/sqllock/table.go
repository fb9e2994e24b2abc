package sqllock

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"locksim/lock"
	"locksim/lock/internal/frame"
)

// Table is a lock on rows of a table: one row for each resource, with the owner, the end of its lease, and the number
// of grants so far, which is the fencing token. It is safe for concurrent use.
//
// A grant is one statement: it inserts the row, or takes an expired one over. A release ends the lease and leaves the
// row, so that the number goes on. In MySQL a grant is one UPDATE, and the first one of a resource makes its row
// before. Rows must not be deleted, also those of ended leases: the next token would be 1 again, and a fence would
// not refuse an earlier holder (F64). While the lock is held it needs no connection.
//
// Its leases end after the TTL, unless a [lock.Watchdog] renews them.
type Table struct {
	db   *sql.DB
	opt  Options
	dice *dice

	take, extend, free, clean statement
	insert                    statement // of MySQL, where take changes rows only

	mu sync.Mutex // guards opt.Entropy
}

// NewTable returns a lock on the rows of the table of the options, or an error that says which option is wrong. It
// sends nothing: [Table.Schema] has the statement that makes the table.
func NewTable(db *sql.DB, o Options) (*Table, error) {
	if err := check(db, o); err != nil {
		return nil, fmt.Errorf("make a lock on a table: %w", err)
	}
	o = o.withDefaults()
	const (
		valid   = ` WHERE resource = $1 AND owner = $2 AND expires_at > clock_timestamp()`
		current = ` WHERE resource = $1 AND owner = $2 AND expires_at > UTC_TIMESTAMP(6)`
		// what follows makes the token the id that the statement has inserted: it is 0 if no row fits, however drivers count
		// rows that a statement has found and left as they were
		same = `token = LAST_INSERT_ID(token)`
		end  = `expires_at = UTC_TIMESTAMP(6) + INTERVAL ($3 * 1000) MICROSECOND`
		past = `owner = '', expires_at = '1970-01-01', ` + same
	)
	d, update := o.Dialect, `UPDATE `+o.Table+` SET `
	return &Table{db: db, opt: o, dice: &dice{rand: rand.New(o.Jitter)},
		take: d.pick(`INSERT INTO `+o.Table+` AS held (resource, owner, expires_at, token)
			VALUES ($1, $2, clock_timestamp() + $3::bigint * interval '1 millisecond', 1)
			ON CONFLICT (resource) DO UPDATE SET owner = excluded.owner,
				expires_at = clock_timestamp() + $3::bigint * interval '1 millisecond', token = held.token + 1
			WHERE held.expires_at <= clock_timestamp()
			RETURNING token`,
			update+`owner = $2, `+end+`, token = LAST_INSERT_ID(token + 1)
			WHERE resource = $1 AND expires_at <= UTC_TIMESTAMP(6)`),
		insert: d.pick("", `INSERT IGNORE INTO `+o.Table+` (resource, owner, expires_at, token)
			VALUES ($1, '', '1970-01-01', 0)`),
		extend: d.pick(update+`expires_at = clock_timestamp() + $3::bigint * interval '1 millisecond'`+valid,
			update+end+`, `+same+current),
		free: d.pick(update+`owner = '', expires_at = '-infinity'`+valid, update+past+current),
		clean: d.pick(update+`owner = '', expires_at = '-infinity' WHERE resource = $1 AND owner = $2`,
			update+past+` WHERE resource = $1 AND owner = $2`),
	}, nil
}

func check(db *sql.DB, o Options) error {
	if db == nil {
		return errors.New("no database")
	}
	return o.Validate()
}

// Schema is a statement that makes the table if it does not exist.
func (t *Table) Schema() string {
	if t.opt.Dialect == MySQL {
		return `CREATE TABLE IF NOT EXISTS ` + t.opt.Table + ` (
	resource   VARBINARY(255) PRIMARY KEY,
	owner      VARBINARY(64)  NOT NULL,
	expires_at DATETIME(6)    NOT NULL,
	token      BIGINT         NOT NULL
) ENGINE=InnoDB`
	}
	return `CREATE TABLE IF NOT EXISTS ` + t.opt.Table + ` (
	resource   text        PRIMARY KEY,
	owner      text        NOT NULL,
	expires_at timestamptz NOT NULL,
	token      bigint      NOT NULL
)`
}

// Acquire implements [lock.Locker]. It asks again and again until ctx ends or a statement fails. After a statement of
// unknown outcome it takes back what it may have been granted; its error says so if that fails too, and the lock may
// then be taken for up to a TTL.
func (t *Table) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return poll(ctx, resource, t.opt, t.dice, func() (lock.Lease, error) { return t.try(ctx, resource) })
}

// TryAcquire implements [lock.Trier].
func (t *Table) TryAcquire(ctx context.Context, resource string) (lock.Lease, error) {
	l, err := t.try(ctx, resource)
	return frame.Tried(resource, l, err)
}

// poll tries until a try does not fail because the lock is taken.
func poll(ctx context.Context, resource string, o Options, d *dice,
	try func() (lock.Lease, error)) (lock.Lease, error) {
	return frame.Acquire(ctx, o.Clock, resource, try, func(n int, err error) error {
		if errors.Is(err, lock.ErrTaken) {
			return o.Clock.Sleep(ctx, d.delay(o.Backoff, n))
		}
		return err
	})
}

// try asks once.
func (t *Table) try(ctx context.Context, resource string) (lock.Lease, error) {
	if resource == "" {
		return nil, errors.New("the resource has no name")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	owner, err := t.owner()
	if err != nil {
		return nil, err
	}
	g := rowGrant{t, resource, owner}
	until := t.opt.Clock.Now().Add(t.opt.TTL)
	var token int64
	err = t.ask(ctx, &token, resource, owner)
	switch {
	case errors.Is(err, sql.ErrNoRows), conflict(err):
		return nil, lock.ErrTaken
	case refused(err):
		return nil, err
	case err == nil && ctx.Err() != nil:
		err = ctx.Err()
	case err == nil && !t.opt.Clock.Now().Before(until):
		err = fmt.Errorf("%w: the grant came after the end of its lease", lock.ErrTaken)
	case err != nil:
		err = frame.Over(ctx, outcome(err))
	}
	if err != nil {
		return nil, g.undo(ctx, err)
	}
	return lock.NewLease(ctx, t.opt.Clock, g, resource, uint64(token), until), nil
}

// ask sends the statement that takes the row. It waits a TTL at most for the answer: one that comes later is of no use,
// and a server that has lost its power does not reset its connections.
func (t *Table) ask(ctx context.Context, token *int64, resource, owner string) error {
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	defer t.opt.Clock.AfterFunc(t.opt.TTL, cancel)()
	args := t.take.args(resource, owner, t.opt.TTL.Milliseconds())
	var err error
	if t.opt.Dialect == MySQL {
		*token, err = t.update(limited, resource, args)
	} else {
		err = t.db.QueryRowContext(limited, t.take.text, args...).Scan(token)
	}
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("no answer within the TTL of %v, or no free connection in the pool: %w", t.opt.TTL, err)
	}
	return err
}

// update takes a row in MySQL, and makes it if there is none yet. Its error is sql.ErrNoRows if it is taken.
func (t *Table) update(ctx context.Context, resource string, args []any) (token int64, err error) {
	for made := false; ; made = true {
		r, err := t.db.ExecContext(ctx, t.take.text, args...)
		if err != nil {
			return 0, err
		}
		if token, err = r.LastInsertId(); err != nil || token != 0 {
			return token, err
		}
		if made {
			return 0, sql.ErrNoRows
		}
		if r, err = t.db.ExecContext(ctx, t.insert.text, t.insert.args(resource)...); err != nil {
			return 0, err
		}
		if n, err := r.RowsAffected(); err != nil || n == 0 { // it is there, and taken
			return 0, cmp.Or(err, sql.ErrNoRows)
		}
	}
}

func (t *Table) owner() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var id [16]byte
	if _, err := io.ReadFull(t.opt.Entropy, id[:]); err != nil {
		return "", fmt.Errorf("make an owner id: %w", err)
	}
	return hex.EncodeToString(id[:]), nil
}

// rowGrant is a row that has been granted, or may have been.
type rowGrant struct {
	table           *Table
	resource, owner string
}

// undo takes the grant back, also after the end of ctx. It returns err, and adds its own failure.
func (g rowGrant) undo(ctx context.Context, err error) error {
	ctx, cancel := detached(ctx, g.table.opt.ReleaseTimeout)
	defer cancel()
	if _, failure := g.table.db.ExecContext(ctx, g.table.clean.text,
		g.table.clean.args(g.resource, g.owner)...); failure != nil {
		return fmt.Errorf("%w; taking it back failed too, so others may have to wait for %v: %w", err, g.table.opt.TTL,
			failure)
	}
	return err
}

// Extend implements [lock.Grant].
func (g rowGrant) Extend(ctx context.Context) (until time.Time, held bool, err error) {
	until = g.table.opt.Clock.Now().Add(g.table.opt.TTL)
	held, err = g.change(ctx, g.table.extend, g.resource, g.owner, g.table.opt.TTL.Milliseconds())
	return until, held, err
}

// Delete implements [lock.Grant].
func (g rowGrant) Delete(ctx context.Context) (deleted bool, err error) {
	ctx, cancel := detached(ctx, g.table.opt.ReleaseTimeout)
	defer cancel()
	return g.change(ctx, g.table.free, g.resource, g.owner)
}

// change runs a statement for the row if it is still the owner's.
func (g rowGrant) change(ctx context.Context, s statement, args ...any) (held bool, err error) {
	r, err := g.table.db.ExecContext(ctx, s.text, s.args(args...)...)
	if err != nil {
		return false, outcome(err)
	}
	if g.table.opt.Dialect == MySQL {
		token, err := r.LastInsertId()
		return token != 0, err
	}
	n, err := r.RowsAffected()
	return n > 0, err
}
