package libraries

import (
	"context"
	"errors"
	"time"

	"github.com/hibiken/asynq"

	"locksim/lock"
	"locksim/scenarios"
	simredis "locksim/sim/redis"
)

// asynqUnique is the unique task of asynq as a lock: while a task is in the queue, a
// second one of its name is refused. It takes the task's id from google/uuid, which has
// kept the reader of crypto/rand since the program began.
func asynqUnique() scenarios.Lock {
	return scenarios.Lock{
		Name: "asynq", Lease: scenarios.LeaseCounted, LeaseTTL: ttl,
		New: func(e scenarios.Env) (lock.Locker, error) {
			c := simredis.Client(e, "r0")
			return asynqLocker{asynq.NewClientFromRedisClient(c), asynq.NewInspectorFromRedisClient(c)}, nil
		},
	}
}

type asynqLocker struct {
	client    *asynq.Client
	inspector *asynq.Inspector
}

func (l asynqLocker) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	for {
		task, err := l.client.EnqueueContext(ctx, asynq.NewTask(name, nil), asynq.Unique(ttl))
		if !errors.Is(err, asynq.ErrDuplicateTask) {
			return asynqLease{l.inspector, task}, err
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

type asynqLease struct {
	inspector *asynq.Inspector
	task      *asynq.TaskInfo
}

func (asynqLease) Token() uint64            { return 0 }
func (asynqLease) Until() time.Time         { return time.Time{} }
func (asynqLease) Lost() <-chan struct{}    { return nil }
func (asynqLease) Context() context.Context { return context.Background() }
func (l asynqLease) Release(context.Context) error {
	return l.inspector.DeleteTask(l.task.Queue, l.task.ID)
}
