package sqllocks

import (
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/fences"
	"locksim/scenarios/subject"
)

// Fences are the rules of package sqlguard over PostgreSQL, for the command to put on trial.
func Fences() []subject.Lock {
	var all []subject.Lock
	for _, rule := range []fence.Mode{fence.Check, fence.Seal, fence.Strict} {
		all = append(all, Fence(rule).Subject())
	}
	return all
}

// Fence is a table in PostgreSQL behind [sqlguard], under one of the rules check, seal and strict: sql-check and so on.
// It promises to be right when the server crashes, too: what it has committed is there afterwards.
func Fence(rule fence.Mode) fences.Fence {
	return fences.Fence{
		Name: "sql-" + string(rule), Rule: rule, Servers: Servers(),
		Faults: append(fences.DefaultFaults(), lock.FaultNodeCrash, lock.FaultNodePower),
		About: "A row in PostgreSQL behind sqlguard, rule " + string(rule) + ": the check of the token is a condition of " +
			"the UPDATE that writes.",
		Open: func(e subject.Env) (fences.Store, error) { return database.Guarded(e, rule) },
	}
}
