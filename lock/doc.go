// Package lock provides distributed locks on Redis, with leases: a lock that its holder does not release ends after the
// TTL. It depends on go-redis and on no other part of locksim.
//
//	locks, err := lock.NewFenced(client, lock.Options{TTL: 10 * time.Second})
//	...
//	lease, err := locks.Acquire(ctx, "order:42")   // waits until ctx ends
//	if err != nil {
//		return err
//	}
//	defer lease.Release(ctx)                       // works even if ctx has ended by then
//	err = store.Update(lease.Context(), lease.Token(), ...)
//
// [Single] is the lock that the Redis documentation recommends for one node ("Distributed Locks with Redis": SET NX PX
// with an owner id, compare-and-delete by script). [Fenced] also mints a fencing token with every grant. Prefer Fenced
// if the protected resource can check a number; the rules for that are in package locksim/lock/fence.
//
// The other kinds extend these two:
//
//   - [Watchdog] renews the leases of any of them for as long as they are held, for work of unknown
//     length, and notifies the holder of a loss before the key expires.
//   - [Reentrant] and [ReentrantFenced] let an owner with a name enter again.
//   - [Fair] and [FairFenced] grant the lock in the order in which it was asked for.
//   - [Redlock] needs a majority of independent nodes, so that it works without any single one of them. It mints
//     no token; [RedlockFenced] is an experiment that shows why.
//
// Further abilities of a lock or a lease are found by type assertion: [Trier], [Owned], [Extender].
//
// [Fill] computes a value once under any of them, and keeps it in a cache.
//
// # Waiting
//
// Acquire waits until its context ends: give it a deadline. TryAcquire does not wait. Options.Waiting says how to wait:
// by polling, or by listening for the release with [WaitNotify], which needs a connection per waiter and does not
// depend on the message. A waiter that gives up leaves nothing on the node, unless that request fails too; its entry in
// a fair lock's queue then expires.
//
// Every release publishes an empty message on a channel named after the key, so that pollers and listeners can use one
// lock. If an ACL forbids that, the release works without a message.
//
// # What a lease promises
//
// While a lease is valid by the lock's own [Clock], no other Acquire of the same resource succeeds, as long as the
// Redis node keeps its data and its clock and the client's run at the same rate. Validity is counted from the instant
// at which the request was sent, so it ends before the node's own expiry, never after it.
//
// Nothing keeps a holder from acting after its lease has ended: it may be paused after its last reading of the clock
// (F11, F12), and its request may be late in the network (F13). Kleppmann 2016 ("How to do distributed locking")
// describes both, and fencing tokens as the answer. A node that loses the lock's key, by failover before replication
// (F40), eviction (F45), FLUSHALL (F46) or a clock jump (F18), grants the lock again while it is held; the token helps
// then only if its counter survives. F numbers are entries of the project's catalogue of failure modes.
//
// # When the outcome is unknown
//
// A request without an answer may have been carried out. Acquire then deletes what it may have left, by owner id, and
// returns an error that wraps [ErrOutcomeUnknown]. The clean-up cannot undo a request that is still under way on
// another connection (F28): the lock then has no holder until its TTL has passed. Release reports the same error;
// calling it again is safe.
//
// # Client options
//
// The locks take any go-redis client. These of its options matter, and their defaults do not suit a lock:
//
//   - MaxRetries: -1. By default go-redis sends a command again when the answer is lost; the second
//     SET NX finds the key of the first and reports it as another owner's, and the caller waits for
//     itself until the TTL has passed (F27; ResendExcludes of the promise). The last error then does not say
//     whether an earlier try was carried out. A ClusterClient sends again within MaxRedirects, which cannot be turned off
//     without losing redirects: expect F27 there.
//   - ContextTimeoutEnabled: true. Otherwise the deadline of a context does not bound a request in
//     flight, only ReadTimeout does; the limits of Redlock and Watchdog are such deadlines. A context
//     that is cancelled, rather than past its deadline, never interrupts a request in flight: Acquire
//     returns at the answer or the timeout.
//   - ReadTimeout and WriteTimeout: well below the TTL, since an answer after the TTL is of no
//     use.
//   - DialerRetries: 1, and a DialTimeout below the TTL. By default a dial is tried five times.
//   - PoolSize: at least the number of goroutines that use the client at once. A release that waits for
//     a connection behind other work outlives its lease (F49). A separate client for locks is best.
//   - ReadOnly of a ClusterClient: false. [WaitNotify] would ask a replica, which lags, for the remaining TTL.
//   - Addr: an IP literal, if name resolution must not be able to fail.
//
// A proxy that sends an error reply of its own for a request that it lost is not supported: an error reply counts as
// proof that nothing was carried out.
package lock
