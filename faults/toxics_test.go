package faults_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
	"pgregory.net/rapid"

	"locksim/faults"
)

// line is one direction of a connection through one toxic at a time, driven the
// way Toxiproxy drives its own.
type line struct {
	*stream.ChanWriter // the sender's end
	stub               *toxics.ToxicStub
	toxic              *toxics.ToxicWrapper
	far                *reader
}

func newLine(toxic toxics.Toxic) *line {
	in, out := make(chan *stream.StreamChunk), make(chan *stream.StreamChunk)
	l := &line{ChanWriter: stream.NewChanWriter(in), stub: toxics.NewToxicStub(in, out), far: readAll(out)}
	l.run(toxic)
	return l
}

// run puts a toxic on the line, as it is when added.
func (l *line) run(toxic toxics.Toxic) {
	l.toxic = &toxics.ToxicWrapper{Toxic: toxic, Toxicity: 1}
	if stateful, ok := toxic.(toxics.StatefulToxic); ok {
		l.stub.State = stateful.NewState()
	}
	go l.stub.Run(l.toxic)
}

// disturb interrupts the toxic and runs it again, as happens when its neighbour
// in a chain comes or goes.
func (l *line) disturb() {
	if l.stub.InterruptToxic() {
		go l.stub.Run(l.toxic)
	}
}

// remove takes the toxic off and leaves the line without any.
func (l *line) remove() {
	if !l.stub.InterruptToxic() {
		return
	}
	if cleanup, ok := l.toxic.Toxic.(toxics.CleanupToxic); ok {
		cleanup.Cleanup(l.stub)
	}
}

// swap removes the toxic and puts another in its place.
func (l *line) swap(toxic toxics.Toxic) {
	l.remove()
	if !l.stub.Closed() {
		l.run(toxic)
	}
}

func (l *line) heal() { l.swap(new(toxics.NoopToxic)) }

func (l *line) send(text string) { _, _ = l.Write([]byte(text)) }

// reader collects what comes out at the far end.
type reader struct {
	mu   sync.Mutex
	text []byte
	end  bool
}

func readAll(out <-chan *stream.StreamChunk) *reader {
	r := new(reader)
	go func() {
		_, _ = io.Copy(r, stream.NewChanReader(out))
		r.mu.Lock()
		defer r.mu.Unlock()
		r.end = true
	}()
	return r
}

func (r *reader) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text = append(r.text, b...)
	return len(b), nil
}

// String is what has arrived.
func (r *reader) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.text)
}

// want checks what has arrived once the bubble is at rest. The mark "$" at the
// end of the text stands for the end of the stream.
func (r *reader) want(t interface{ Fatalf(string, ...any) }, text string) {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	got := string(r.text)
	if r.end {
		got += "$"
	}
	if got != text {
		t.Fatalf("arrived: %q, want %q", got, text)
	}
}

// A toxic is taken off a connection whose receiver has closed it: what it held has nowhere to go, and is not waited
// for.
func TestTakenOffAfterTheReceiverClosed(t *testing.T) {
	for _, toxic := range []toxics.Toxic{new(faults.Hold), &faults.Delay{By: time.Hour}, &faults.Jitter{Add: time.Hour}} {
		bubble(t, fmt.Sprintf("%T", toxic), func(t *testing.T) {
			in := make(chan *stream.StreamChunk)
			l := &line{ChanWriter: stream.NewChanWriter(in), stub: toxics.NewToxicStub(in, make(chan *stream.StreamChunk))}
			l.run(toxic)
			l.send("a")
			l.send("b")
			_ = l.Close()
			synctest.Wait()
			l.remove() // the bubble ends the test where it waits for ever
			if !l.stub.Closed() {
				t.Error("the stream goes on without what was held")
			}
		})
	}
}

func TestHold(t *testing.T) {
	bubble(t, "delivers late and in order, then goes on", func(t *testing.T) {
		l := newLine(new(faults.Hold))
		l.send("a")
		l.send("b")
		time.Sleep(10 * time.Second)
		l.far.want(t, "")
		l.heal()
		l.far.want(t, "ab")
		l.send("c")
		l.far.want(t, "abc")
		_ = l.Close()
		l.far.want(t, "abc$")
	})
	bubble(t, "holds the end of the stream behind the bytes", func(t *testing.T) {
		l := newLine(new(faults.Hold))
		l.send("a")
		_ = l.Close()
		time.Sleep(10 * time.Second)
		l.far.want(t, "")
		l.remove()
		l.far.want(t, "a$")
	})
	bubble(t, "holds an end without bytes", func(t *testing.T) {
		l := newLine(new(faults.Hold))
		_ = l.Close()
		l.far.want(t, "")
		l.disturb()
		l.far.want(t, "")
		l.remove()
		l.far.want(t, "$")
	})
	bubble(t, "an interrupt alone releases nothing", func(t *testing.T) {
		l := newLine(new(faults.Hold))
		l.send("a")
		l.disturb()
		l.send("b")
		l.far.want(t, "")
		l.heal()
		l.far.want(t, "ab")
		_ = l.Close()
	})
	bubble(t, "has no limit that would block the sender", func(t *testing.T) {
		l := newLine(new(faults.Hold))
		for range 10_000 {
			l.send("x")
		}
		l.heal()
		l.far.want(t, strings.Repeat("x", 10_000))
		_ = l.Close()
	})
	bubble(t, "one toxic keeps two connections apart", func(t *testing.T) {
		hold := new(faults.Hold)
		one, two := newLine(hold), newLine(hold)
		one.send("1")
		two.send("2")
		one.heal()
		one.far.want(t, "1")
		two.far.want(t, "")
		two.heal()
		two.far.want(t, "2")
		_, _ = one.Close(), two.Close()
	})
	bubble(t, "makes its state where the link did not", func(t *testing.T) {
		l := newLine(new(toxics.NoopToxic))
		for i, text := range []string{"a", "b"} {
			l.remove()
			l.toxic = &toxics.ToxicWrapper{Toxic: new(faults.Hold), Toxicity: 1}
			go l.stub.Run(l.toxic)
			l.send(text)
			l.far.want(t, "ab"[:i])
		}
		l.heal()
		l.far.want(t, "ab")
		_ = l.Close()
	})
}

func TestDrop(t *testing.T) {
	bubble(t, "ends a connection that lost bytes, at removal", func(t *testing.T) {
		l := newLine(new(faults.Drop))
		l.send("a")
		time.Sleep(10 * time.Second)
		l.far.want(t, "")
		l.heal()
		l.far.want(t, "$")
	})
	bubble(t, "spares a connection that lost none", func(t *testing.T) {
		l := newLine(new(faults.Drop))
		time.Sleep(10 * time.Second)
		l.send("")
		l.heal()
		l.send("a")
		l.far.want(t, "a")
		_ = l.Close()
		l.far.want(t, "a$")
	})
	bubble(t, "passes on a close only at removal", func(t *testing.T) {
		l := newLine(new(faults.Drop))
		_ = l.Close()
		time.Sleep(10 * time.Second)
		l.disturb()
		l.far.want(t, "")
		l.remove()
		l.far.want(t, "$")
	})
	bubble(t, "remembers across an interrupt", func(t *testing.T) {
		l := newLine(new(faults.Drop))
		l.send("a")
		l.disturb()
		l.far.want(t, "")
		l.heal()
		l.far.want(t, "$")
	})
	bubble(t, "what was sent before the cut has arrived", func(t *testing.T) {
		l := newLine(new(toxics.NoopToxic))
		l.send("a")
		l.swap(new(faults.Drop))
		l.send("b")
		l.heal()
		l.far.want(t, "a$")
	})
}

// Whatever the sender and the network do, Hold loses nothing, keeps the order
// and invents no end.
func TestHoldLosesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 40).Draw(rt, "steps")
		rapid.SyncTest(rt, func(rt *rapid.T) { holdWalk(rt, steps) })
	})
}

func holdWalk(rt *rapid.T, steps []int) {
	l := newLine(new(faults.Hold))
	sent, arrived, holding := "", "", true
	for i, step := range steps {
		switch step {
		case 0, 1:
			text := fmt.Sprint(i, ";")
			l.send(text)
			sent += text
		case 2:
			l.disturb()
		case 3:
			l.heal()
			holding = false
		case 4:
			l.swap(new(faults.Hold))
			arrived, holding = sent, true
		}
		if !holding {
			arrived = sent
		}
		l.far.want(rt, arrived)
	}
	_ = l.Close()
	l.heal()
	l.far.want(rt, sent+"$")
}

func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}
