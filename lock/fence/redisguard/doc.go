// Package redisguard guards data in Redis hashes with the rules of package fence: a holder whose lock
// is somebody else's by now cannot write over what came after it. Decision and operation are one script,
// so they are one step.
//
//	guard, err := redisguard.New(client, fence.Seal)
//	...
//	op := fence.Op{Token: lease.Token()}
//	found, err := guard.Read(ctx, "order:42", "balance", op)
//	...
//	err = guard.Write(ctx, "order:42", "balance", "17", op)
//	if errors.Is(err, fence.ErrStale) {
//		// not written: somebody else holds the lock by now
//	}
//
// The hash is the resource of the rules, its fields are the registers. An existing hash may be put
// under guard as it is. What the rule remembers is kept in the same hash, in fields whose names begin
// with [Reserved], so that a key which is deleted, evicted, restored or moved takes its fence along.
//
// # What it needs
//
//   - Every write goes through a guard of the same rule, and so does every read that a write is based
//     on. A plain HSET passes by the fence. A plain HGET is fine for looking on.
//   - The key has no TTL, and is not evicted (maxmemory-policy noeviction or volatile-*): a hash that
//     comes back empty has forgotten its fence, and takes stale operations again.
//   - The node keeps what it was told. One that loses its latest writes, by a failover before
//     replication or a power cut, loses values and fence alike, so they still fit each other; but it may
//     then take an operation that was stale before.
//   - The lock may live on the same node or elsewhere. Tokens from the same node are lost with the same
//     failover (F09, F40): prefer Strict or Claim then.
//   - MaxRetries: -1 in the client's options, under CAS: a write that is sent again after its answer was
//     lost finds its own version taken and is reported as stale (F27). The other rules do not mind.
//
// Tokens may be any uint64. Versions are counted up to 2^53, since scripts in Redis calculate in
// floating point.
package redisguard
