// Package lock provides distributed locks on Redis, with leases: a lock that its holder does not
// release ends by itself after the TTL. It stands on go-redis and needs nothing else of locksim.
//
//	locks, err := lock.NewFenced(client, lock.Options{TTL: 10 * time.Second})
//	...
//	lease, err := locks.Acquire(ctx, "order:42")   // waits until ctx ends
//	if err != nil {
//		return err
//	}
//	defer lease.Release(ctx)                       // works even when ctx is dead by then
//	err = store.Update(lease.Context(), lease.Token(), ...)
//
// [Single] is the lock that the Redis documentation recommends for one node ("Distributed Locks with
// Redis": SET NX PX with an owner id, compare-and-delete by script). [Fenced] is the same and mints a
// fencing token with every grant. Prefer Fenced wherever the protected resource can look at a number;
// the rules for that are in package locksim/lock/fence.
//
// The other kinds build on these two:
//
//   - [Watchdog] renews the leases of any of them for as long as they are held, for work that has no
//     bound, and tells the holder of a loss while the key still stands.
//   - [Reentrant] and [ReentrantFenced] let an owner, who is named, enter again.
//   - [Fair] and [FairFenced] grant the lock in the order in which it was asked for.
//   - [Redlock] asks a majority of independent nodes, so that no single one can stop everybody. It mints
//     no token; [RedlockFenced] is an experiment that shows why.
//
// What more a lock or a lease can do is found by type assertion: [Trier], [Owned], [Extender].
//
// # Waiting
//
// Acquire waits until its context ends: give it a deadline. TryAcquire does not wait. How to wait is
// Options.Waiting: by polling, or by listening for the release with [WaitNotify], which costs a connection
// per waiter and does not depend on the message. A waiter that gives up leaves nothing on the node, unless
// that request fails too; then a fair lock's place ends by itself.
//
// Every release publishes an empty message on a channel named like the key, so that those who poll and
// those who listen can use one lock. Where an ACL forbids it the release works, and nobody is told.
//
// # What a lease promises
//
// While a lease is valid by the lock's own [Clock], no other Acquire of the same resource succeeds, as
// long as the Redis node keeps what it was told and its clock and the client's run at the same rate.
// Validity is counted from the instant at which the request was sent, so it ends before the node's
// own expiry does, never after it.
//
// Nothing keeps a holder from acting after its lease has ended: it may be paused after its last look
// at the clock (F11, F12), and a request of it may be late in the network (F13). Kleppmann 2016 ("How
// to do distributed locking") describes both, and fencing tokens as the answer. A node that forgets
// the lock, by failover before replication (F40), eviction (F45), FLUSHALL (F46) or a clock jump
// (F18), gives it away while it is held; the token helps there only as long as its counter survives.
// F numbers are entries of the project's catalogue of failure modes.
//
// # When the outcome is unknown
//
// A request without an answer may have been carried out. Acquire then deletes what it may have left,
// by owner id, and returns an error that wraps [ErrOutcomeUnknown]. The clean-up cannot undo a request
// that is still on its way on another connection (F28): the lock is then held by nobody until its TTL
// has passed, and no longer. Release reports the same way; calling it again is safe.
//
// # Client options
//
// The locks take any go-redis client. These of its options matter, and their defaults do not suit a lock:
//
//   - MaxRetries: -1. By default go-redis sends a command again when the answer is lost; the second
//     SET NX meets the lock of the first and reports it as foreign, and the caller waits for itself
//     until the TTL has passed (F27). Nor does the last error then say whether an earlier try was
//     carried out. A ClusterClient sends again within MaxRedirects, which cannot be turned off
//     without losing redirects: expect F27 there.
//   - ContextTimeoutEnabled: true. Otherwise the deadline of a context does not bound a request in
//     flight, only ReadTimeout does; the limits of Redlock and Watchdog are such deadlines. A context
//     that is cancelled, rather than past its deadline, never interrupts a request in flight: Acquire
//     returns when the answer is there or the time is up.
//   - ReadTimeout and WriteTimeout: well below the TTL, since an answer that comes later than the TTL
//     is of no use.
//   - DialerRetries: 1, and a DialTimeout below the TTL. By default a dial is tried five times.
//   - PoolSize: at least the number of goroutines that use the client at once. A release that queues for
//     a connection behind other work outlives its lease (F49). A client of its own for locks is best.
//   - ReadOnly of a ClusterClient: false. [WaitNotify] would ask a replica, which lags, for the remaining TTL.
//   - Addr: an IP literal, if a name server must not be part of what can fail.
//
// A proxy that answers in Redis' name for a request that it lost, with an error reply, is not
// supported: an error reply is taken as proof that nothing was carried out.
package lock
