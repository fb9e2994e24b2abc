package sqllock

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"locksim/lock"
)

// Named is a lock of a session of MySQL by GET_LOCK. It is safe for concurrent use.
//
// The lock lasts as long as the connection, which sends a statement every now and then. When the database has not heard
// of it for the TTL, it ends the session. The lock mints no token, and has no transaction for the work of the holder.
type Named struct{ *connected }

// NewNamed returns the lock, or an error that says which option is wrong. It sends nothing. The Dialect must be
// [MySQL].
func NewNamed(db *sql.DB, o Options) (*Named, error) {
	if err := o.Dialect.needs(MySQL, "an Advisory lock"); err != nil {
		return nil, err
	}
	c, err := newConnected(db, o, func(life context.Context, conn *sql.Conn, resource string) session {
		return &named{life: life, conn: conn, ttl: o.withDefaults().TTL, name: NamedKey(o.Prefix + resource)}
	})
	return &Named{c}, err
}

// NamedKey is the name of the lock of a resource on the whole server: 32 digits of the SHA-256 of its name, after
// [Options.Prefix]. MySQL folds the case of names, and takes 64 characters at most; MariaDB does not fold it.
func NamedKey(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}

// named is a session that has the lock.
type named struct {
	life context.Context
	conn *sql.Conn
	ttl  time.Duration
	name string
}

func (n *named) take(wait time.Duration) error {
	if err := limitWaits(n.life, n.conn, n.ttl, 0); err != nil {
		return err
	}
	ctx, cancel := patient(n.life, wait, n.ttl)
	defer cancel()
	granted, err := n.ask(ctx, `SELECT GET_LOCK(?, ?)`, n.name, int64(wait/time.Second))
	switch {
	case err != nil:
		return taken(err)
	case !granted.Valid:
		return errors.New("GET_LOCK has failed: the thread was killed, or has no memory")
	case granted.Int64 != 1:
		return lock.ErrTaken
	}
	return nil
}

// beat asks whether the session has the lock: one that the driver has made anew does not.
func (n *named) beat() error {
	mine, err := n.ask(n.life, `SELECT IS_USED_LOCK(?) = CONNECTION_ID()`, n.name)
	switch {
	case refused(err): // an answer is as good as another: the session goes on, and the lock with it
		return nil
	case err == nil && mine.Int64 != 1:
		return fmt.Errorf("the session does not have the lock: %w", lock.ErrNotHeld)
	}
	return err
}

func (n *named) do(func(*sql.Tx) error) error {
	return fmt.Errorf("a named lock of a session has no transaction: %w", errors.ErrUnsupported)
}

func (n *named) free() (had bool, err error) {
	freed, err := n.ask(n.life, `SELECT RELEASE_LOCK(?)`, n.name)
	if ended(err) {
		return false, nil
	}
	return freed.Int64 == 1, err
}

func (n *named) ask(ctx context.Context, statement string, args ...any) (answer sql.NullInt64, err error) {
	err = n.conn.QueryRowContext(ctx, statement, args...).Scan(&answer)
	return answer, err
}

// leave undoes what is left of the session for the next user of the connection.
func (n *named) leave() error {
	_, err := n.conn.ExecContext(n.life, `SET SESSION wait_timeout = DEFAULT`)
	return err
}

func (n *named) abort() { discard(n.conn) }
