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
		if ops := tokenOps(h, grants); len(ops) > 0 {
			parts = append(parts, part{"the counter of " + grants[0].Resource, ops, counterModel})
		}
	}
	return parts
}

// tokenOp is a grant with a token.
type tokenOp struct {
	Grant
	enters bool // it entered a hold of its client with the same token
}

// tokenOps returns the grants that have a token.
func tokenOps(h History, grants []Grant) []porcupine.Operation {
	var ops []porcupine.Operation
	for _, g := range grants {
		if g.Token > 0 {
			ops = append(ops, operation(tokenOp{g, entersOwn(h, g, grants)}, g.Invoked, g.Granted))
		}
	}
	slices.SortStableFunc(ops, byCall)
	return ops
}

// entersOwn reports whether g entered a hold of its client with the same token.
func entersOwn(h History, g Grant, grants []Grant) bool {
	return h.Entry == EntryReentrant && slices.ContainsFunc(grants, func(e Grant) bool {
		return e.Client == g.Client && e.Token == g.Token && e.Granted < g.Invoked && e.Belief(CareNever).Contains(g.Invoked)
	})
}

// counterState is the latest token, the position at which the first grant with
// it returned, and the client of all grants with it, if there is only one.
type counterState struct {
	token  uint64
	since  Pos
	client string
}

// counterModel is a counter that grows from grant to grant. Grants that were in
// flight together, and entries of one hold, may share a token.
var counterModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{counterState{}} },
	Step: func(state, input, _ any) []any {
		c, m := state.(counterState), input.(tokenOp)
		switch {
		case m.Token > c.token:
			return []any{counterState{m.Token, m.Granted, m.Client}}
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
		m := input.(tokenOp)
		return fmt.Sprintf("%s is granted token %d", m.Client, m.Token)
	},
	DescribeState: func(state any) string { return fmt.Sprintf("the latest token is %d", state.(counterState).token) },
}
