package lock

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// outcome makes ErrOutcomeUnknown part of err, unless err proves that the request was not carried out.
func outcome(err error) error {
	if notCarriedOut(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
}

// notCarriedOut reports whether err, from a go-redis client that sends each command once, proves that
// the node did nothing:
//
//   - an error reply (READONLY, OOM, LOADING, NOAUTH, …): Redis refuses a command before it runs it,
//     and our scripts write nothing before the last step that can fail;
//   - no connection: the pool was exhausted or the client closed, or the dial failed.
//
// Any other error may be that of a request in flight: timeouts, EOF, resets, and also the plain error of a context. A
// plain client returns that only while it waits for a connection, but a pipelining one and a cluster client return it
// after sending too.
func notCarriedOut(err error) bool {
	if _, ok := errors.AsType[redis.Error](err); ok {
		return true
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true
	}
	for _, text := range noConnection {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return errors.Is(err, redis.ErrClosed) || errors.Is(err, syscall.ECONNREFUSED)
}

// noConnection are the texts of redis.ErrPoolTimeout and redis.ErrPoolExhausted, which a program that pins an older
// go-redis does not have under these names.
var noConnection = []string{"redis: connection pool timeout", "redis: connection pool exhausted"}
