package lock

import (
	"fmt"
	"hash/fnv"
	"math/bits"
)

// Stripe returns the segment of a key, from 0 to n-1. It is for a lock per segment in place of one lock for everything,
// or of one for each of very many keys:
//
//	segment := lock.Stripe(userID, 64)
//	lease, err := locks.Acquire(ctx, fmt.Sprintf("users:%d", segment))
//
// Two keys in one segment exclude each other; with k holders the segment of a new request is busy with a probability of
// about k/n. A holder of several segments must take them in ascending order, each once, to avoid deadlocks.
//
// The result depends only on key and n and never changes: not between processes, machines or versions. Segments are of
// about equal size, also for similar keys. When n changes, almost every key may move, and two programs with different n
// do not exclude each other: a new n needs a new name for the resources, and an instant at which the old ones are not
// held.
//
// It is FNV-1a of the key's bytes (64 bits), through the finalizer of MurmurHash3, times n, divided by 2⁶⁴. It does not
// protect against keys that are chosen to collide in one segment. It panics if n is less than 1.
func Stripe(key string, n int) int {
	if n < 1 {
		panic(fmt.Sprintf("lock: Stripe over %d segments: there must be at least 1", n))
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(key)) // it never fails
	segment, _ := bits.Mul64(mix(h.Sum64()), uint64(n))
	return int(segment)
}

// mix makes the high bits, from which Stripe computes the segment, depend on every bit of x: in FNV they are similar
// for keys that differ only in their last bytes.
func mix(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
