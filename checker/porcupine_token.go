package checker

import (
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"
)

// tokenParts ask for an order of the grants of each resource in which their
// tokens grow. They leave out resources without tokens.
func tokenParts(h History) []part {
	var parts []part
	for _, grants := range grantsByResource(h) {
		if ops := mints(h, grants); len(ops) > 0 {
			parts = append(parts, part{"the counter of " + grants[0].Resource, ops, counterModel})
		}
	}
	return parts
}

// mint is a grant that brought a token.
type mint struct {
	Grant
	enters bool // it entered a hold of its client that has the same token
}

// mints returns the grants that have a token.
func mints(h History, grants []Grant) []porcupine.Operation {
	var ops []porcupine.Operation
	for _, g := range grants {
		if g.Token > 0 {
			ops = append(ops, operation(mint{g, entersOwn(h, g, grants)}, g.Invoked, g.Granted))
		}
	}
	slices.SortStableFunc(ops, byCall)
	return ops
}

// entersOwn says that g entered a hold of its client that has the same token.
func entersOwn(h History, g Grant, grants []Grant) bool {
	return h.Entry == EntryReentrant && slices.ContainsFunc(grants, func(e Grant) bool {
		return e.Client == g.Client && e.Token == g.Token && e.Granted < g.Invoked && e.Belief(CareNever).Contains(g.Invoked)
	})
}

// counter is the state of what mints tokens: the latest, where the first grant
// that carries it returned, and the client of all of those, if it is one.
type counter struct {
	token  uint64
	since  Pos
	client string
}

// counterModel is a counter that grows from grant to grant. Grants that were in
// flight together, and entries of one hold, may share a token.
var counterModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{counter{}} },
	Step: func(state, input, _ any) []any {
		c, m := state.(counter), input.(mint)
		switch {
		case m.Token > c.token:
			return []any{counter{m.Token, m.Granted, m.Client}}
		case m.Token < c.token || c.since < m.Invoked && !(m.enters && c.client == m.Client):
			return nil
		}
		c.since = min(c.since, m.Granted)
		if c.client != m.Client {
			c.client = "" // no client has this name
		}
		return []any{c}
	},
	DescribeOperation: func(input, _ any) string {
		m := input.(mint)
		return fmt.Sprintf("%s is granted token %d", m.Client, m.Token)
	},
	DescribeState: func(state any) string { return fmt.Sprintf("the latest token is %d", state.(counter).token) },
}
