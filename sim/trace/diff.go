package trace

import "fmt"

// Divergence is the first difference between two traces.
type Divergence struct {
	// N is the number of the first event that differs.
	N int
	// A and B are the two events; nil where that trace had already ended.
	A, B *Event
	// Before is the last event that both traces share, nil if there is none.
	Before *Event
}

// Diff compares two traces and returns their first difference, or nil if they
// are equal. All details count, also those that the texts cut.
func Diff(a, b *Trace) *Divergence {
	for i := 0; i < len(a.Events) || i < len(b.Events); i++ {
		x, y := at(a, i), at(b, i)
		if x != nil && y != nil && x.equal(y) {
			continue
		}
		return &Divergence{N: i + 1, A: x, B: y, Before: at(a, i-1)}
	}
	return nil
}

func at(t *Trace, i int) *Event {
	if i < 0 || i >= len(t.Events) {
		return nil
	}
	return &t.Events[i]
}

// String shows both sides, for a message to a user.
func (d *Divergence) String() string {
	text := fmt.Sprintf("first divergent event: number %d\n  one run:     %s\n  other run:   %s\n  both before: %s",
		d.N, show(d.A), show(d.B), show(d.Before))
	if d.A != nil && d.B != nil && show(d.A) == show(d.B) {
		a, b := around(d.A.appendHash(nil), d.B.appendHash(nil))
		text += fmt.Sprintf("\n  the two differ in details that their texts do not show: %q in one, %q in the other", a, b)
	}
	return text
}

// Place is the first difference in a line.
func (d *Divergence) Place() string {
	return fmt.Sprintf("from event %d on, %s in one and %s in the other", d.N, show(d.A), show(d.B))
}

// around is what two encodings of an event have where they first differ, and some
// bytes before that.
func around(a, b []byte) (inA, inB []byte) {
	const before, after = 24, 40
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	from := max(at-before, 0)
	return a[from:min(at+after, len(a))], b[from:min(at+after, len(b))]
}

// show is an event on one line, with its exact time: text as it is, and other
// bytes as Go writes them.
func show(e *Event) string {
	if e == nil {
		return "(nothing: the trace ends here)"
	}
	who := e.Actor
	if e.Peer != "" {
		who += ", " + e.Peer
	}
	return fmt.Sprintf("at %v, %s: %s %s", e.At, Readable(who), e.Kind(), Readable(e.Text()))
}
