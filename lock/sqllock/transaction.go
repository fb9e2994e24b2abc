package sqllock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"locksim/lock"
)

// ForUpdate is a lock on a row by SELECT … FOR UPDATE, in a transaction that stays open until the release. It is safe
// for concurrent use.
//
// The lock lasts as long as the connection, which sends a statement every now and then. When the database has not heard
// of it for the TTL, it ends the transaction. What the holder writes in [Lease.Do] is part of it, so it needs no fence.
// The lock mints no token.
//
// A transaction that stays open for long keeps the database from removing old rows: hold it for seconds, not for hours.
type ForUpdate struct{ *connected }

// NewForUpdate returns a lock on the rows of the table of the options, or an error that says which option is wrong. It
// sends nothing: [ForUpdate.Schema] has the statement that makes the table.
func NewForUpdate(db *sql.DB, o Options) (*ForUpdate, error) {
	table := o.withDefaults().Table
	c, err := newConnected(db, o, func(life context.Context, conn *sql.Conn, resource string) session {
		t := &transaction{life: life, conn: conn, ttl: o.withDefaults().TTL, key: resource,
			before: `INSERT INTO ` + table + ` (resource) VALUES ($1) ON CONFLICT DO NOTHING`,
			wait:   `SELECT true FROM ` + table + ` WHERE resource = $1 FOR UPDATE`,
			try:    `SELECT true FROM ` + table + ` WHERE resource = $1 FOR UPDATE SKIP LOCKED`,
			limit:  wholeStatement,
		}
		if o.Dialect == MySQL {
			t.before = `INSERT IGNORE INTO ` + table + ` (resource) VALUES (?)`
			t.there = `SELECT true FROM ` + table + ` WHERE resource = ?`
			t.wait, t.try = t.there+` FOR UPDATE`, t.there+` FOR UPDATE SKIP LOCKED`
			t.limit = rowWait
		}
		return t
	})
	return &ForUpdate{c}, err
}

// Schema is a statement that makes the table if it does not exist. It gets a row for each resource, which stays.
func (f *ForUpdate) Schema() string {
	if f.opt.Dialect == MySQL {
		return `CREATE TABLE IF NOT EXISTS ` + f.opt.Table + ` (resource VARBINARY(255) PRIMARY KEY) ENGINE=InnoDB`
	}
	return `CREATE TABLE IF NOT EXISTS ` + f.opt.Table + ` (resource text PRIMARY KEY)`
}

// AdvisoryTransaction is an advisory lock of a transaction: a [ForUpdate] without a table. It is safe for concurrent
// use.
//
// The key is a hash of the name of the resource, with 64 bits: two resources with one hash exclude each other, and so
// does other use of advisory locks in the same database.
type AdvisoryTransaction struct{ *connected }

// NewAdvisoryTransaction returns the lock, or an error that says which option is wrong. It sends nothing. MySQL has
// none such.
func NewAdvisoryTransaction(db *sql.DB, o Options) (*AdvisoryTransaction, error) {
	if err := o.Dialect.needs(PostgreSQL, "a Named lock"); err != nil {
		return nil, err
	}
	c, err := newConnected(db, o, func(life context.Context, conn *sql.Conn, resource string) session {
		return &transaction{life: life, conn: conn, ttl: o.withDefaults().TTL, key: AdvisoryKey(o.Prefix + resource),
			wait:  `SELECT true FROM pg_advisory_xact_lock($1)`,
			try:   `SELECT true WHERE pg_try_advisory_xact_lock($1)`,
			limit: oneLock,
		}
	})
	return &AdvisoryTransaction{c}, err
}

// AdvisoryKey is the key of the advisory lock of a resource: the hash by FNV-1a of its name, after [Options.Prefix].
func AdvisoryKey(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // it never fails
	return int64(h.Sum64())
}

// transaction is a session that has the lock in a transaction.
//
// The context of the transaction is not that of the session: package database/sql rolls a transaction back as soon as
// its context ends, and waits with a mutex for a statement that is under way. Here it ends when none is.
type transaction struct {
	life  context.Context
	conn  *sql.Conn
	ttl   time.Duration
	key   any // of the lock
	tx    *sql.Tx
	endTx context.CancelFunc // ends the context of tx

	before, wait, try string // before is "" if nothing has to be done before
	there             string // of MySQL: whether before need not be done, which would wait for the holder
	done              string // of a [Queue]: what the release does in the transaction; "" is nothing
	limit             limit  // of wait

	begin *sql.TxOptions // nil: as the database has it
}

// held is the savepoint by which a session of MySQL knows that its transaction goes on: a deadlock ends that, and what
// follows is then no part of one.
const (
	setHeld  = `SAVEPOINT held`
	askHeld  = `RELEASE SAVEPOINT held`
	setWaits = `SET SESSION wait_timeout = DEFAULT, SESSION innodb_lock_wait_timeout = DEFAULT`
)

// limit is the setting that limits a wait.
type limit string

const (
	// oneLock limits each lock for which a statement waits. A statement that waits for a row takes one lock after another:
	// its place in the queue, and the end of each transaction that has the row before.
	oneLock limit = "lock_timeout"
	// wholeStatement limits all of that together, and every other statement until it is set back.
	wholeStatement limit = "statement_timeout"
	// rowWait limits each row for which a statement waits, in MySQL, in seconds.
	rowWait limit = "innodb_lock_wait_timeout"
)

func (t *transaction) take(wait time.Duration) error {
	if err := t.prepare(wait); err != nil {
		return err
	}
	ctx, end := context.WithCancel(context.WithoutCancel(t.life))
	t.endTx = end
	err := t.alone(func() (err error) {
		t.tx, err = t.conn.BeginTx(ctx, t.begin)
		return err
	})
	if err != nil {
		return err
	}
	statement := t.try
	if wait > 0 {
		statement = t.wait
	}
	if t.limit != rowWait {
		statement, err = ask(t.life, t.tx, "SET LOCAL", "idle_in_transaction_session_timeout", t.ttl, t.limit, wait, t.try,
			t.wait)
		if err != nil {
			return err
		}
	}
	waiting, cancel := patient(t.life, wait, t.ttl)
	defer cancel()
	err = t.granted(t.tx.QueryRowContext(waiting, statement, t.args()...))
	if t.limit == rowWait && err == nil {
		_, err = t.tx.ExecContext(t.life, setHeld)
		if err == nil && wait > 0 {
			_, err = t.tx.ExecContext(t.life, `SET SESSION `+string(t.limit)+` = DEFAULT`)
		}
	}
	if wait == 0 || t.limit != wholeStatement {
		return err
	}
	switch {
	case err == nil: // what the holder does later has all the time that it wants
		_, err = t.tx.ExecContext(t.life, `SET LOCAL `+string(t.limit)+` TO DEFAULT`)
	case sqlState(err) == queryCanceled:
		err = lock.ErrTaken
	}
	return err
}

// args are the arguments of the statements of a session: the key, unless it asks for any job of a queue.
func (t *transaction) args() []any {
	if t.key == "" {
		return nil
	}
	return []any{t.key}
}

// granted is the error of the statement that asks for the lock. The row of a job has its name.
func (t *transaction) granted(row *sql.Row) error {
	if t.done == "" {
		var yes bool
		return taken(row.Scan(&yes))
	}
	var job string
	if err := row.Scan(&job); err != nil {
		return t.busy(taken(err))
	}
	t.key = job
	return nil
}

// busy is the error of a statement that asks for a job, or puts one in: lock.ErrTaken where it was the victim of a
// deadlock. Workers that put one job in at the same time, while another one ends it, may meet in one.
func (t *transaction) busy(err error) error {
	if t.done != "" && conflict(err) {
		return lock.ErrTaken
	}
	return err
}

// prepare does what has to be done before the transaction begins: it makes the row, and in MySQL limits the session.
func (t *transaction) prepare(wait time.Duration) error {
	if t.limit == rowWait {
		if err := limitWaits(t.life, t.conn, t.ttl, wait); err != nil {
			return err
		}
	}
	if t.before == "" {
		return nil
	}
	if t.there != "" {
		err := t.conn.QueryRowContext(t.life, t.there, t.key).Scan(new(string))
		if !errors.Is(err, sql.ErrNoRows) {
			return t.busy(err)
		}
	}
	_, err := t.conn.ExecContext(t.life, t.before, t.key)
	return t.busy(err)
}

// limitWaits sets how long a session of MySQL may be idle, and how long it waits for a row: both in seconds, of which
// there is one at least.
func limitWaits(ctx context.Context, on execer, ttl, wait time.Duration) error {
	limits := fmt.Sprintf(`SET SESSION wait_timeout = %d`, max(1, ttl/time.Second))
	if wait > 0 {
		limits += fmt.Sprintf(`, SESSION innodb_lock_wait_timeout = %d`, max(1, wait/time.Second))
	}
	_, err := on.ExecContext(ctx, limits)
	return err
}

// alone calls what begins or ends the transaction, while no statement is under way. It ends with the session.
func (t *transaction) alone(call func() error) error {
	stop := context.AfterFunc(t.life, t.endTx)
	defer stop()
	return call()
}

// execer is a connection or a transaction.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// ask sets how long a session may be idle, and how long it waits for a lock, and returns the statement to ask with.
func ask(ctx context.Context, on execer, set, idle string, ttl time.Duration, by limit, wait time.Duration, try,
	block string) (statement string, err error) {
	limits := []string{fmt.Sprintf("%s %s = %d", set, idle, ttl.Milliseconds())}
	statement = try
	if wait > 0 {
		statement = block
		limits = append(limits, fmt.Sprintf("%s %s = %d", set, by, max(wait.Milliseconds(), 1)))
	}
	for _, limit := range limits {
		if _, err := on.ExecContext(ctx, limit); err != nil {
			return "", err
		}
	}
	return statement, nil
}

// taken is the error of a statement that asks for a lock: lock.ErrTaken if another session has it.
func taken(err error) error {
	if errors.Is(err, sql.ErrNoRows) || unavailable(err) {
		return lock.ErrTaken
	}
	return err
}

func (t *transaction) beat() error {
	if t.limit == rowWait {
		if err := t.goesOn(); err != nil {
			return err
		}
		_, err := t.tx.ExecContext(t.life, setHeld)
		return err
	}
	_, err := t.tx.ExecContext(t.life, `SELECT 1`)
	return err
}

// goesOn takes the savepoint away by which it learns, in MySQL, whether the transaction goes on.
func (t *transaction) goesOn() error {
	_, err := t.tx.ExecContext(t.life, askHeld)
	if number(err) == erNoSavepoint {
		return fmt.Errorf("the database has ended the transaction: %w: %w", lock.ErrNotHeld, err)
	}
	return err
}

// do works within a savepoint, so that an error undoes the work and leaves the transaction.
func (t *transaction) do(work func(*sql.Tx) error) error {
	if _, err := t.tx.ExecContext(t.life, `SAVEPOINT work`); errors.Is(err, sql.ErrTxDone) || ended(err) {
		return fmt.Errorf("begin work in the transaction of a lock: %w: %w", lock.ErrNotHeld, err)
	} else if err != nil {
		return fmt.Errorf("begin work in the transaction of a lock: %w", outcome(err))
	}
	if err := work(t.tx); err != nil {
		if _, failure := t.tx.ExecContext(t.life, `ROLLBACK TO SAVEPOINT work`); failure != nil {
			return fmt.Errorf("%w; undoing the work failed too, so the release will fail: %w", err, failure)
		}
		return err
	}
	if _, err := t.tx.ExecContext(t.life, `RELEASE SAVEPOINT work`); err != nil {
		return fmt.Errorf("end work in the transaction of a lock: %w", outcome(err))
	}
	return nil
}

func (t *transaction) leave() error {
	if t.tx != nil {
		defer t.endTx()
		if err := t.alone(t.tx.Rollback); err != nil && !errors.Is(err, sql.ErrTxDone) {
			return err
		}
	}
	if t.limit != rowWait {
		return nil
	}
	_, err := t.conn.ExecContext(t.life, setWaits)
	return err
}

// abort lets the roll-back fail, since its context has ended: the driver then closes the connection.
func (t *transaction) abort() {
	if t.tx == nil {
		discard(t.conn)
		return
	}
	t.endTx()
	_ = t.tx.Rollback()
}

func (t *transaction) free() (had bool, err error) {
	if t.limit == rowWait {
		switch err := t.goesOn(); {
		case errors.Is(err, lock.ErrNotHeld), ended(err):
			return false, nil
		case err != nil:
			return false, err
		}
	}
	if t.done != "" {
		_, err := t.tx.ExecContext(t.life, t.done, t.key)
		switch {
		case errors.Is(err, sql.ErrTxDone), ended(err):
			return false, nil
		case err != nil:
			return false, err
		}
	}
	switch err := t.alone(t.tx.Commit); {
	case err == nil:
		return true, nil
	case t.life.Err() != nil: // given up: the commit says so, or that the end of the context has rolled it back, by chance
		return false, t.life.Err()
	case ended(err), errors.Is(err, sql.ErrTxDone):
		return false, nil
	default:
		return false, err
	}
}
