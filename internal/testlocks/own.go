package testlocks

import (
	"locksim/faults"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/play"
)

// OfOnesOwn is a lock as somebody else would bring it: it is made by this spec,
// whatever the scenario says.
func OfOnesOwn(l play.Lock, spec file.LockSpec) play.Lock {
	return play.Lock{Name: "mine", New: func(e play.Env) (lock.Locker, error) { return l.New(specified{e, spec}) }}
}

// specified is an environment with a spec of its own.
type specified struct {
	play.Env
	spec file.LockSpec
}

func (e specified) Spec() file.LockSpec { return e.spec }

// AddPool implements what the clients of package redis ask of an environment.
func (e specified) AddPool(p faults.Pool) { e.Env.(interface{ AddPool(faults.Pool) }).AddPool(p) }
