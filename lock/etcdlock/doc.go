// Package etcdlock is a lock on etcd: a queue of keys with leases, for production use.
//
//	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints})
//	…
//	locks, err := etcdlock.New(client, etcdlock.Options{})
//	…
//	lease, err := locks.Acquire(ctx, "order:42")
//	if err != nil {
//		return err
//	}
//	defer lease.Release(ctx)
//	return charge(lease.Context(), lease.Token())
//
// # How it works
//
// An Acquire is granted a lease by etcd, and puts a key with it under a prefix of the resource, all in one transaction.
// The keys of a resource are a queue, in the order of their creation revisions: the first one has the lock, and every
// other one watches the one before it, so that a release wakes one waiter. It is the recipe of etcd's own concurrency
// package.
//
// The lease is kept alive while the client waits and while it has the lock. etcd deletes the key when the lease ends:
// when the client has not been heard of for the TTL, or has revoked it, which is what Release does. So nothing that a
// client does late can touch the key of a later holder.
//
// # The fencing token
//
// The token is the creation revision of the key. Revisions of etcd only grow, also over changes of the leader, and the
// queue is in their order, so each grant of a resource has a higher token than all before it. A transaction on etcd
// itself can be guarded without a token: by [Lease.Guard], a comparison that holds only while the key is there.
//
// # What a holder knows
//
// The lease of a holder ends a TTL after the sending of the last renewal that was answered, less a margin: see
// [locksim/lock.Lease]. etcd counts its TTL from a later instant, the execution, and a new leader gives every lease
// more time, never less. So the holder is told before anybody else can enter, as long as its clock and that of the
// leader run at the same rate, within the margin.
//
// # What it needs of the client
//
// Give the client all members of the cluster as endpoints. A cluster without a leader answers no request: calls fail
// after some seconds, or when their contexts end.
package etcdlock
