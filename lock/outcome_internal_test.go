package lock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
)

type reply string

func (r reply) Error() string { return string(r) }
func (reply) RedisError()     {}

func TestOutcome(t *testing.T) {
	for _, tc := range []struct {
		err     error
		unknown bool
	}{
		{reply("READONLY You can't write against a read only replica."), false},
		{fmt.Errorf("hook: %w", reply("OOM command not allowed")), false},
		{redis.ErrPoolTimeout, false},
		{redis.ErrPoolExhausted, false},
		{redis.ErrClosed, false},
		{&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, false},
		{&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host"}}, false},
		{syscall.ECONNREFUSED, false},

		{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, true},
		{&net.OpError{Op: "write", Err: syscall.EPIPE}, true},
		{syscall.ECONNRESET, true},
		{io.EOF, true},
		{io.ErrUnexpectedEOF, true},
		{net.ErrClosed, true},
		{context.Canceled, true},
		{context.DeadlineExceeded, true},
		{errors.New("redis: can't parse reply"), true},
	} {
		got := outcome(tc.err)
		if errors.Is(got, ErrOutcomeUnknown) != tc.unknown {
			t.Errorf("%v: unknown is %v, want %v", tc.err, !tc.unknown, tc.unknown)
		}
		if !errors.Is(got, tc.err) {
			t.Errorf("%v is not wrapped: %v", tc.err, got)
		}
	}
}
