package checker

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
)

// queueParts ask for an order in which each resource has one holder at a time
// and waiting requests are granted in the order in which they joined.
func queueParts(h History) []part {
	attempts := attemptsByResource(h)
	var parts []part
	for _, grants := range grantsByResource(h) {
		resource := grants[0].Resource
		parts = append(parts, part{"the queue of " + resource.String(), queueOperations(grants, attempts[resource]),
			fairModel})
	}
	return parts
}

// queueOp is an operation of a request on a queue: it joins, enters the lock,
// frees it, or leaves without it.
type queueOp struct {
	does string
	// number identifies the request: the id of a grant, or a number below 0 for
	// an attempt.
	number int
}

// queueOperations returns the known operations of each request in the queue. A
// request without a record joined at some time before its grant. A waiter that
// ended left at that instant.
func queueOperations(grants []Grant, attempts []Attempt) []porcupine.Operation {
	var ops []porcupine.Operation
	for _, g := range grants {
		c := g.Claim()
		if c.Empty() {
			continue
		}
		joins := operation(queueOp{"join", g.ID}, g.Invoked, g.Granted)
		if g.Enqueued > 0 {
			joins = operation(queueOp{"join", g.ID}, g.Enqueued, g.Enqueued)
		}
		ops = append(ops, joins, operation(queueOp{"enter", g.ID}, g.joined(), g.Granted))
		if c.End > 0 {
			ops = append(ops, operation(queueOp{"free", g.ID}, c.End, g.released(c)))
		}
	}
	for i, a := range attempts {
		if p := a.queueSpan(); p.to > p.from {
			ops = append(ops, operation(queueOp{"join", -1 - i}, p.from, p.from), operation(queueOp{"leave", -1 - i}, p.to,
				p.to))
		}
	}
	slices.SortStableFunc(ops, byCall)
	return ops
}

// String is "grant 3: join", or "attempt 2: leave" for a request without a
// grant.
func (v queueOp) String() string {
	if v.number < 0 {
		return fmt.Sprintf("attempt %d: %s", -v.number, v.does)
	}
	return fmt.Sprintf("grant %d: %s", v.number, v.does)
}

// queueState is the state of a fair lock: its holder, 0 for none, and the
// waiting requests. The queue is written ",3,1," so that states can be
// compared.
type queueState struct {
	holder int
	queue  string
}

// fairModel is a lock that only the first request in the queue can enter.
var fairModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{queueState{queue: ","}} },
	Step: func(state, input, _ any) []any {
		l, v := state.(queueState), input.(queueOp)
		name := strconv.Itoa(v.number) + ","
		switch {
		case v.does == "join":
			return []any{queueState{l.holder, l.queue + name}}
		case v.does == "leave" && strings.Contains(l.queue, ","+name):
			return []any{queueState{l.holder, strings.Replace(l.queue, ","+name, ",", 1)}}
		case v.does == "enter" && l.holder == 0 && strings.HasPrefix(l.queue, ","+name):
			return []any{queueState{v.number, strings.TrimPrefix(l.queue, ","+strings.TrimSuffix(name, ","))}}
		case v.does == "free" && l.holder == v.number:
			return []any{queueState{queue: l.queue}}
		}
		return nil
	},
	DescribeOperation: func(input, _ any) string { return input.(queueOp).String() },
	DescribeState: func(state any) string {
		l := state.(queueState)
		return fmt.Sprintf("grant %d has it; in the queue: %s", l.holder, strings.Trim(l.queue, ","))
	},
}
