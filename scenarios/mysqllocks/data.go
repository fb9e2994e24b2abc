package mysqllocks

import (
	"context"
	"database/sql"
	"errors"

	"github.com/go-sql-driver/mysql"

	"locksim/lock"
	"locksim/lock/broken/mysqlbroken"
	"locksim/lock/fence"
	"locksim/lock/fence/sqlguard"
	"locksim/lock/sqllock"
	"locksim/scenarios/fences"
	"locksim/scenarios/internal/sqldata"
	"locksim/scenarios/subject"
	"locksim/sim/mariadb"
	"locksim/sim/trace"
)

// database is MariaDB for the data. The client tells the server in a comment which operation a statement is about.
var database = sqldata.Database{
	Open:  func(e subject.Env) (*sql.DB, error) { return Open(e) },
	Notes: func() (func(trace.Decision), error) { return mariadb.Note, nil },
	About: func(_ context.Context, on sqlguard.DB, op string) (sqlguard.DB, error) {
		return commented{on, mariadb.Comment(op)}, nil
	},
	Placeholders: sqlguard.Question, Key: "name",
	Insert: `INSERT IGNORE INTO ` + sqldata.Table + ` (name) VALUES (?)`,
}

// commented puts a comment before each statement.
type commented struct {
	on      sqlguard.DB
	comment string
}

// ExecContext implements [sqlguard.DB].
func (c commented) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return c.on.ExecContext(ctx, c.comment+query, args...)
}

// QueryRowContext implements [sqlguard.DB].
func (c commented) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return c.on.QueryRowContext(ctx, c.comment+query, args...)
}

// schema makes the tables of the locks and of the data.
func schema() ([]string, error) {
	c, err := mysql.NewConnector(mysql.NewConfig())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c) // it is never dialled
	defer func() { _ = db.Close() }()
	table, err := sqllock.NewTable(db, sqllock.Options{Dialect: sqllock.MySQL})
	forUpdate, failure := sqllock.NewForUpdate(db, sqllock.Options{Dialect: sqllock.MySQL, Table: rows})
	queue, failed := sqllock.NewQueue(db, sqllock.Options{Dialect: sqllock.MySQL, Table: jobs})
	if err = errors.Join(err, failure, failed); err != nil {
		return nil, err
	}
	return append(mysqlbroken.Schema(),
		table.Schema(), forUpdate.Schema(), queue.Schema(),
		`CREATE TABLE IF NOT EXISTS `+sqldata.Table+` (name VARBINARY(255) PRIMARY KEY,
			value VARCHAR(255) NOT NULL DEFAULT '', fence_token BIGINT NOT NULL DEFAULT 0,
			fence_grant VARBINARY(255) NOT NULL DEFAULT '', fence_version BIGINT NOT NULL DEFAULT 0) ENGINE=InnoDB`,
	), nil
}

func leases() (all []mariadb.LeaseTable) {
	for _, table := range []string{sqllock.DefaultTable, mysqlbroken.Leases} {
		all = append(all, mariadb.LeaseTable{Table: table, Key: "resource", Owner: "owner", Until: "expires_at"})
	}
	return all
}

// Data is the data of a lock in this database. work calls a function with the transaction of a lease, and returns its
// error; nil is for a lock without a transaction.
func Data(work func(l lock.Lease, do func(tx *sql.Tx) error) error) *subject.Data {
	return database.Data(work)
}

// inTransaction works in the transaction of one of our leases.
func inTransaction(l lock.Lease, do func(tx *sql.Tx) error) error { return l.(*sqllock.Lease).Do(do) }

// Fences are the rules of package sqlguard over MariaDB, for the command to put on trial.
func Fences() []subject.Lock {
	var all []subject.Lock
	for _, rule := range []fence.Mode{fence.Check, fence.Seal, fence.Strict} {
		all = append(all, Fence(rule).Subject())
	}
	return all
}

// Fence is a table in MariaDB behind [sqlguard], under one of the rules check, seal and strict: mysql-check and so
// on. It promises to be right when the server crashes, too: what it has committed is there afterwards.
func Fence(rule fence.Mode) fences.Fence {
	return fences.Fence{
		Name: "mysql-" + string(rule), Rule: rule, Servers: Servers(),
		Faults: append(fences.DefaultFaults(), lock.FaultNodeCrash, lock.FaultNodePower),
		About: "A row in MariaDB behind sqlguard, rule " + string(rule) + ": the check of the token is a condition of " +
			"the UPDATE that writes.",
		Open: func(e subject.Env) (fences.Store, error) { return database.Guarded(e, rule) },
	}
}
