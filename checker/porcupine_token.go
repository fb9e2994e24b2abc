package checker

import (
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"
)

// tokenParts ask for an order of the grants of each resource in which their
// tokens grow: one that respects their calls, and one that respects their claims.
// They leave out resources without tokens.
func tokenParts(h History) []part {
	var parts []part
	for _, grants := range grantsByResource(h) {
		minted := slices.DeleteFunc(slices.Clone(grants), func(g Grant) bool { return g.Token == 0 })
		if len(minted) > 0 {
			parts = append(parts, part{"the counter of " + grants[0].Resource.String(), tokenOps(h, minted), counterModel})
		}
		if ops := claimOps(minted); len(ops) > 0 {
			parts = append(parts, part{"the tokens of the claims on " + grants[0].Resource.String(), ops, growthModel})
		}
	}
	return parts
}

// tokenOp is a grant with a token.
type tokenOp struct {
	Grant
	enters bool // it went on with a hold of its client with the same token
}

// tokenOps are the grants, from their calls to their returns.
func tokenOps(h History, grants []Grant) []porcupine.Operation {
	var ops []porcupine.Operation
	for i, g := range grants {
		own := slices.DeleteFunc(slices.Clone(grants[:i]), func(e Grant) bool {
			return e.Client != g.Client ||
				e.Token != g.Token
		})
		ops = append(ops, operation(tokenOp{g, h.goesOn(g, own)}, g.Invoked, g.Granted))
	}
	slices.SortStableFunc(ops, byCall)
	return ops
}

// claimOps are the claims of the grants that have one.
func claimOps(grants []Grant) []porcupine.Operation {
	var ops []porcupine.Operation
	for _, g := range grants {
		if c := g.Claim(); !c.Empty() {
			ops = append(ops, operation(tokenOp{Grant: g}, c.Start, c.end()))
		}
	}
	return ops
}

// counterState is the latest token, and the client of all grants with it.
type counterState struct {
	token  uint64
	client string
}

// counterModel is a counter that grows from grant to grant. The entries of one hold
// share a token.
var counterModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{counterState{}} },
	Step: func(state, input, _ any) []any {
		c, m := state.(counterState), input.(tokenOp)
		if m.Token > c.token || m.Token == c.token && m.enters && m.Client == c.client {
			return []any{counterState{m.Token, m.Client}}
		}
		return nil
	},
	DescribeOperation: describeToken,
	DescribeState:     func(state any) string { return latestToken(state.(counterState).token) },
}

// growthModel is a counter that does not go back. Its state is the latest token.
var growthModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{uint64(0)} },
	Step: func(state, input, _ any) []any {
		if token := input.(tokenOp).Token; token >= state.(uint64) {
			return []any{token}
		}
		return nil
	},
	DescribeOperation: describeToken,
	DescribeState:     func(state any) string { return latestToken(state.(uint64)) },
}

func describeToken(input, _ any) string {
	m := input.(tokenOp)
	return fmt.Sprintf("%s is granted token %d", m.Client, m.Token)
}

func latestToken(token uint64) string { return fmt.Sprintf("the latest token is %d", token) }
