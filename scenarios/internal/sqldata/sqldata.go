// Package sqldata is the protected data of a run in a database, which the locks of that database have in common: a row
// for each register, with the columns of [locksim/lock/fence/sqlguard].
package sqldata

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/lock/fence/sqlguard"
	"locksim/scenarios/fences"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// Table is the table of the data.
const Table = "registers"

// Database is a kind of database.
type Database struct {
	// Open is the database for a client.
	Open func(e subject.Env) (*sql.DB, error)
	// Notes is what takes note of an operation that a client is about to send.
	Notes func() (note func(trace.Decision), err error)
	// About returns that by which the statements of an operation go, so that the server knows which one they are about.
	About func(ctx context.Context, on sqlguard.DB, op string) (sqlguard.DB, error)
	// Placeholders are those of its statements, and Key the column with the key of a row.
	Placeholders sqlguard.Placeholders
	Key          string
	// Insert makes the row of the key that is its argument, unless it is there.
	Insert string
}

// Value is the query for the value of a register.
func (d Database) Value(resource, register string) string {
	k := key(resource, register)
	if d.Placeholders == sqlguard.Question { // MySQL: there a backslash is an escape
		k = strings.ReplaceAll(k, `\`, `\\`)
	}
	return `SELECT value FROM ` + Table + ` WHERE ` + d.Key + ` = '` + strings.ReplaceAll(k, `'`, `''`) + `'`
}

// key is that of the row of a register.
func key(resource, register string) string { return resource + "/" + register }

// Data is the data of a lock in this database. work calls a function with the transaction of a lease, and returns its
// error; nil is for a lock without a transaction.
func (d Database) Data(work func(l lock.Lease, do func(tx *sql.Tx) error) error) *subject.Data {
	data := &subject.Data{Open: d.OpenStore}
	if work != nil {
		data.Within = func(s subject.Store, l lock.Lease) subject.Store {
			return within{s.(*store), func(do func(tx *sql.Tx) error) error { return work(l, do) }}
		}
	}
	return data
}

// store is the access of a client to the data, behind a fence, by the statements of package sqlguard.
type store struct {
	Database

	db       *sql.DB
	note     func(trace.Decision)
	guard    *sqlguard.Guard   // nil without a fence
	versions map[string]uint64 // those of the rows as the client has read them last
}

// OpenStore is the data for a client, behind a fence.
func (d Database) OpenStore(e subject.Env, mode fence.Mode) (subject.Store, error) {
	db, err := d.Open(e)
	if err != nil {
		return nil, err
	}
	note, err := d.Notes()
	if err != nil {
		return nil, err
	}
	s := &store{Database: d, db: db, note: note, versions: map[string]uint64{}}
	if mode != fence.None {
		s.guard, err = d.guard(mode)
	}
	return s, err
}

func (d Database) guard(mode fence.Mode) (*sqlguard.Guard, error) {
	return sqlguard.New(sqlguard.Options{Mode: mode, Table: Table, Key: d.Key, Placeholders: d.Placeholders})
}

// Do implements [subject.Store].
func (s *store) Do(ctx context.Context, op checker.Op, grant string) (saw string, outcome checker.Outcome, err error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return "", checker.OutcomeNotSent, err
	}
	defer func() { _ = conn.Close() }()
	on, err := s.announce(ctx, conn, op, grant)
	if err != nil {
		return "", checker.OutcomeNotSent, err
	}
	saw, err = s.work(ctx, on, op, grant)
	switch {
	case err == nil:
		return saw, checker.OutcomeOK, nil
	case errors.Is(err, fence.ErrStale):
		return "", checker.OutcomeRefused, err
	}
	return "", checker.OutcomeUnknown, err
}

// announce tells the world which operation the next statements are about, and makes the row of its register.
func (s *store) announce(ctx context.Context, on sqlguard.DB, op checker.Op, grant string) (sqlguard.DB, error) {
	s.note(trace.Decision{Write: op.Kind == checker.Write, Resource: string(op.Resource), Register: op.Register,
		Op:    op.ID,
		Token: op.Token,
		Grant: grant, Base: op.Saw})
	if op.Kind == checker.Read {
		if _, err := on.ExecContext(ctx, s.Insert, key(string(op.Resource), op.Register)); err != nil {
			return nil, fmt.Errorf("make a row: %w", err)
		}
	}
	return s.About(ctx, on, op.ID)
}

// work reads or writes.
func (s *store) work(ctx context.Context, on sqlguard.DB, op checker.Op, grant string) (saw string, err error) {
	k := key(string(op.Resource), op.Register)
	if s.guard == nil {
		return s.bare(ctx, on, op, k)
	}
	o := fence.Op{Token: op.Token, Grant: grant, Version: s.versions[k]}
	if op.Kind == checker.Write {
		return "", s.guard.Write(ctx, on, k, o, sqlguard.Column{Name: "value", Value: op.ID})
	}
	s.versions[k], err = s.guard.Read(ctx, on, k, o, sqlguard.Column{Name: "value", Value: &saw})
	return saw, err
}

// bare reads or writes without a fence.
func (d Database) bare(ctx context.Context, on sqlguard.DB, op checker.Op, k string) (saw string, err error) {
	read, write, args := `= ?`, ` SET value = ? WHERE `+d.Key+` = ?`, []any{op.ID, k}
	if d.Placeholders == sqlguard.Dollar {
		read, write, args = `= $1`, ` SET value = $2 WHERE `+d.Key+` = $1`, []any{k, op.ID}
	}
	if op.Kind == checker.Write {
		_, err = on.ExecContext(ctx, `UPDATE `+Table+write, args...)
		return "", err
	}
	err = on.QueryRowContext(ctx, `SELECT value FROM `+Table+` WHERE `+d.Key+` `+read, k).Scan(&saw)
	return saw, err
}

// within works in the transaction of a lease.
type within struct {
	*store
	work func(do func(tx *sql.Tx) error) error
}

// Do implements [subject.Store].
func (w within) Do(ctx context.Context, op checker.Op, grant string) (saw string, outcome checker.Outcome, err error) {
	sent := false
	err = w.work(func(tx *sql.Tx) error {
		on, err := w.announce(ctx, tx, op, grant)
		if err != nil {
			return err
		}
		sent = true
		saw, err = w.bare(ctx, on, op, key(string(op.Resource), op.Register))
		return err
	})
	switch {
	case err == nil:
		return saw, checker.OutcomeOK, nil
	case op.Kind == checker.Read && sent:
		return "", checker.OutcomeUnknown, err
	case op.Kind == checker.Read:
		return "", checker.OutcomeNotSent, err
	}
	return "", checker.OutcomeFailed, err // nothing of it is committed
}

// Guarded is a store of a client behind sqlguard, with a row for each key, for a search in which the fence is on trial.
func (d Database) Guarded(e subject.Env, rule fence.Mode) (fences.Store, error) {
	db, err := d.Open(e)
	if err != nil {
		return nil, err
	}
	guard, err := d.guard(rule)
	return guarded{d, db, guard}, err
}

// guarded is that store.
type guarded struct {
	Database

	db    *sql.DB
	guard *sqlguard.Guard
}

// Read implements [fences.Store].
func (g guarded) Read(ctx context.Context, key string, op fence.Op) (value string, err error) {
	if err := g.prepare(ctx, key); err != nil {
		return "", err
	}
	_, err = g.guard.Read(ctx, g.db, key, op, sqlguard.Column{Name: "value", Value: &value})
	return value, err
}

// Write implements [fences.Store].
func (g guarded) Write(ctx context.Context, key, value string, op fence.Op) error {
	if err := g.prepare(ctx, key); err != nil {
		return err
	}
	return g.guard.Write(ctx, g.db, key, op, sqlguard.Column{Name: "value", Value: value})
}

func (g guarded) prepare(ctx context.Context, key string) error {
	_, err := g.db.ExecContext(ctx, g.Insert, key)
	return err
}

// Pool is the pool of a client, for faults that exhaust it. It is a [locksim/faults.PoolWaiter].
type Pool struct {
	DB *sql.DB
	// Connections is how many it has at most.
	Connections int
}

// errFull is returned when every connection of a pool is in use.
var errFull = errors.New("every connection is in use")

// Size implements [locksim/faults.Pool].
func (p *Pool) Size() int { return p.Connections }

// Take implements [locksim/faults.Pool]. It does not wait for a connection: database/sql gives one that becomes free to
// any of those who wait, by a global random number.
func (p *Pool) Take(ctx context.Context) error {
	if s := p.DB.Stats(); s.Idle == 0 && s.OpenConnections >= p.Connections {
		return errFull
	}
	conn, err := p.DB.Conn(ctx)
	if err != nil {
		return err
	}
	<-ctx.Done()
	return conn.Close()
}

// Asked implements [locksim/faults.Pool]: it counts those who had to wait.
func (p *Pool) Asked() int64 { return p.Waits() }

// Waits implements [locksim/faults.PoolWaiter].
func (p *Pool) Waits() int64 { return p.DB.Stats().WaitCount }

// Dirty implements [locksim/faults.Pool]: database/sql keeps nothing of a run.
func (*Pool) Dirty() bool { return false }
