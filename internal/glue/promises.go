package glue

import (
	"slices"

	"locksim/lock"
)

// Lease is the promise to start from for a lock with a lease. It is without the faults of a pool, since the world does
// not see that of redigo, or of a client that a library makes; and it lives with a key that a request without an answer
// has left, which keeps its own client out until it ends: no library says that it does not.
func Lease() lock.Promise {
	p := lock.LeasePromise()
	p.Exclusion = slices.DeleteFunc(p.Exclusion, func(f lock.Fault) bool { return f == lock.FaultPool })
	p.SelfExcludes, p.ResendExcludes = true, true
	return p
}

// InTable is that of a row with an end on one PostgreSQL, which has no fault of Redis.
func InTable() lock.Promise {
	p := Lease()
	p.Exclusion = slices.DeleteFunc(p.Exclusion, func(f lock.Fault) bool { return f == lock.FaultScripts })
	return p
}

// Held is that of a lock that renews itself and tells its holder of a loss: under the faults of clients and
// connections, and more. Its Release has no result.
func Held(more ...lock.Fault) lock.Promise {
	return lock.Promise{
		Exclusion: append([]lock.Fault{
			lock.FaultPause, lock.FaultCrash, lock.FaultPower, lock.FaultRestart, lock.FaultReset,
		}, more...),
		SelfExcludes: true, ResendExcludes: true,
	}
}

// Session is that of a lock of etcd, which lasts as long as a session, by the documentation of its package concurrency.
// The revision of its key is a token.
func Session() lock.Promise {
	return lock.Promise{
		Exclusion: []lock.Fault{
			lock.FaultPause, lock.FaultCrash, lock.FaultPower, lock.FaultRestart, lock.FaultPartition, lock.FaultLatency,
			lock.FaultReset, lock.FaultNodeCrash, lock.FaultNodePower,
		},
		Data: "seal", FreeWithin: lock.TermAnyTime,
	}
}
