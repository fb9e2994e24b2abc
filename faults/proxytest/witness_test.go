package proxytest

import (
	"sync"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// witness is a toxic that passes everything on and counts it. It tells when the
// toxic behind it has taken so many bytes, which no clock can.
type witness struct {
	mu     sync.Mutex
	change *sync.Cond
	count  int
}

// Pipe passes on what arrives. The channel to the toxic behind has no room of
// its own: what was sent has been taken.
func (w *witness) Pipe(stub *toxics.ToxicStub) {
	for {
		select {
		case <-stub.Interrupt:
			return
		case chunk := <-stub.Input:
			if chunk == nil {
				stub.Close()
				return
			}
			stub.Output <- chunk
			w.add(len(chunk.Data))
		}
	}
}

func (w *witness) add(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count += n
	w.cond().Broadcast()
}

// await waits until so many bytes have passed in all.
func (w *witness) await(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.count < n {
		w.cond().Wait()
	}
}

// seen is how many bytes have passed so far.
func (w *witness) seen() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count
}

// cond is made on the way, since Toxiproxy makes the witness.
func (w *witness) cond() *sync.Cond {
	if w.change == nil {
		w.change = sync.NewCond(&w.mu)
	}
	return w.change
}
