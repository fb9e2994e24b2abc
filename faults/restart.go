package faults

import "locksim/lock/promise"

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
		Text:   "a crashed process comes back, a node with what its persistence kept",
		Class:  clientOrNode(r.Process, promise.Restart, promise.NodeCrash),
		Fields: []Field{{"process", Name{To: &r.Process, Role: Clients | Servers}, "which one comes back"}},
	}
}

// Apply asks a Restarter for the restart.
func (r Restart) Apply(world any) error {
	return ask(r, world, func(w Restarter) error { return w.Restart(r.Process) })
}

// String is "restart c0".
func (r Restart) String() string { return "restart " + r.Process }
