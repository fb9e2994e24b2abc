package sqllocks

import (
	"context"
	"database/sql"

	"locksim/lock"
	"locksim/lock/fence"
	"locksim/lock/fence/sqlguard"
	"locksim/scenarios/fences"
	"locksim/scenarios/subject"
)

// Fences are the rules of package sqlguard over PostgreSQL, for the command to put on trial.
func Fences() []subject.Lock {
	var all []subject.Lock
	for _, rule := range []fence.Mode{fence.Check, fence.Seal, fence.Strict} {
		all = append(all, Fence(rule).Subject())
	}
	return all
}

// Fence is a table in PostgreSQL behind [sqlguard], under one of the rules check, seal and strict: sql-check and so on.
// It promises to be right when the server crashes, too: what it has committed is there afterwards.
func Fence(rule fence.Mode) fences.Fence {
	return fences.Fence{
		Name: "sql-" + string(rule), Rule: rule, Servers: Servers(),
		Faults: append(fences.DefaultFaults(), lock.FaultNodeCrash, lock.FaultNodePower),
		About: "A row in PostgreSQL behind sqlguard, rule " + string(rule) + ": the check of the token is a condition of " +
			"the UPDATE that writes.",
		Open: func(e subject.Env) (fences.Store, error) {
			db, err := Open(e)
			if err != nil {
				return nil, err
			}
			guard, err := sqlguard.New(sqlguard.Options{Mode: rule, Table: registers, Key: "key", Placeholders: sqlguard.Dollar})
			return guarded{db, guard}, err
		},
	}
}

// guarded is a store behind sqlguard, with a row for each key.
type guarded struct {
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
	_, err := g.db.ExecContext(ctx, `INSERT INTO `+registers+` (key) VALUES ($1) ON CONFLICT DO NOTHING`, key)
	return err
}
