package lock

import (
	"fmt"
	"hash/fnv"
	"math/bits"
)

// Stripe returns which of n segments a key belongs to, from 0 to n-1. It is for a lock per segment in the
// place of one lock for everything, or of one for each of very many keys:
//
//	segment := lock.Stripe(userID, 64)
//	lease, err := locks.Acquire(ctx, fmt.Sprintf("users:%d", segment))
//
// Two keys in one segment exclude each other; with k holders at work a newcomer's segment is busy with a
// probability of about k/n. A holder of several segments takes them in ascending order, each once, or it may
// meet another one that waits for it.
//
// The answer depends on key and n alone and never changes: not from one process, machine or version to the
// next. Segments are of about equal size, for keys that are much alike too. When n changes, almost every key
// may move, and two programs with different n do not exclude each other: a new n takes a new name for the
// resources, and a moment in which nobody holds the old ones.
//
// It is FNV-1a of the key's bytes (64 bits), through the finalizer of MurmurHash3, times n, divided by 2⁶⁴.
// It is no defence against somebody who chooses keys to meet in one segment. It panics if n is less than 1.
func Stripe(key string, n int) int {
	if n < 1 {
		panic(fmt.Sprintf("lock: Stripe over %d segments: there must be at least 1", n))
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(key)) // it never fails
	segment, _ := bits.Mul64(mix(h.Sum64()), uint64(n))
	return int(segment)
}

// mix lets every bit of x count in the high bits, of which Stripe makes the segment: of FNV those of keys
// that differ in their last bytes only are much alike.
func mix(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
