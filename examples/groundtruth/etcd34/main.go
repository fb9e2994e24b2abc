//go:build ignore

// Command etcd34 has the Mutex of etcd 3.4: its files over the present client, since its own does not link with a
// present gRPC.
package main

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/clientv3/concurrency"

	"locksim/examples/groundtruth"
	"locksim/scenarios"
	"locksim/scenarios/etcdlocks"
)

func main() {
	open := func(c *clientv3.Client, ttl int) (*concurrency.Session, error) {
		return concurrency.NewSession(c, concurrency.WithTTL(ttl))
	}
	groundtruth.Main(map[string]scenarios.Lock{"etcd-11456": etcdlocks.Library("", open,
		func(s *concurrency.Session, prefix string) etcdlocks.Held {
			return mutex{concurrency.NewMutex(s, prefix)}
		})})
}

type mutex struct{ *concurrency.Mutex }

func (m mutex) Lock(ctx context.Context) (token int64, err error) {
	if err := m.Mutex.Lock(ctx); err != nil {
		return 0, err
	}
	return m.Header().Revision, nil
}
