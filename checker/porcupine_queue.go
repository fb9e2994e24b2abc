package checker

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
)

// queueParts ask for an order in which each resource has one holder at a time and
// those who wait are served in the order in which they joined.
func queueParts(h History) []part {
	attempts := attemptsByResource(h)
	var parts []part
	for _, grants := range grantsByResource(h) {
		resource := grants[0].Resource
		parts = append(parts, part{"the queue of " + resource, queueOperations(grants, attempts[resource]), fairModel})
	}
	return parts
}

// visit is what a request does in a queue: it joins, is granted the lock, frees
// it, or leaves without it.
type visit struct {
	does string
	// number tells requests apart. Grants have those of their ids, attempts have
	// numbers below 0.
	number int
}

// queueOperations returns what is known of each request that had a place. One
// whose place is not known joined at some time before its grant. A waiter that
// ended is a departure at that instant.
func queueOperations(grants []Grant, attempts []Attempt) []porcupine.Operation {
	var ops []porcupine.Operation
	for _, g := range grants {
		c := g.Claim()
		if c.Empty() {
			continue
		}
		joins := operation(visit{"join", g.ID}, g.Invoked, g.Granted)
		if g.Enqueued > 0 {
			joins = operation(visit{"join", g.ID}, g.Enqueued, g.Enqueued)
		}
		ops = append(ops, joins, operation(visit{"enter", g.ID}, g.joined(), g.Granted))
		if c.End > 0 {
			ops = append(ops, operation(visit{"free", g.ID}, c.End, g.released(c)))
		}
	}
	for i, a := range attempts {
		if p := a.place(); p.to > p.from {
			ops = append(ops, operation(visit{"join", -1 - i}, p.from, p.from), operation(visit{"leave", -1 - i}, p.to, p.to))
		}
	}
	slices.SortStableFunc(ops, byCall)
	return ops
}

// String is "grant 3: join", or "attempt 2: leave" for who was never granted it.
func (v visit) String() string {
	if v.number < 0 {
		return fmt.Sprintf("attempt %d: %s", -v.number, v.does)
	}
	return fmt.Sprintf("grant %d: %s", v.number, v.does)
}

// line is the state of a fair lock: who has it, 0 for nobody, and who waits. The
// queue is written ",3,1," so that states compare.
type line struct {
	holder int
	queue  string
}

// fairModel is a lock that only the first in the queue can take.
var fairModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{line{queue: ","}} },
	Step: func(state, input, _ any) []any {
		l, v := state.(line), input.(visit)
		name := strconv.Itoa(v.number) + ","
		switch {
		case v.does == "join":
			return []any{line{l.holder, l.queue + name}}
		case v.does == "leave" && strings.Contains(l.queue, ","+name):
			return []any{line{l.holder, strings.Replace(l.queue, ","+name, ",", 1)}}
		case v.does == "enter" && l.holder == 0 && strings.HasPrefix(l.queue, ","+name):
			return []any{line{v.number, strings.TrimPrefix(l.queue, ","+strings.TrimSuffix(name, ","))}}
		case v.does == "free" && l.holder == v.number:
			return []any{line{queue: l.queue}}
		}
		return nil
	},
	DescribeOperation: func(input, _ any) string { return input.(visit).String() },
	DescribeState: func(state any) string {
		l := state.(line)
		return fmt.Sprintf("grant %d has it; in the queue: %s", l.holder, strings.Trim(l.queue, ","))
	},
}
