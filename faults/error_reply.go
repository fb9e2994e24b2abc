package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/lock/promise"
)

// MaxRequests is the most requests that an ErrorReply may count.
const MaxRequests = 1000

// ErrorReply makes a server answer requests with an error. It carries out none of these: a
// statement that was the victim of a deadlock, or ran into a time limit of the server, a Redis
// that reads its data from the disk, or has no memory left. A client that takes such an answer
// for "taken", or for success, or that gives up with its key still there, is wrong.
//
// READONLY is the fault read_only.
type ErrorReply struct {
	// Node is who answers so: "r0", or "p0".
	Node string
	// Error is the answer. Empty means the first of ReplyErrors: ReplyLoading for Redis, ReplyDeadlock for PostgreSQL
	// and MariaDB.
	Error ReplyError
	// Count is how many requests are answered so, of those that meet the error: 1 to
	// MaxRequests. 0 means all.
	Count int
	// For is how long, in virtual time, if Count is not reached before. 0 means until the world
	// is healed at the end of the workload.
	For time.Duration
}

// ReplyError is an answer that means that a request was not carried out.
type ReplyError string

const (
	// ReplyLoading is LOADING of Redis: it refuses every command but those of the connection.
	ReplyLoading ReplyError = "loading"
	// ReplyOOM is OOM of Redis: it refuses the commands that may need more memory, also those of
	// a script that has written nothing yet. It reads, and deletes.
	ReplyOOM ReplyError = "oom"
	// ReplyDeadlock is deadlock_detected of PostgreSQL, 40P01, and ER_LOCK_DEADLOCK of MariaDB, 1213:
	// the statement has failed, and with it its transaction. Statements that begin or end a
	// transaction, or set something, do not meet it.
	ReplyDeadlock ReplyError = "deadlock"
	// ReplyTimeout is query_canceled of PostgreSQL, 57014, by its statement_timeout; otherwise
	// as ReplyDeadlock. Of MariaDB it is ER_LOCK_WAIT_TIMEOUT, 1205, after which the transaction
	// goes on without the statement.
	ReplyTimeout ReplyError = "timeout"
	// ReplyInternal is 500 of a server that speaks HTTP, in trouble of its own.
	ReplyInternal ReplyError = "internal"
	// ReplyThrottled is 429 of such a server: it has too many requests.
	ReplyThrottled ReplyError = "throttled"
	// ReplyConflict is 409 of such a server, for a request that changes something: another change
	// came first.
	ReplyConflict ReplyError = "conflict"
)

// ReplyErrors lists the errors of a server, the default first: of a PostgreSQL if the name is p0, of a MariaDB if it
// is m0, of a server that speaks HTTP if it is api0, and else of a Redis. Without a name it lists all. The caller
// owns the slice.
func ReplyErrors(node string) []ReplyError {
	redis, postgres := []ReplyError{ReplyLoading, ReplyOOM}, []ReplyError{ReplyDeadlock, ReplyTimeout}
	http := []ReplyError{ReplyInternal, ReplyThrottled, ReplyConflict}
	switch strings.TrimRight(node, "0123456789") {
	case "":
		return slices.Concat(redis, postgres, http)
	case "p", "m":
		return postgres
	case "api":
		return http
	}
	return redis
}

// ErrorReplier is a world whose servers can answer with errors.
type ErrorReplier interface {
	// ReplyError makes the server answer so many requests with the error, all if count is 0, for
	// d at most, or until the world is healed if d is 0. It does not wait for that. It returns an
	// error when there is no such server, or it never gives such an answer.
	ReplyError(node string, answer ReplyError, count int, d time.Duration) error
}

// Kind is "error_reply".
func (ErrorReply) Kind() string { return "error_reply" }

func (e *ErrorReply) form() Form {
	return Form{
		Text:  "a server answers requests with an error, and does not carry them out",
		Class: promise.ReadOnly,
		Brief: e.Count > 0,
		Fields: []Field{
			{"node", Name{To: &e.Node, Role: Servers}, "which one answers so"},
			{"error", Word{(*string)(&e.Error), texts(ReplyErrors(e.Node))}, "the answer"},
			{"count", Count{To: &e.Count, Most: MaxRequests, Units: "requests", Such: 1, None: "all of that time"},
				"how many are answered so"},
			lasts(&e.For),
		},
	}
}

// Apply asks an ErrorReplier for it.
func (e ErrorReply) Apply(world any) error {
	e = filled(e)
	return ask(e, world, func(w ErrorReplier) error { return w.ReplyError(e.Node, e.Error, e.Count, e.For) })
}

// String is "answer the next 2 requests to p0 with an error (deadlock) for 15s".
func (e ErrorReply) String() string {
	e = filled(e)
	requests := "requests"
	switch {
	case e.Count == 1:
		requests = "the next request"
	case e.Count > 1:
		requests = fmt.Sprintf("the next %d requests", e.Count)
	}
	return fmt.Sprintf("answer %s to %s with an error (%s) %s", requests, e.Node, e.Error, length(e.For))
}
