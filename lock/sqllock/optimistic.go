package sqllock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"

	"locksim/lock/fence"
	"locksim/lock/fence/sqlguard"
)

// Optimistic changes rows without a lock: a write counts only if the row has not changed since it was read, by a
// version in the row, and otherwise the change is tried again. It is safe for concurrent use.
//
// It suits changes that rarely meet, and that may be computed again. Who ignores the number of rows that an UPDATE has
// changed has no protection (F67): it is what tells here. A client that is paused, or whose write is late, does no
// harm.
type Optimistic struct {
	db    *sql.DB
	opt   Options
	guard *sqlguard.Guard
	dice  *dice
}

// NewOptimistic returns an Optimistic for the rows of a table, or an error that says which option is wrong. It sends
// nothing. The table has the columns that [locksim/lock/fence/sqlguard] describes for the rule CAS: a key, and a
// version, which each change increases. Of o it uses Backoff, Tries, Clock and Jitter. table.Mode must be "" or CAS.
func NewOptimistic(db *sql.DB, table sqlguard.Options, o Options) (*Optimistic, error) {
	if table.Mode == "" {
		table.Mode = fence.CAS
	}
	if table.Placeholders == "" {
		table.Placeholders = o.Dialect.placeholders()
	}
	err := check(db, o)
	if table.Mode != fence.CAS {
		err = errors.Join(err, fmt.Errorf("the rule of the table is %s, want %s", table.Mode, fence.CAS))
	}
	guard, failure := sqlguard.New(table)
	if err = errors.Join(err, failure); err != nil {
		return nil, fmt.Errorf("make optimistic changes: %w", err)
	}
	o = o.withDefaults()
	return &Optimistic{db: db, opt: o, guard: guard, dice: &dice{rand: rand.New(o.Jitter)}}, nil
}

// Change reads the columns of a row, calls compute, and writes what it returns, until a write counts, ctx ends, or it
// has tried as often as [Options.Tries] says. conflicts is how often a write did not count, since another client had
// changed the row. The values of columns are pointers, into which each try reads. compute may be called several times;
// its error ends the change, and nothing is written.
//
// The error wraps [fence.ErrStale] when it has given up, and that of ctx when that has ended: nothing was written then.
// The error wraps [sql.ErrNoRows] where there is no such row, and [sqlguard.ErrOutcomeUnknown] when a write may have
// been made although it failed: then the change must not simply be made again.
func (o *Optimistic) Change(ctx context.Context, key any, columns []sqlguard.Column,
	compute func() ([]sqlguard.Column, error)) (conflicts int, err error) {
	for {
		version, err := o.guard.Read(ctx, o.db, key, fence.Op{}, columns...)
		if err != nil {
			return conflicts, err
		}
		values, err := compute()
		if err != nil {
			return conflicts, err
		}
		err = o.guard.Write(ctx, o.db, key, fence.Op{Version: version}, values...)
		if !errors.Is(err, fence.ErrStale) {
			return conflicts, err
		}
		conflicts++
		if o.opt.Tries > 0 && conflicts >= o.opt.Tries {
			return conflicts, fmt.Errorf("gave up after %d tries: %w", conflicts, err)
		}
		if end := o.opt.Clock.Sleep(ctx, o.dice.delay(o.opt.Backoff, conflicts)); end != nil {
			return conflicts, fmt.Errorf("gave up after %d conflicts: %w: %w", conflicts, end, err)
		}
	}
}
