package search

import "locksim/faults"

// ByHand reports whether a kind of fault is drawn, in a world without Sentinels, unless the space excludes it.
func ByHand(kind string) bool { return kind != (faults.SentinelFailover{}).Kind() && byHand(kind) }
