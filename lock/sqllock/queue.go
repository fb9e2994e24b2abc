package sqllock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"locksim/lock"
)

// Queue is a table of jobs, each of which one worker at a time has: SELECT … FOR UPDATE SKIP LOCKED locks the row of a
// job in a transaction that stays open until the job is done, and that deletes the row. It is safe for concurrent use.
//
// The resource is the name of a job. [Queue.Next] takes the oldest job that no worker has. [Queue.Acquire] and
// [Queue.TryAcquire] take the job that they name, and put it into the queue if it is not there; they ask again and
// again and do not wait in the database, where [Options.Block] has no effect. A release is the end of the job. When a
// worker is lost, the database ends its transaction after the TTL at the latest, as it does for a [ForUpdate]: the job
// is still there, and goes to the next worker. So what a worker does outside of [Lease.Do] is done once or more often.
// What it writes in Lease.Do is there exactly when the job is gone. The isolation level of the transaction is READ
// COMMITTED.
type Queue struct{ *connected }

// NewQueue returns the queue in the table of the options, or an error that says which option is wrong. It sends
// nothing: [Queue.Schema] has the statement that makes the table.
func NewQueue(db *sql.DB, o Options) (*Queue, error) {
	o.Block = false
	c, err := newConnected(db, o, func(life context.Context, conn *sql.Conn, job string) session {
		o := o.withDefaults()
		t := &transaction{life: life, conn: conn, ttl: o.TTL, key: job, limit: wholeStatement}
		put, there, done := jobStatements(o)
		if t.done = done; o.Dialect == MySQL {
			// else one that finds the job gone would lock the gap, in which another one puts the job
			t.limit, t.begin = rowWait, &sql.TxOptions{Isolation: sql.LevelReadCommitted}
		}
		if job == "" {
			t.try = `SELECT resource FROM ` + o.Table + ` ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`
			return t
		}
		t.try = there + ` FOR UPDATE SKIP LOCKED`
		if t.before = put; o.Dialect == MySQL {
			t.there = there
		}
		return t
	})
	return &Queue{c}, err
}

// jobStatements put a job into the queue unless it is there, look for it, and remove it.
func jobStatements(o Options) (put, there, done string) {
	if o.Dialect == MySQL {
		return `INSERT IGNORE INTO ` + o.Table + ` (resource) VALUES (?)`,
			`SELECT resource FROM ` + o.Table + ` WHERE resource = ?`, `DELETE FROM ` + o.Table + ` WHERE resource = ?`
	}
	return `INSERT INTO ` + o.Table + ` (resource) VALUES ($1) ON CONFLICT DO NOTHING`,
		`SELECT resource FROM ` + o.Table + ` WHERE resource = $1`, `DELETE FROM ` + o.Table + ` WHERE resource = $1`
}

// Schema is a statement that makes the table if it does not exist.
func (q *Queue) Schema() string {
	if q.opt.Dialect == MySQL {
		return `CREATE TABLE IF NOT EXISTS ` + q.opt.Table + ` (resource VARBINARY(255) PRIMARY KEY,
			id BIGINT NOT NULL AUTO_INCREMENT UNIQUE) ENGINE=InnoDB`
	}
	return `CREATE TABLE IF NOT EXISTS ` + q.opt.Table + ` (resource text PRIMARY KEY, id bigserial UNIQUE)`
}

// Put puts a job into the queue, unless it is there and not done. It waits for a worker that has it, whose release ends
// the job before this one begins.
func (q *Queue) Put(ctx context.Context, job string) error {
	if job == "" {
		return errors.New("the job has no name")
	}
	put, _, _ := jobStatements(q.opt)
	if _, err := q.db.ExecContext(ctx, put, job); err != nil {
		return fmt.Errorf("put job %q into the queue: %w", job, outcome(err))
	}
	return nil
}

// Next takes the oldest job that no worker has, and returns its name. Its error is [lock.ErrTaken] if there is none.
func (q *Queue) Next(ctx context.Context) (job string, l *Lease, err error) {
	next := *q.connected
	next.any = true
	got, err := next.watched(ctx, "", (*lock.Watchdog).TryAcquire)
	if err != nil {
		return "", nil, err
	}
	l = got.(*Lease)
	return l.held.session.(*transaction).key.(string), l, nil
}
