package articles

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// errChanged is what the recipes without a lock return when others were faster each time. Nothing was written then.
var errChanged = errors.New("the value has changed each time")

// versioned is recipe A19: no lock, but a version in the row. A write counts only if the version is the one that was
// read. The text promises that no change is lost, and that a change gives up after three tries.
//
//	CREATE TABLE article_values (name varchar(100) PRIMARY KEY, value text NOT NULL, version bigint NOT NULL)
type versioned struct{ db *sql.DB }

// Change gives the value to change, and writes what it returns. change may be called three times.
func (v versioned) Change(ctx context.Context, name string, change func(value string) (string, error)) error {
	pause := poll
	for range 3 {
		var value string
		var version int64
		row := v.db.QueryRowContext(ctx, "SELECT value, version FROM article_values WHERE name = $1", name)
		if err := row.Scan(&value, &version); err != nil {
			return err
		}
		value, err := change(value)
		if err != nil {
			return err
		}
		done, err := v.db.ExecContext(ctx,
			"UPDATE article_values SET value = $1, version = version + 1 WHERE name = $2 AND version = $3", value, name, version)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 1 {
			return err
		}
		time.Sleep(pause)
		pause *= 2
	}
	return errChanged
}
