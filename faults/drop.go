package faults

import "github.com/Shopify/toxiproxy/v2/toxics"

// Drop is a toxic that loses everything while it is there. TCP cannot lose
// bytes and go on, so when Drop is removed it closes a connection that has lost
// any, or whose sender has closed meanwhile; a connection that lost nothing
// goes on as if nothing had been.
//
// Toxiproxy's own timeout toxic closes every connection on removal, and passes
// a close on at once, which no partition does.
//
// It is removed as Hold is: InterruptToxic on the stub, then Cleanup. One Drop
// serves any number of connections at the same time: what it remembers is in
// the stub's State.
type Drop struct{}

var (
	_ toxics.Toxic         = (*Drop)(nil)
	_ toxics.StatefulToxic = (*Drop)(nil)
	_ toxics.CleanupToxic  = (*Drop)(nil)
)

// dropped is what a Drop remembers of one connection.
type dropped struct {
	lost  bool // bytes have vanished
	ended bool // the sender has closed
}

// NewState is the record of a connection that has lost nothing.
func (*Drop) NewState() any { return new(dropped) }

// Pipe loses what arrives until it is interrupted.
func (d *Drop) Pipe(stub *toxics.ToxicStub) {
	record := stateOf[dropped](d, stub)
	for {
		chunk, interrupted := receive(stub, record.ended)
		switch {
		case interrupted:
			return
		case chunk == nil:
			record.ended = true
		case len(chunk.Data) > 0:
			record.lost = true
		}
	}
}

// Cleanup closes the stub if bytes were lost or the sender had closed.
func (d *Drop) Cleanup(stub *toxics.ToxicStub) {
	record := stateOf[dropped](d, stub)
	if record.lost || record.ended {
		stub.Close()
	}
}
