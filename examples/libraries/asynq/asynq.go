// Command asynq has the unique task of hibiken/asynq, used as a lock.
package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hibiken/asynq"

	"locksim/examples/libraries"
	"locksim/internal/glue"
	"locksim/lock"
	"locksim/lock/promise"
	"locksim/scenarios"
)

func main() {
	libraries.Main(libraries.Library{
		Name: "asynq", Module: "github.com/hibiken/asynq", Source: "https://github.com/hibiken/asynq", Overlay: true,
		Locks: []libraries.Lock{{
			Lock: unique(),
			Options: "Unique(10 s). The task stands for the work: who enqueues it has the lock, and deletes the task when the " +
				"work is done.",
			Is: "a key of Redis that names a task and ends, as a lease.",
			Says: []libraries.Sentence{
				{Text: "Task enqueued with this option is guaranteed to be unique within the given ttl.",
					Where: "doc comment of Unique", File: "client.go"},
			},
			Fence: "None.",
			Untested: "The server that processes tasks: a task is the lock of whoever enqueued it here. That a task is " +
				"executed once is not promised, and was not tested.",
		}},
	})
}

// unreported is the promise of a lock with a lease without the duty to report: to delete a task is not to give back a
// lock, and tells nothing of the time that has passed.
func unreported() lock.Promise {
	p := glue.Lease()
	p.Duties = slices.DeleteFunc(p.Duties, func(d promise.Duty) bool { return d == promise.DutyReports })
	return p
}

// unique is the unique task as a lock: while a task is in its queue, a second one of its name is refused. Its id is
// from google/uuid, which has kept the reader of crypto/rand since the program began.
func unique() scenarios.Lock {
	const ttl = 10 * time.Second
	return scenarios.Lock{Name: "asynq", Traits: scenarios.Traits{Promise: unreported()},
		New: func(e scenarios.Env) (lock.Locker, error) {
			c := scenarios.RedisClient(e, scenarios.Primary)
			tasks, inspector := asynq.NewClientFromRedisClient(c), asynq.NewInspectorFromRedisClient(c)
			return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
				var task *asynq.TaskInfo
				asked, err := glue.Tried(ctx, e, func(ctx context.Context) (err error) {
					task, err = tasks.EnqueueContext(ctx, asynq.NewTask(name, nil), asynq.Unique(ttl))
					return err
				})
				if err != nil {
					return nil, err
				}
				return scenarios.NewLease(ctx, e, scenarios.Grant{TTL: ttl, Asked: asked, Unlock: func(context.Context) error {
					err := inspector.DeleteTask(task.Queue, task.ID)
					if errors.Is(err, asynq.ErrTaskNotFound) {
						return lock.ErrNotHeld
					}
					return scenarios.Unanswered(err)
				}}), nil
			}), nil
		}}
}
