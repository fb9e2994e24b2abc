package main

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"locksim/lock"
)

// handLease is what a lock on etcd does at the least, without one of ours: grant, put, revoke.
type handLease struct {
	lock.Lease
	client *clientv3.Client
	id     clientv3.LeaseID
}

// Acquire implements [lock.Locker].
func (h handLease) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	granted, err := h.client.Grant(ctx, 10)
	if err != nil {
		return nil, err
	}
	_, err = h.client.Put(ctx, key, "", clientv3.WithLease(granted.ID))
	return handLease{client: h.client, id: granted.ID}, err
}

// Release implements [lock.Lease].
func (h handLease) Release(ctx context.Context) error {
	_, err := h.client.Revoke(ctx, h.id)
	return err
}

func newByHand(c etcdClient) (lock.Locker, error) { return handLease{client: c}, nil }
