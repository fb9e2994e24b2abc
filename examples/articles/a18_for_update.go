package articles

import (
	"context"
	"database/sql"
)

// forUpdate is recipe A18: SELECT … FOR UPDATE locks the row of a resource, and the work on its data is done in the
// same transaction. The text promises that the transactions of two clients follow one another, and that a crash
// frees the row and undoes what was not committed.
//
//	CREATE TABLE article_rows (name varchar(100) PRIMARY KEY)
type forUpdate struct{ tx *sql.Tx }

// begin waits for the row. life is that of the transaction, and ctx that of the wait.
func begin(life, ctx context.Context, db *sql.DB, name string) (*forUpdate, error) {
	tx, err := db.BeginTx(life, nil)
	if err != nil {
		return nil, err
	}
	var found string
	row := tx.QueryRowContext(ctx, "SELECT name FROM article_rows WHERE name = $1 FOR UPDATE", name)
	if err := row.Scan(&found); err != nil {
		_ = tx.Rollback()
		return nil, err
	}
	return &forUpdate{tx}, nil
}

// Do works on the data of the resource.
func (l *forUpdate) Do(work func(tx *sql.Tx) error) error { return work(l.tx) }

// Commit ends the transaction, and frees the row.
func (l *forUpdate) Commit() error { return l.tx.Commit() }
