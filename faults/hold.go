package faults

import (
	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// Hold is a toxic that keeps everything: bytes, and the end of the stream as
// well. When it is removed it passes on all it has kept, in order, and the end
// after it. So does TCP across a partition that heals: what was sent meanwhile
// is sent again and arrives late.
//
// Removing means what Toxiproxy does: InterruptToxic on the stub, then Cleanup,
// with somebody reading the stub's output. An interrupt alone releases nothing,
// since a neighbour in the chain may be coming or going. Cleanup must be called
// before the stub is thrown away, or the bytes are lost and the reader never
// sees the end.
//
// It keeps as much as it is given, without a limit. Chunks keep their
// timestamps. One Hold serves any number of connections at the same time: what
// it keeps is in the stub's State.
type Hold struct{}

var (
	_ toxics.Toxic         = (*Hold)(nil)
	_ toxics.StatefulToxic = (*Hold)(nil)
	_ toxics.CleanupToxic  = (*Hold)(nil)
)

// held is what a Hold keeps of one connection.
type held struct {
	chunks []*stream.StreamChunk
	ended  bool // the sender has closed
}

// NewState is the empty store of one connection.
func (*Hold) NewState() any { return new(held) }

// Pipe keeps what arrives until it is interrupted.
func (h *Hold) Pipe(stub *toxics.ToxicStub) {
	kept := stateOf[held](h, stub)
	for {
		chunk, interrupted := receive(stub, kept.ended)
		switch {
		case interrupted:
			return
		case chunk == nil:
			kept.ended = true
		default:
			kept.chunks = append(kept.chunks, chunk)
		}
	}
}

// Cleanup passes on what was kept, and closes the stub if the sender had closed.
func (h *Hold) Cleanup(stub *toxics.ToxicStub) {
	kept := stateOf[held](h, stub)
	for _, chunk := range kept.chunks {
		handOver(stub, chunk)
	}
	kept.chunks = nil
	if kept.ended && !stub.Closed() {
		stub.Close()
	}
}
