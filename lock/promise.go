package lock

import "locksim/lock/promise"

// Promise is what a kind of lock promises: data, by which a harness can judge the lock. Package promise documents its
// fields.
type Promise = promise.Promise

// Fault is a class of things that go wrong. Package promise says what each of them is.
type Fault = promise.Fault

// The classes of fault.
const (
	FaultPause        = promise.Pause
	FaultCrash        = promise.Crash
	FaultPower        = promise.Power
	FaultRestart      = promise.Restart
	FaultSlow         = promise.Slow
	FaultPool         = promise.Pool
	FaultPartition    = promise.Partition
	FaultLatency      = promise.Latency
	FaultReset        = promise.Reset
	FaultStall        = promise.Stall
	FaultReadOnly     = promise.ReadOnly
	FaultScripts      = promise.Scripts
	FaultWallClock    = promise.WallClock
	FaultWorker       = promise.Worker
	FaultClockDrift   = promise.ClockDrift
	FaultClockRate    = promise.ClockRate
	FaultNodeClock    = promise.NodeClock
	FaultNodeCrash    = promise.NodeCrash
	FaultNodePower    = promise.NodePower
	FaultFailover     = promise.Failover
	FaultEviction     = promise.Eviction
	FaultFlush        = promise.Flush
	FaultIntervention = promise.Intervention
)

// Faults lists the classes of fault. The caller owns the slice.
func Faults() []Fault { return promise.Faults() }

// Order is an order of grants.
type Order = promise.Order

// FIFO is [promise.FIFO].
const FIFO = promise.FIFO

// Term is a duration in terms of a lock's options.
type Term = promise.Term

// The terms of promises. Package promise says what each of them is.
const (
	TermTTL            = promise.TermTTL
	TermTTLAndWaiter   = promise.TermTTLAndWaiter
	TermTTLAndCluster  = promise.TermTTLAndCluster
	TermSession        = promise.TermSession
	TermDrift          = promise.TermDrift
	TermReleaseTimeout = promise.TermReleaseTimeout
	TermNodeTimeouts   = promise.TermNodeTimeouts
	TermAnyTime        = promise.TermAnyTime
)

// Terms lists the terms. The caller owns the slice.
func Terms() []Term { return promise.Terms() }

// LeasePromise is the promise to start from for a lock with a lease on one server: a key with a TTL, or a row with an end.
// See [promise.OfLease]. The caller owns the slices.
func LeasePromise() Promise { return promise.OfLease() }

// SessionPromise is the promise to start from for a lock that lives as long as its session, such as an advisory lock of
// a database. See [promise.OfSession]. The caller owns the slices.
func SessionPromise() Promise { return promise.OfSession() }

// PromiseOf returns the promise of a kind of lock of this package, by its name in scenarios and reports. ok is false for an
// unknown kind. It has duties that a plain lock does not keep: [promise.Of] says which glue it needs. Start from
// [LeasePromise] for a lock of your own.
func PromiseOf(kind string) (p Promise, ok bool) { return promise.Of(kind) }
