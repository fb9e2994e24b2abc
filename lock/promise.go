package lock

import "slices"

// Promise is what a kind of lock promises, as data that a harness can judge it by. The faults are named
// in words, since this package knows no harness. What is not listed is not promised: it may hold all
// the same.
type Promise struct {
	// Exclusion lists the faults under which no two claims on one resource overlap. A claim lasts from
	// Acquire's return until Release is called, Lost is closed, or Until has passed on the holder's clock.
	Exclusion []Fault `json:"exclusion"`

	// Data is the fencing mode under which the data stays right under those faults, provided that every
	// operation goes through the fence: "seal" for a lock that mints tokens, "claim" for one that does
	// not. Without a fence no lock with a lease promises anything about data (F11 to F14).
	Data string `json:"data"`

	// FreeWithin says how soon after its last holder has gone, in whatever way, the lock can be had
	// again by a client that asks for it on a whole network.
	FreeWithin Term `json:"free_within"`
}

// Fault is a class of things that go wrong.
type Fault string

// The faults that promises speak of.
const (
	FaultPause      Fault = "pause"       // a process stops and goes on
	FaultCrash      Fault = "crash"       // a process ends for good
	FaultPartition  Fault = "partition"   // messages are held or lost
	FaultLatency    Fault = "latency"     // messages are late
	FaultWallClock  Fault = "wall-clock"  // a client's wall clock jumps: our locks measure by the monotonic one
	FaultClockDrift Fault = "clock-drift" // clocks run at rates that differ by no more than the drift allowance
)

// Faults lists the classes of fault. The caller owns the slice.
func Faults() []Fault {
	return []Fault{FaultPause, FaultCrash, FaultPartition, FaultLatency, FaultWallClock, FaultClockDrift}
}

// Term is a length of time in terms of a lock's options.
type Term string

// The terms that promises speak of.
const (
	// TermTTL is the TTL, one longest backoff, and the round trips of one request.
	TermTTL Term = "ttl + backoff + round trip"
	// TermTTLAndWaiter adds the time after which a dead waiter at the head of the queue is passed over.
	TermTTLAndWaiter Term = "ttl + dead waiter + backoff + round trip"
)

// Terms lists the terms. The caller owns the slice.
func Terms() []Term { return []Term{TermTTL, TermTTLAndWaiter} }

// network are the faults that every lock with a lease on one correct node stands, as far as exclusion
// of claims goes: they can stop clients and messages, and not the node's clock.
var network = []Fault{FaultPause, FaultCrash, FaultPartition, FaultLatency, FaultWallClock}

// PromiseOf returns the promise of a kind of lock by the name that scenarios and reports use. ok is
// false for a kind that this package does not have.
//
// No kind on a single node promises anything when that node fails over, restarts, evicts or flushes its
// keys, or when its clock jumps (F17, F18, F40 to F46).
func PromiseOf(kind string) (p Promise, ok bool) {
	switch kind {
	case "single", "watchdog", "reentrant":
		return Promise{Exclusion: slices.Clone(network), Data: "claim", FreeWithin: TermTTL}, true
	case "fenced", "watchdog-fenced", "reentrant-fenced":
		return Promise{Exclusion: slices.Clone(network), Data: "seal", FreeWithin: TermTTL}, true
	case "fair":
		return Promise{Exclusion: slices.Clone(network), Data: "claim", FreeWithin: TermTTLAndWaiter}, true
	case "fair-fenced":
		return Promise{Exclusion: slices.Clone(network), Data: "seal", FreeWithin: TermTTLAndWaiter}, true
	case "redlock", "redlock-watchdog":
		return Promise{Exclusion: append(slices.Clone(network), FaultClockDrift), Data: "claim", FreeWithin: TermTTL}, true
	case "redlock-fenced":
		// Its tokens are an experiment: no promise about them, see NewRedlockFenced.
		return Promise{Exclusion: append(slices.Clone(network), FaultClockDrift), Data: "claim", FreeWithin: TermTTL}, true
	}
	return Promise{}, false
}
