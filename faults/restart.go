package faults

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

// Apply asks a Restarter for the restart.
func (r Restart) Apply(world any) error {
	w, err := able[Restarter](r, world)
	if err != nil {
		return err
	}
	return done(r, w.Restart(r.Process))
}

// Validate returns a *FieldError when no process is named.
func (r Restart) Validate() error {
	return named("process", r.Process, "which one comes back", "c0")
}

// String is "restart c0".
func (r Restart) String() string { return "restart " + r.Process }
