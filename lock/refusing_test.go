package lock_test

import (
	"context"
	"sync"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// errRefused proves that a request was not carried out.
var errRefused = syscall.ECONNREFUSED

// refusing is a client that fails one script before it is sent.
type refusing struct {
	*redis.Client
	mu   sync.Mutex
	next bool // the next one fails
}

func (r *refusing) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	r.mu.Lock()
	refuse := r.next
	r.next = false
	r.mu.Unlock()
	if refuse {
		cmd := redis.NewCmd(ctx)
		cmd.SetErr(errRefused)
		return cmd
	}
	return r.Client.EvalSha(ctx, sha, keys, args...)
}
