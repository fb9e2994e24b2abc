package sqllocks

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/broken/sqlbroken"
	"locksim/lock/fence"
	"locksim/lock/fence/sqlguard"
	"locksim/lock/sqllock"
	"locksim/scenarios/subject"
	"locksim/sim/postgres"
	"locksim/sim/trace"
)

// registers is the table of the protected data: a row for each register, with the columns of [sqlguard].
const registers = "registers"

// schema makes the tables of the locks and of the data.
func schema() ([]string, error) {
	db := stdlib.OpenDB(pgx.ConnConfig{}) // it is never dialled
	defer func() { _ = db.Close() }()
	table, err := sqllock.NewTable(db, sqllock.Options{})
	forUpdate, failure := sqllock.NewForUpdate(db, sqllock.Options{Table: rows})
	if err = errors.Join(err, failure); err != nil {
		return nil, err
	}
	return append(sqlbroken.Schema(),
		table.Schema(), forUpdate.Schema(),
		`CREATE TABLE `+registers+
			` (key text PRIMARY KEY, value text NOT NULL DEFAULT '', fence_token bigint NOT NULL DEFAULT 0,
			fence_grant text NOT NULL DEFAULT '', fence_version bigint NOT NULL DEFAULT 0)`,
	), nil
}

func leases() (all []postgres.LeaseTable) {
	for _, table := range []string{sqllock.DefaultTable, sqlbroken.Leases} {
		all = append(all, postgres.LeaseTable{Table: table, Key: "resource", Owner: "owner", Until: "expires_at"})
	}
	return all
}

// value is the query for the value of a register.
func value(resource, register string) string {
	return `SELECT value FROM ` + registers + ` WHERE key = '` + strings.ReplaceAll(key(resource, register), `'`, `''`) +
		`'`
}

// key is that of the row of a register.
func key(resource, register string) string { return resource + "/" + register }

// Data is the data of a lock in this database. work calls a function with the transaction of a lease, and returns its
// error; nil is for a lock without a transaction.
func Data(work func(l lock.Lease, do func(tx *sql.Tx) error) error) *subject.Data {
	d := &subject.Data{Open: openStore}
	if work != nil {
		d.Within = func(s subject.Store, l lock.Lease) subject.Store {
			return within{s.(*store), func(do func(tx *sql.Tx) error) error { return work(l, do) }}
		}
	}
	return d
}

// inTransaction works in the transaction of one of our leases.
func inTransaction(l lock.Lease, do func(tx *sql.Tx) error) error { return l.(*sqllock.Lease).Do(do) }

// store is the access of a client to the data, behind a fence, by the statements of package sqlguard.
type store struct {
	db       *sql.DB
	server   *postgres.Server
	guard    *sqlguard.Guard   // nil without a fence
	versions map[string]uint64 // those of the rows as the client has read them last
}

func openStore(e subject.Env, mode fence.Mode) (subject.Store, error) {
	db, err := Open(e)
	if err != nil {
		return nil, err
	}
	server, err := postgres.Shared()
	if err != nil {
		return nil, err
	}
	s := &store{db: db, server: server, versions: map[string]uint64{}}
	if mode != fence.None {
		s.guard, err = sqlguard.New(sqlguard.Options{Mode: mode, Table: registers, Key: "key", Placeholders: sqlguard.Dollar})
	}
	return s, err
}

// Do implements [subject.Store].
func (s *store) Do(ctx context.Context, op checker.Op, grant string) (saw string, outcome checker.Outcome, err error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return "", checker.OutcomeNotSent, err
	}
	defer func() { _ = conn.Close() }()
	if err := s.announce(ctx, conn, op, grant); err != nil {
		return "", checker.OutcomeNotSent, err
	}
	saw, err = s.work(ctx, conn, op, grant)
	switch {
	case err == nil:
		return saw, checker.OutcomeOK, nil
	case errors.Is(err, fence.ErrStale):
		return "", checker.OutcomeRefused, err
	}
	return "", checker.OutcomeUnknown, err
}

// announce tells the world which operation the next statements are about, and makes the row of its register.
func (s *store) announce(ctx context.Context, on sqlguard.DB, op checker.Op, grant string) error {
	s.server.Op(trace.Decision{Write: op.Kind == checker.Write, Resource: string(op.Resource), Register: op.Register,
		Op:    op.ID,
		Token: op.Token,
		Grant: grant, Base: op.Saw})
	if op.Kind == checker.Read {
		if _, err := on.ExecContext(ctx, `INSERT INTO `+registers+` (key) VALUES ($1) ON CONFLICT DO NOTHING`,
			key(string(op.Resource), op.Register)); err != nil {
			return fmt.Errorf("make a row: %w", err)
		}
	}
	_, err := on.ExecContext(ctx, `SET application_name = '`+op.ID+`'`)
	return err
}

// work reads or writes.
func (s *store) work(ctx context.Context, on sqlguard.DB, op checker.Op, grant string) (saw string, err error) {
	k := key(string(op.Resource), op.Register)
	if s.guard == nil {
		return bare(ctx, on, op, k)
	}
	o := fence.Op{Token: op.Token, Grant: grant, Version: s.versions[k]}
	if op.Kind == checker.Write {
		return "", s.guard.Write(ctx, on, k, o, sqlguard.Column{Name: "value", Value: op.ID})
	}
	s.versions[k], err = s.guard.Read(ctx, on, k, o, sqlguard.Column{Name: "value", Value: &saw})
	return saw, err
}

// bare reads or writes without a fence.
func bare(ctx context.Context, on sqlguard.DB, op checker.Op, k string) (saw string, err error) {
	if op.Kind == checker.Write {
		_, err = on.ExecContext(ctx, `UPDATE `+registers+` SET value = $2 WHERE key = $1`, k, op.ID)
		return "", err
	}
	err = on.QueryRowContext(ctx, `SELECT value FROM `+registers+` WHERE key = $1`, k).Scan(&saw)
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
		if err := w.announce(ctx, tx, op, grant); err != nil {
			return err
		}
		sent = true
		saw, err = bare(ctx, tx, op, key(string(op.Resource), op.Register))
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
