package faults

import (
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// receive waits for the next chunk, which is nil at the end of the stream, or
// for an interrupt. After the end only an interrupt can come: a closed input
// would be ready for ever.
func receive(stub *toxics.ToxicStub, ended bool) (chunk *stream.StreamChunk, interrupted bool) {
	input := stub.Input
	if ended {
		input = nil
	}
	select {
	case <-stub.Interrupt:
		return nil, true
	case chunk = <-input:
		return chunk, false
	}
}

// stateOf is what the toxic knows of the stub's connection. It makes the state
// where the link did not: Toxiproxy does so when it adds a toxic, but nothing
// forces another link to.
func stateOf[S any](toxic toxics.StatefulToxic, stub *toxics.ToxicStub) *S {
	state, ok := stub.State.(*S)
	if !ok {
		state = toxic.NewState().(*S)
		stub.State = state
	}
	return state
}

// handOver passes a chunk on while the toxic is taken off, and closes the stub if nothing takes the chunk: the receiver
// has closed its connection, and Toxiproxy, which takes toxics off one after another, would wait for ever.
func handOver(stub *toxics.ToxicStub, chunk *stream.StreamChunk) {
	const patience = 5 * time.Second // as that of Toxiproxy
	if stub.Closed() {
		return
	}
	if err := stub.WriteOutput(chunk, patience); err != nil {
		stub.Close()
	}
}
