package play

import (
	"locksim/faults"
	"locksim/lock"
)

// testlocksOfOnesOwn is a lock as somebody else would bring it: it is made by this spec,
// whatever the scenario says.
func testlocksOfOnesOwn(l Lock, spec LockSpec) Lock {
	return Lock{Name: "mine", New: func(e Env) (lock.Locker, error) { return l.New(specifiedTmp{e, spec}) }}
}

// specifiedTmp is an environment with a spec of its own.
type specifiedTmp struct {
	Env
	spec LockSpec
}

func (e specifiedTmp) Spec() LockSpec { return e.spec }

// AddPool implements what the clients of package redis ask of an environment.
func (e specifiedTmp) AddPool(p faults.Pool) { e.Env.(interface{ AddPool(faults.Pool) }).AddPool(p) }
