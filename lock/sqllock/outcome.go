package sqllock

import (
	"errors"
	"fmt"
	"strings"

	"locksim/lock"
)

// The SQLSTATEs that matter, from appendix A of the documentation of PostgreSQL.
const (
	serializationFailure = "40001"
	lockNotAvailable     = "55P03"
	queryCanceled        = "57014"
	idleSession          = "57P05"
	idleInTransaction    = "25P03"
	adminShutdown        = "57P01"
)

// sqlState is the SQLSTATE of an error; "" if the database has not sent it. The errors of pgx and of lib/pq have it.
func sqlState(err error) string {
	if e, ok := errors.AsType[interface {
		error
		SQLState() string
	}](err); ok {
		return e.SQLState()
	}
	return ""
}

// ended reports whether the database has ended the session with this error.
func ended(err error) bool {
	switch number(err) {
	case erServerShutdown, erConnectionKilled, erInactive:
		return true
	}
	s := sqlState(err)
	return s == idleSession || s == idleInTransaction || s == adminShutdown
}

// refused reports whether the database has refused a statement, and kept the session.
func refused(err error) bool {
	if number(err) != 0 {
		return !ended(err)
	}
	s := sqlState(err)
	return s != "" && !ended(err) && !strings.HasPrefix(s, "08") && !strings.HasPrefix(s, "57P")
}

// conflict reports whether a statement has failed for what another transaction did at the same time, and may be tried
// again.
func conflict(err error) bool {
	n := number(err)
	return n == erLockDeadlock || n == erChanged || sqlState(err) == serializationFailure
}

// unavailable reports whether a statement has failed since another session has a lock.
func unavailable(err error) bool {
	n := number(err)
	return n == erLockWaitTimeout || n == erLockNowait || sqlState(err) == lockNotAvailable
}

// outcome makes lock.ErrOutcomeUnknown part of err, unless the database has refused the statement, and so done nothing.
func outcome(err error) error {
	if refused(err) {
		return err
	}
	return fmt.Errorf("%w: %w", lock.ErrOutcomeUnknown, err)
}
