package sim

// A fault that strikes may have no consequence: a pause in which the process had
// nothing to do, a clock that jumps and is never read. A fault is felt when it
// has held, dropped, delayed or refused something that a process or a server
// sent, when it has changed a key, a clock reading that somebody took, or a step
// that a process was about to take.

// WhenFelt returns faults that call felt each time one that is applied through
// them is felt. felt must be safe for concurrent use: the goroutines of the
// processes call it too, and it must not block. It may be called after the fault
// has ended, for instance when a process reads its clock, which has jumped.
func (f *Faults) WhenFelt(felt func()) *Faults { return &Faults{w: f.w, felt: felt} }

// effects are the faults of one kind that are in force on one subject.
type effects []*effect

// effect is a fault, as far as others are to learn that it is felt.
type effect struct{ felt func() }

// begin adds a fault that is in force until end is called.
func (e *effects) begin(felt func()) (end func()) {
	x := &effect{felt}
	*e = append(*e, x)
	return func() {
		for i, y := range *e {
			if x == y {
				*e = append((*e)[:i:i], (*e)[i+1:]...)
				return
			}
		}
	}
}

func (e effects) felt() {
	for _, x := range e {
		x.felt()
	}
}

// once says that all of them are felt, and forgets them: for the effects of a
// fault that is felt at one occasion, whenever that is.
func (e *effects) once() {
	if len(*e) > 0 {
		all := *e
		*e = nil
		all.felt()
	}
}
