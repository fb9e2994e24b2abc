package dbworld

import (
	"sync"

	"locksim/sim/trace"
)

// Ops are the operations on the protected data which clients are about to send, and which no statement has decided yet.
// It is safe for concurrent use.
type Ops struct {
	mu  sync.Mutex
	ops map[string]trace.Decision
}

// Note takes note of an operation.
func (o *Ops) Note(op trace.Decision) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ops == nil {
		o.ops = map[string]trace.Decision{}
	}
	o.ops[op.Op] = op
}

// Op is an operation that was noted, and not decided yet.
func (o *Ops) Op(id string) (trace.Decision, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	op, ok := o.ops[id]
	return op, ok
}

// Decided forgets an operation.
func (o *Ops) Decided(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.ops, id)
}

// Clear forgets all.
func (o *Ops) Clear() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.ops)
}
