package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"
)

// lockParts ask for an order in which each resource has one holder at a time.
func lockParts(h History) []part {
	if h.Entry == EntryShared {
		return nil
	}
	model := ownerModel
	if h.Entry == EntryReentrant || h.Entry == EntryOwnerless {
		model = reentrantModel
	}
	var parts []part
	for _, grants := range grantsByResource(h) {
		parts = append(parts, part{grants[0].Resource.String(), lockOperations(grants), model})
	}
	return parts
}

// lockOp is a grant's acquire, or the end of its claim.
type lockOp struct {
	grant  int
	client string
	ends   bool
}

// lockOperations returns an acquire for each grant that has a claim, and a
// release for each claim that ended. A client's release lasts until it
// returned; a crash, a loss or the end of the validity is a release that may
// happen at any time from then on.
func lockOperations(grants []Grant) []porcupine.Operation {
	var ops []porcupine.Operation
	for _, g := range grants {
		c := g.Claim()
		if c.Empty() {
			continue
		}
		ops = append(ops, operation(lockOp{grant: g.ID, client: g.Client}, g.Invoked, g.Granted))
		if c.End > 0 {
			ops = append(ops, operation(lockOp{grant: g.ID, client: g.Client, ends: true}, c.End, g.released(c)))
		}
	}
	slices.SortStableFunc(ops, byCall)
	return ops
}

// released is the latest position at which the end of the claim took effect.
func (g Grant) released(claim Interval) Pos {
	if claim.End == g.Released && g.ReleaseReturned > 0 {
		return g.ReleaseReturned
	}
	return never
}

func operation(input any, from, to Pos) porcupine.Operation {
	return porcupine.Operation{Input: input, Call: int64(from), Return: int64(to)}
}

func byCall(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) }

// ownerModel is a lock: its state is the grant that holds it, 0 when it is free.
var ownerModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{0} },
	Step: func(state, input, _ any) []any {
		t := input.(lockOp)
		switch {
		case !t.ends && state == 0:
			return []any{t.grant}
		case t.ends && state == t.grant:
			return []any{0}
		}
		return nil
	},
	DescribeOperation: func(input, _ any) string { return input.(lockOp).String() },
	DescribeState: func(state any) string {
		if state == 0 {
			return "free"
		}
		return fmt.Sprintf("held by grant %d", state)
	},
}

// String is "c0 is granted the lock (grant 3)" or "c0 has it no more (grant 3)".
func (t lockOp) String() string {
	if t.ends {
		return fmt.Sprintf("%s has it no more (grant %d)", t.client, t.grant)
	}
	return fmt.Sprintf("%s is granted the lock (grant %d)", t.client, t.grant)
}

// reentrantState is the holder of a reentrant lock and the number of its
// entries.
type reentrantState struct {
	client string
	count  int
}

// reentrantModel is a lock that its holder may enter again; it is free when
// each entry has ended. Real time makes sure that an entry ends only after it
// began, so it is enough to count them.
var reentrantModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{reentrantState{}} },
	Step: func(state, input, _ any) []any {
		e, t := state.(reentrantState), input.(lockOp)
		switch {
		case e.count > 0 && e.client != t.client:
			return nil
		case !t.ends:
			return []any{reentrantState{t.client, e.count + 1}}
		case e.count == 1:
			return []any{reentrantState{}}
		case e.count > 1:
			return []any{reentrantState{t.client, e.count - 1}}
		}
		return nil
	},
	DescribeOperation: func(input, _ any) string { return input.(lockOp).String() },
	DescribeState: func(state any) string {
		if e := state.(reentrantState); e.count > 0 {
			return fmt.Sprintf("held by %s, entered %d times", e.client, e.count)
		}
		return "free"
	},
}
