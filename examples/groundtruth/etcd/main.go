// Command etcd has the locks of etcd's package concurrency, as locksim comes with them, and one of its recipes.
package main

import (
	"context"

	"go.etcd.io/etcd/client/v3/concurrency"
	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"

	"locksim/examples/groundtruth"
	"locksim/internal/glue"
	"locksim/scenarios"
	"locksim/scenarios/etcdlocks"
)

func main() {
	rw := etcdlocks.Library("", etcdlocks.NewSession, func(s *concurrency.Session, prefix string) etcdlocks.Held {
		return writer{recipe.NewRWMutex(s, prefix)}
	})
	rw.Tokens = false
	// Its leader resigns under the context of its caller, which may have ended.
	resigning := etcdlocks.Library("", etcdlocks.NewSession, etcdlocks.NewElection)
	groundtruth.Main(map[string]scenarios.Lock{
		"etcd-22123": resigning, "etcd-11007": etcdlocks.Election(), "etcd-21128": etcdlocks.Election(),
		"etcd-19597": etcdlocks.Mutex(), "etcd-11456": etcdlocks.Mutex(), "etcd-void": etcdlocks.Mutex(),
		"etcd-16221": rw,
	})
}

// writer is an RWMutex that is locked for writing. Its calls have no context.
type writer struct{ *recipe.RWMutex }

func (w writer) Lock(ctx context.Context) (token int64, err error) {
	return 0, glue.Patient(ctx, w.RWMutex.Lock, w.RWMutex.Unlock)
}

func (w writer) Unlock(context.Context) error { return w.RWMutex.Unlock() }
