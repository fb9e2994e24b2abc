// Package zklock is a lock on ZooKeeper: a queue of ephemeral sequential nodes, for production use.
//
//	dialer := zklock.NewDialer(10*time.Second, nil, nil)
//	conn, _, err := zk.Connect(servers, 10*time.Second, zk.WithDialer(dialer.Dial))
//	…
//	locks, err := zklock.New(conn, zklock.Options{SessionTimeout: 10 * time.Second, Dialer: dialer})
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
// An Acquire creates an ephemeral sequential node under a node of the resource. Those nodes are a queue, in the order
// of their numbers: the first one has the lock, and every other one watches the one before it, so that a release wakes
// one waiter. It is the recipe of ZooKeeper's documentation. The node of the resource is a container, which ZooKeeper
// deletes when the queue has been empty for a minute.
//
// ZooKeeper deletes the nodes of a session when it ends: when the servers have not heard of the client for the session
// timeout. So nothing that a client does late can touch the node of a later holder. What a client asks, and gets no
// answer to, may have been done: a node is found by an id in its name, and belongs to this lease only if the present
// session owns it (F59, F60). A place in the queue that is given up is deleted, however long that takes, since the
// session goes on and others would wait for it.
//
// # The fencing token
//
// The token is the id of the transaction in which the node was created, its czxid. These ids only grow, also over
// changes of the leader, and the queue is in their order, so each grant of a resource has a higher token than all
// before it. A transaction on ZooKeeper itself can be guarded without a token: by [Lease.Guard].
//
// # What a holder knows
//
// A client that is disconnected does not know whether its session has ended: only a server can tell, and only when
// there is a connection again. So the lease ends by the client's own clock, before the session can. A renewal asks the
// leader, by a sync, and looks whether the node is still there.
//
// An answer does not say that the session goes on for its timeout. The leader measures sessions, and learns from the
// other servers which ones they have heard of only when it asks them, twice a tick. A sync that was answered by a
// server which then loses the leader was perhaps not reported. So the lease counts from an earlier request, of which
// the later ones prove that the leader knows: two renewals and half a tick before. For the same reason an Acquire over
// a connection that has not served the lock for about half a session timeout takes more than half a tick longer.
//
// # What it needs of the client
//
// One connection can serve any number of locks and resources. Make it with a [Dialer]. SessionTimeout has to be the one
// that the servers have granted: they grant 2 to 20 of their ticks, 4 to 40 s by default, and the client does not say
// how much it was.
package zklock
