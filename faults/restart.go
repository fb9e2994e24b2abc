package faults

import (
	"slices"

	"locksim/lock/promise"
)

// Restart brings a crashed process back. A client begins its workload anew,
// with a fresh memory: it knows of no lease. A Redis node has what its
// persistence kept (F15 to F17).
type Restart struct {
	// Process is who comes back: "c0" or "r0".
	Process string
}

// Restarter is a world whose crashed processes can come back.
type Restarter interface {
	// Restart brings the process back now. It returns an error when there is no
	// such process, or when it has not crashed.
	Restart(process string) error
}

// Kind is "restart".
func (Restart) Kind() string { return "restart" }

func (r *Restart) form() Form {
	return Form{
		Text:     "a crashed process comes back, a node with what its persistence kept",
		Class:    clientOrNode(r.Process, promise.Restart, promise.NodeCrash),
		Fields:   []Field{{"process", Name{To: &r.Process, Role: Clients | Servers}, "which one comes back"}},
		together: r.after, inCompany: []promise.Fault{promise.NodePower},
	}
}

// after is the class of the restart behind the crashes of a schedule. A node comes back from a loss of power if all
// crashes of a node there are that; those of its own name decide if there are any, since a name such as "leader" may
// be that of another one.
func (r *Restart) after(schedule []Fault) promise.Fault {
	if isClient(r.Process) {
		return promise.Restart
	}
	var own, all []promise.Fault
	for _, f := range schedule {
		if crash, ok := f.Action.(Crash); ok && !isClient(crash.Process) {
			all = append(all, ClassOf(crash))
			if crash.Process == r.Process {
				own = append(own, ClassOf(crash))
			}
		}
	}
	if len(own) > 0 {
		all = own
	}
	if len(all) == 0 || slices.Contains(all, promise.NodeCrash) {
		return promise.NodeCrash
	}
	return promise.NodePower
}

// Apply asks a Restarter for the restart.
func (r Restart) Apply(world any) error {
	return ask(r, world, func(w Restarter) error { return w.Restart(r.Process) })
}

// String is "restart c0".
func (r Restart) String() string { return "restart " + r.Process }
