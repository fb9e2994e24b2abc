package sqllock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Advisory is an advisory lock of a session. It is safe for concurrent use.
//
// The lock lasts as long as the connection, which sends a statement every now and then. When the database has not heard
// of it for the TTL, it ends the session. The lock mints no token, and has no transaction for the work of the holder.
// For its key see [AdvisoryTransaction].
type Advisory struct{ *connected }

// NewAdvisory returns the lock, or an error that says which option is wrong. It sends nothing.
func NewAdvisory(db *sql.DB, o Options) (*Advisory, error) {
	if err := o.Dialect.needs(PostgreSQL, "a Named lock"); err != nil {
		return nil, err
	}
	c, err := newConnected(db, o, func(life context.Context, conn *sql.Conn, resource string) session {
		return &advisory{life: life, conn: conn, ttl: o.withDefaults().TTL, key: AdvisoryKey(o.Prefix + resource)}
	})
	return &Advisory{c}, err
}

// advisory is a session that has the lock.
type advisory struct {
	life context.Context
	conn *sql.Conn
	ttl  time.Duration
	key  int64
}

func (a *advisory) take(wait time.Duration) error {
	statement, err := ask(a.life, a.conn, "SET", "idle_session_timeout", a.ttl, oneLock, wait,
		`SELECT true WHERE pg_try_advisory_lock($1)`, `SELECT true FROM pg_advisory_lock($1)`)
	if err != nil {
		return err
	}
	ctx, cancel := patient(a.life, wait, a.ttl)
	defer cancel()
	var granted bool
	return taken(a.conn.QueryRowContext(ctx, statement, a.key).Scan(&granted))
}

func (a *advisory) beat() error {
	_, err := a.conn.ExecContext(a.life, `SELECT 1`)
	if refused(err) { // an answer is as good as another: the session goes on, and the lock with it
		return nil
	}
	return err
}

func (a *advisory) do(func(*sql.Tx) error) error {
	return fmt.Errorf("an advisory lock of a session has no transaction: %w", errors.ErrUnsupported)
}

func (a *advisory) free() (had bool, err error) {
	err = a.conn.QueryRowContext(a.life, `SELECT pg_advisory_unlock($1)`, a.key).Scan(&had)
	if ended(err) {
		return false, nil
	}
	return had, err
}

// leave undoes what is left of the session for the next user of the connection.
func (a *advisory) leave() error {
	for _, limit := range []string{"idle_session_timeout", string(oneLock)} {
		if _, err := a.conn.ExecContext(a.life, `RESET `+limit); err != nil {
			return err
		}
	}
	return nil
}

func (a *advisory) abort() { discard(a.conn) }
