package sqlguard

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"locksim/lock/fence"
)

// ErrOutcomeUnknown is returned when a statement has failed and may have been carried out nevertheless: the connection
// may have broken before the answer. The error also wraps the driver's, which may have details. Read again to find out,
// or, with any rule but CAS, write again under the same grant.
var ErrOutcomeUnknown = errors.New("outcome unknown")

// DB is what a guard needs of a database: *[sql.DB], *[sql.Conn] and *[sql.Tx] have it.
type DB interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Column is a column of the guarded table with the value to write, or, in a read, a pointer to scan the value into.
type Column struct {
	Name  string
	Value any
}

// Guard reads and writes rows of a table under one rule. It is safe for concurrent use.
type Guard struct{ o Options }

// New returns a guard, or an error that says which option is wrong. It does not access the database.
func New(o Options) (*Guard, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("make a SQL guard: %w", err)
	}
	return &Guard{o.withDefaults()}, nil
}

// Mode returns the guard's rule.
func (g *Guard) Mode() fence.Mode { return g.o.Mode }

// Read reads columns of the row whose key column is key, if the rule accepts the read, and returns the row's version:
// under CAS a write that is based on this read has it in its [fence.Op].
//
// Under Seal, Strict and Claim a read is an UPDATE for the rule, and then a SELECT. In that order they need no
// transaction: an operation in between is of a later grant, and makes the sender's write stale.
//
// The error wraps [fence.ErrStale] or [fence.ErrNoGrant] when the rule refused, [sql.ErrNoRows] when there is no such
// row. After any other error the read may count for the rule, and may be repeated.
func (g *Guard) Read(ctx context.Context, db DB, key any, op fence.Op, columns ...Column) (version uint64, err error) {
	if err := g.read(ctx, db, key, op); err != nil {
		return 0, g.failed("read", key, err)
	}
	names, targets := []string{g.o.Version}, []any{&version}
	for _, c := range columns {
		if !identifier(c.Name) {
			return 0, g.failed("read", key, fmt.Errorf("column %q is not a plain name", c.Name))
		}
		names, targets = append(names, c.Name), append(targets, c.Value)
	}
	if err := g.query(ctx, db, key, names, targets); err != nil {
		return 0, g.failed("read", key, err)
	}
	return version, nil
}

func (g *Guard) read(ctx context.Context, db DB, key any, op fence.Op) error {
	if err := g.check(op, g.o.Mode.Read); err != nil {
		return err
	}
	rule := g.o.onRead(op)
	if rule == nil {
		return nil
	}
	return g.update(ctx, db, key, op, nil, rule, g.o.Mode.Read)
}

// Write sets columns of the row whose key column is key, if the rule accepts the write. Under CAS the row's version is
// then op.Version + 1.
//
// The error wraps [fence.ErrStale] or [fence.ErrNoGrant] when the rule refused, [sql.ErrNoRows] when there is no such
// row, and [ErrOutcomeUnknown] when the statement may have been carried out although it failed. After any other error
// nothing was written, unless the error says that the key is not unique.
func (g *Guard) Write(ctx context.Context, db DB, key any, op fence.Op, columns ...Column) error {
	if err := g.write(ctx, db, key, op, columns); err != nil {
		return g.failed("write", key, err)
	}
	return nil
}

func (g *Guard) write(ctx context.Context, db DB, key any, op fence.Op, columns []Column) error {
	if err := g.check(op, g.o.Mode.Write); err != nil {
		return err
	}
	for _, c := range columns {
		switch {
		case !identifier(c.Name):
			return fmt.Errorf("column %q is not a plain name", c.Name)
		case g.o.own(c.Name):
			return fmt.Errorf("column %s is the guard's own", c.Name)
		}
	}
	return g.update(ctx, db, key, op, columns, g.o.onWrite(op), g.o.Mode.Write)
}

func (g *Guard) failed(verb string, key any, err error) error {
	return fmt.Errorf("%s row %v of %s: %w", verb, key, g.o.Table, err)
}

// Highest returns the highest token that counts for the row whose key column is key, for the rules that compare tokens.
// It changes nothing. It is for a lock that has lost its counter: see [locksim/lock.RaiseToken]. The error wraps
// [sql.ErrNoRows] when there is no such row.
func (g *Guard) Highest(ctx context.Context, db DB, key any) (uint64, error) {
	if !g.o.Mode.NeedsToken() {
		return 0, fmt.Errorf("the rule %s compares no tokens", g.o.Mode)
	}
	var highest uint64
	if err := g.query(ctx, db, key, []string{g.o.Token}, []any{&highest}); err != nil {
		return 0, g.failed("read the highest token of", key, err)
	}
	return highest, nil
}

// judge is a rule for reads or for writes.
type judge func(fence.State, fence.Op) (fence.State, error)

// check refuses operations that are not acceptable in any state of the row.
func (g *Guard) check(op fence.Op, rule judge) error {
	if g.o.Mode.NeedsToken() && op.Token > math.MaxInt64 {
		return fmt.Errorf("token %d does not fit into a BIGINT", op.Token)
	}
	if g.o.Mode == fence.CAS && op.Version > math.MaxInt64 {
		return fmt.Errorf("version %d does not fit into a BIGINT", op.Version)
	}
	if g.o.Mode.NeedsGrant() && op.Grant == "" {
		_, err := rule(fence.State{}, op)
		return err
	}
	return nil
}

// update runs the conditional statement of an operation and checks the number of rows that it changed.
func (g *Guard) update(ctx context.Context, db DB, key any, op fence.Op, set []Column, accept *condition,
	rule judge) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s := g.o.update(key, set, accept)
	res, err := db.ExecContext(ctx, s.sql(g.o.Placeholders), s.args...)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	switch n, err := res.RowsAffected(); {
	case err != nil:
		return fmt.Errorf("%w: the driver does not count changed rows: %w", ErrOutcomeUnknown, err)
	case n == 0:
		return g.explain(ctx, db, key, op, rule)
	case n > 1:
		return fmt.Errorf("%d rows were changed: column %s is not unique", n, g.o.Key)
	}
	return nil
}

// explain returns why no row was changed: it does not exist, or the rule's own error.
func (g *Guard) explain(ctx context.Context, db DB, key any, op fence.Op, rule judge) error {
	var s fence.State
	names, targets := g.stateColumns(&s)
	if err := g.query(ctx, db, key, names, targets); err != nil {
		return fmt.Errorf("no row was changed, and its state could not be read: %w", err)
	}
	if _, err := rule(s, op); err != nil {
		return err
	}
	return fmt.Errorf("refused, and the row has changed since: %w", fence.ErrStale)
}

// stateColumns are the columns of the rule, and the fields of a State for them.
func (g *Guard) stateColumns(s *fence.State) (names []string, targets []any) {
	switch g.o.Mode {
	case fence.Check, fence.Seal:
		return []string{g.o.Token}, []any{&s.Highest}
	case fence.Strict:
		return []string{g.o.Token, g.o.Grant}, []any{&s.Highest, &s.Grant}
	case fence.Claim:
		return []string{g.o.Grant}, []any{&s.Grant}
	}
	return []string{g.o.Version}, []any{&s.Version}
}

func (g *Guard) query(ctx context.Context, db DB, key any, names []string, targets []any) error {
	s := g.o.query(key, names)
	return db.QueryRowContext(ctx, s.sql(g.o.Placeholders), s.args...).Scan(targets...)
}
