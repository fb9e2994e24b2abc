// Command libkv has the lock of docker/libkv on ZooKeeper, which dials by itself.
package main

import (
	"context"
	"net/url"
	"time"

	"github.com/docker/libkv/store"
	"github.com/docker/libkv/store/zookeeper"
	"github.com/samuel/go-zookeeper/zk"

	"locksim/examples/groundtruth"
	"locksim/internal/glue"
	"locksim/lock"
	"locksim/scenarios"
	"locksim/scenarios/zklocks"
)

func main() { groundtruth.Main(map[string]scenarios.Lock{"libkv-156": told()}) }

// told is the lock with the channel by which it tells of its loss. Its Lock ends with no context: one that is given up
// goes on, and is unlocked once it has the lock.
func told() scenarios.Lock {
	const timeout = 10 * time.Second // of the session
	servers := []scenarios.Servers{{Kind: zklocks.Kind(), Count: 3}}
	return scenarios.Lock{Traits: scenarios.Traits{Servers: servers, Lease: scenarios.LeaseHeld,
		Detection: 25 * time.Second},
		New: func(e scenarios.Env) (lock.Locker, error) {
			kv, err := zookeeper.New([]string{e.Address("z0"), e.Address("z1"), e.Address("z2")},
				&store.Config{ConnectionTimeout: timeout})
			if err != nil {
				return nil, err
			}
			e.OnEnd(kv.Close)
			return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
				l, err := kv.NewLock(url.PathEscape(name), nil) // a path has no awkward names
				if err != nil {
					return nil, err
				}
				var lost <-chan struct{}
				if err := glue.Patient(ctx, func() (err error) { lost, err = l.Lock(nil); return err }, l.Unlock); err != nil {
					return nil, err
				}
				return scenarios.NewLease(ctx, e, scenarios.Grant{Lost: lost, Unlock: func(context.Context) error {
					return scenarios.NotHeld(l.Unlock(), zk.ErrNoNode, zk.ErrNotLocked)
				}}), nil
			}), nil
		}}
}
