package articles

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// row is recipe A17: a table of locks with a unique name, and the end of each lease. A client deletes the row if
// its end has passed by the clock of the client, and then inserts one of its own; it has the lock if no other row
// was in the way. The text promises that one client has the lock at a time, and that a crash frees it after the
// TTL.
//
//	CREATE TABLE article_locks (name varchar(100) PRIMARY KEY, owner varchar(100), expire_at timestamp)
type row struct {
	ctx       context.Context
	now       func() time.Time
	db        execer
	name, id  string
	ttl       time.Duration
	duplicate func(error) bool // of the database: the name is there already
}

// execer is a *sql.DB whose driver has question marks.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Lock asks until it has the lock or the time is over.
func (l *row) Lock(timeout time.Duration) (bool, error) {
	return polled(l.now, timeout, func() (bool, error) {
		now := l.now().UTC()
		_, err := l.db.ExecContext(l.ctx, "DELETE FROM article_locks WHERE name = ? AND expire_at < ?", l.name, now)
		if err != nil {
			return false, err
		}
		_, err = l.db.ExecContext(l.ctx, "INSERT INTO article_locks (name, owner, expire_at) VALUES (?, ?, ?)",
			l.name, l.id, now.Add(l.ttl))
		if l.duplicate(err) {
			return false, nil
		}
		return err == nil, err
	})
}

// Unlock deletes the row, if it is that of this object.
func (l *row) Unlock() error {
	done, err := l.db.ExecContext(l.ctx, "DELETE FROM article_locks WHERE name = ? AND owner = ?", l.name, l.id)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, errNotOwner)
	}
	return nil
}
