package sqltest

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite"

	"locksim/lock/fence"
	"locksim/lock/fence/sqlguard"
)

// rules are the modes that a guard can have.
var rules = fence.Modes()[1:]

// accounts returns a database with the table that the documentation of sqlguard describes, and a row.
func accounts(t testing.TB) *sql.DB {
	t.Helper()
	file := filepath.Join(t.TempDir(), "test.db")
	db, err := sql.Open("sqlite", "file:"+file+
		"?_pragma=busy_timeout(60000)&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	execute(t, db, `CREATE TABLE accounts (
		id            VARCHAR(255) PRIMARY KEY,
		balance       VARCHAR(255) NOT NULL DEFAULT '',
		fence_token   BIGINT       NOT NULL DEFAULT 0,
		fence_grant   VARCHAR(255) NOT NULL DEFAULT '',
		fence_version BIGINT       NOT NULL DEFAULT 0
	)`)
	execute(t, db, `INSERT INTO accounts (id) VALUES (?)`, row)
	return db
}

const row = "order:42"

func execute(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

func guard(t testing.TB, mode fence.Mode, p sqlguard.Placeholders) *sqlguard.Guard {
	t.Helper()
	g, err := sqlguard.New(sqlguard.Options{Mode: mode, Table: "accounts", Placeholders: p})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func balance(v any) sqlguard.Column { return sqlguard.Column{Name: "balance", Value: v} }
