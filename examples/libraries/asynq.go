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

// asynqUnique is the unique task of asynq as a lock: while a task is in its queue, a second
// one of its name is refused. Its id is from google/uuid, which has kept the reader of
// crypto/rand since the program began.
func asynqUnique() scenarios.Lock {
	return scenarios.Lock{Name: "asynq", Lease: scenarios.LeaseCounted, LeaseTTL: ttl, New: func(e scenarios.Env) (lock.Locker, error) {
		c := simredis.Client(e, scenarios.Primary)
		return asynqLocker{asynq.NewClientFromRedisClient(c), asynq.NewInspectorFromRedisClient(c)}, nil
	}}
}

type asynqLocker struct {
	*asynq.Client
	inspector *asynq.Inspector
}

func (l asynqLocker) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	task, err := l.EnqueueContext(ctx, asynq.NewTask(name, nil), asynq.Unique(ttl))
	for errors.Is(err, asynq.ErrDuplicateTask) {
		time.Sleep(time.Second)
		task, err = l.EnqueueContext(ctx, asynq.NewTask(name, nil), asynq.Unique(ttl))
	}
	return lease{context.Background(), func() error { return l.inspector.DeleteTask(task.Queue, task.ID) }}, err
}
