package redisclient

import (
	"context"
	"net"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// inOrder is a hook that has the errors of several Sentinels in one order. The client asks them at once, and joins
// their errors in the order in which its goroutines end, so that the texts of two runs of one seed would differ.
type inOrder struct{}

// DialHook implements [redis.Hook].
func (inOrder) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := next(ctx, network, addr)
		if err != nil && strings.Contains(err.Error(), "\n") {
			err = ordered{err}
		}
		return c, err
	}
}

// ProcessHook implements [redis.Hook].
func (inOrder) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

// ProcessPipelineHook implements [redis.Hook].
func (inOrder) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ordered is an error with the lines after its introduction in order.
type ordered struct{ cause error }

func (e ordered) Unwrap() error { return e.cause }

func (e ordered) Error() string {
	const introduction = "unreachable: "
	text := e.cause.Error()
	from := 0
	if i := strings.Index(text, introduction); i >= 0 {
		from = i + len(introduction)
	}
	lines := strings.Split(text[from:], "\n")
	slices.Sort(lines)
	return text[:from] + strings.Join(lines, "\n")
}
