// Package redisguard guards data in Redis hashes with the rules of package fence: a holder that has lost its lock
// cannot overwrite its successor's data. Decision and operation are one script, so they are one atomic step.
//
//	guard, err := redisguard.New(client, fence.Seal)
//	...
//	op := fence.Op{Token: lease.Token()}
//	found, err := guard.Read(ctx, "order:42", "balance", op)
//	...
//	err = guard.Write(ctx, "order:42", "balance", "17", op)
//	if errors.Is(err, fence.ErrStale) {
//		// not written: another client holds the lock by now
//	}
//
// The hash is the resource of the rules, its fields are the registers. An existing hash can be guarded without a
// change. The state of the rule is in the same hash, in fields whose names begin with [Reserved], so that it is
// deleted, evicted, restored or moved together with the data.
//
// # What it needs
//
//   - Every write goes through a guard of the same rule, and so does every read that a write is based
//     on. A plain HSET bypasses the fence. A plain HGET is fine if no write is based on it.
//   - The key has no TTL, and is not evicted (maxmemory-policy noeviction or volatile-*): a hash that
//     is created again has lost its fence, and accepts stale operations again.
//   - The node keeps its data. One that loses its latest writes, by a failover before replication or a
//     power cut, loses values and fence together, so they are still consistent; but it may then accept
//     an operation that was stale before.
//   - The lock may live on the same node or elsewhere. Tokens from the same node are lost with the same
//     failover (F09, F40): prefer Strict or Claim then.
//   - MaxRetries: -1 in the client's options, under CAS: a write that is sent again after its answer was
//     lost finds its own version and is reported as stale (F27). The other rules need it
//     where a grant writes a field more than once: a copy of an earlier write that comes after a later
//     one has the same token, and takes its place.
//
// Tokens may be any uint64. Versions are counted up to 2^53, since scripts in Redis calculate in
// floating point.
package redisguard
