package checker

import (
	"fmt"
	"slices"

	"locksim/lock/promise"
)

// Reason is one sentence for a reviewer.
type Reason struct {
	// Text is the sentence. It calls a trace position a step.
	Text string `json:"text"`
	// At holds the positions that the sentence speaks of, in its own order.
	At []Pos `json:"at,omitempty"`
	// Duty is the duty that was broken; "" for a reason that is about none.
	Duty promise.Duty `json:"duty,omitempty"`
	// Unit says that the sentence asks whether a TTL is in the right unit.
	Unit bool `json:"unit,omitempty"`
}

func (r Reason) and(more Reason) Reason {
	r.Text, r.At, r.Unit = r.Text+more.Text, slices.Concat(r.At, more.At), r.Unit || more.Unit
	return r
}

// maxReasons bounds the sentences of one fact; its count is not bounded.
const maxReasons = 10

// tally counts one kind of finding and explains the first few.
type tally struct {
	// more names findings in the plural, for the sentence on those left out.
	more    string
	count   int
	reasons []Reason
}

// add counts a finding. It builds the sentence only if there is room.
func (t *tally) add(explain func() Reason) {
	t.count++
	if t.count <= maxReasons {
		t.reasons = append(t.reasons, explain())
	}
}

func (t *tally) breach(d promise.Duty, explain func() Reason) {
	t.add(func() Reason {
		r := explain()
		r.Duty = d
		return r
	})
}

// sentences returns the reasons, with a last one for those left out.
func (t *tally) sentences() []Reason {
	left := t.count - len(t.reasons)
	if left == 0 {
		return t.reasons
	}
	return append(t.reasons, Reason{Text: fmt.Sprintf("There are %d more %s.", left, t.more)})
}

// step is the position that represents the operation in the trace: the store's
// decision, or its invocation if it never arrived.
func (o Op) step() Pos {
	if o.Applied > 0 {
		return o.Applied
	}
	return o.Invoked
}

// describe names an operation: c1's write c1.2 (step 214).
func describe(o Op) string {
	return fmt.Sprintf("%s's %s %s (step %d)", o.Client, o.Kind, o.ID, o.step())
}

func value(id string) string {
	if id == "" {
		return "the initial value"
	}
	return id
}

// withToken adds the token to a sentence, if there is one.
func withToken(token uint64) string {
	if token == 0 {
		return ""
	}
	return fmt.Sprintf(" with token %d", token)
}
