package play

import (
	"locksim/faults"
	"locksim/lock"
	"locksim/lock/promise"
	"locksim/sim/trace"
)

// ClassOf is the fault that promises call an action by, whatever other actions
// there are; empty for one that no promise speaks of.
func ClassOf(action faults.Action) lock.Fault {
	switch a := action.(type) {
	case faults.Pause:
		return lock.FaultPause
	case faults.Crash:
		return ofClientOrNode(a.Process, lock.FaultCrash, lock.FaultNodeCrash)
	case faults.Restart:
		return ofClientOrNode(a.Process, lock.FaultRestart, lock.FaultNodeCrash)
	case faults.Slow:
		return lock.FaultSlow
	case faults.KillWorker:
		return lock.FaultWorker
	case faults.ExhaustPool:
		return lock.FaultPool
	case faults.Partition:
		return lock.FaultPartition
	case faults.Latency, faults.Bandwidth, faults.Slice, faults.SlowClose, faults.DelayMessage:
		return lock.FaultLatency
	case faults.LoseReply, faults.Reset, faults.Refuse:
		return lock.FaultReset
	}
	if class := classOfClock(action); class != "" {
		return class
	}
	return classOfNode(action)
}

// classOfClock is classOf for clocks. Any number of drifts of half the allowance
// differ by no more than the whole.
func classOfClock(action faults.Action) lock.Fault {
	switch a := action.(type) {
	case faults.ClockJump:
		return ofClientOrNode(a.Clock, lock.FaultWallClock, lock.FaultNodeClock)
	case faults.ClockDrift:
		return driftOf(2 * max(a.PPM, -a.PPM))
	case faults.ClockFreeze:
		return lock.FaultClockRate
	}
	return ""
}

// classOfDrifts is what promises call the drifts of a schedule by, taken
// together: clocks that are all too fast differ less than their sizes say.
func classOfDrifts(schedule []faults.Fault) lock.Fault {
	var slowest, fastest int64 // clocks without a fault run true
	for _, f := range schedule {
		if drift, ok := f.Action.(faults.ClockDrift); ok {
			slowest, fastest = min(slowest, drift.PPM), max(fastest, drift.PPM)
		}
	}
	return driftOf(fastest - slowest)
}

// driftOf is the class of clocks whose rates differ by so many millionths.
func driftOf(ppm int64) lock.Fault {
	if ppm <= promise.DriftAllowance {
		return lock.FaultClockDrift
	}
	return lock.FaultClockRate
}

// classOfNode is classOf for what happens to a node.
func classOfNode(action faults.Action) lock.Fault {
	switch a := action.(type) {
	case faults.Stall:
		return lock.FaultStall
	case faults.Failover:
		return lock.FaultFailover
	case faults.Evict:
		return lock.FaultEviction
	case faults.Flush:
		if a.What == faults.FlushScripts {
			return lock.FaultScripts
		}
		return lock.FaultFlush
	case faults.ReadOnly:
		return lock.FaultReadOnly
	}
	return ""
}

// ofClientOrNode tells whom a fault strikes: the clients are c0, c1, …
func ofClientOrNode(name string, client, node lock.Fault) lock.Fault {
	if trace.IsClient(name) {
		return client
	}
	return node
}

// ClassIn is the class of an action of a schedule: drifts are taken together.
func ClassIn(schedule []faults.Fault, action faults.Action) lock.Fault {
	if _, drifts := action.(faults.ClockDrift); drifts {
		return classOfDrifts(schedule)
	}
	return ClassOf(action)
}
