package subject

import (
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/sim/trace"
)

// Data is protected data in the servers of a lock, for scenarios whose data is not in the store s0.
//
// The trace has a [trace.Decision] of a server for each operation that has taken effect or was refused, as that of the
// store.
type Data struct {
	// Fence is the name of a store that is itself under test, in place of s0, as a scenario has it in store; and "" for
	// data that is assumed to be right. The store is judged by its answers alone ([checker.History].Fence), and the lock
	// has no other part in it than to mint the tokens.
	Fence string
	// Rule is the rule by which that store refuses: check, seal or strict.
	Rule fence.Mode
	// Ledger says that the lock beside it is the one that comes with each fence: see [Ledger].
	Ledger bool
	// Alone says that there is no lock beside the data: all scenarios work on it, in place of s0, and a section whose
	// write was refused is done again: see [Tries].
	Alone bool
	// Redis says how the clients keep the data in a Redis server, if they do. Nil is for data in other servers.
	Redis *InRedis
	// Open is the access of a client to the data, behind a fence.
	Open func(e Env, mode fence.Mode) (Store, error)
	// Within works in the transaction that has the lock, without a fence: what is written there takes effect when Release
	// returns nil. s is what Open has returned. Nil is for a lock without a transaction. Searches let the holders work
	// there if the lock promises right data in mode none.
	Within func(s Store, l lock.Lease) Store
}

// InRedis says how clients keep data in a Redis server, by scripts: see [locksim/sim/redis.Protected].
type InRedis struct {
	// Of is the operation that the arguments of EVAL or EVALSHA are about; ok is false for none.
	Of func(args []string) (op trace.Decision, ok bool)
	// Where is the hash and the field of a register.
	Where func(resource, register string) (key, field string)
}

// Tries is how often a client does a section on data without a lock ([Data].Alone) while the store refuses its write.
// After the last one it gives up.
const Tries = 3

// Tries is how often a client does a section before it gives up, while the store refuses its write.
func (l Lock) Tries() int {
	if l.Data != nil && l.Data.Alone {
		return Tries
	}
	return 1
}

// WorksWithin reports whether the lock promises that the data is right without a fence, and has the transaction in
// which it is: a search then lets the holders work there.
func (l Lock) WorksWithin() bool {
	return l.Data != nil && l.Data.Within != nil && l.Promise.Data == string(fence.None)
}
