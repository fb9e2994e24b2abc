package checker

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"locksim/lock/fence"
)

// storeParts are those of the data, or of the answers of a store that is under test.
func storeParts(h History) []part {
	if h.Fence != "" {
		return fencedParts(h)
	}
	return dataParts(h)
}

// fenced is the number of cells in which a store under test gave a wrong answer.
func (f Facts) fenced() int { return f.StaleAccepted + f.LostUpdates + f.Unexplained + f.FalseRejects }

// fencedParts ask for an order of the operations on each cell of a store under test, in which a store that keeps the
// rule gives the same answers.
func fencedParts(h History) []part {
	var parts []part
	byCell := map[Cell]int{}
	for _, list := range [][]Op{h.Ops, h.Last} {
		for i := range list {
			o := &list[i]
			if o.Outcome == OutcomeNotSent || o.Outcome == OutcomeFailed {
				continue
			}
			n, known := byCell[o.cell()]
			if !known {
				n = len(parts)
				byCell[o.cell()], parts = n, append(parts, part{name: o.cell().String(), model: registerOf(h.Fence)})
			}
			to := o.Returned
			if to == 0 || !o.says() {
				to = never
			}
			parts[n].ops = append(parts[n].ops, operation(o, o.Invoked, to))
		}
	}
	for _, p := range parts {
		boundReturns(p.ops)
	}
	return parts
}

// register is the state of a store that keeps a rule: that of the rule, the value, and the highest token that was sent
// in an operation which came through.
type register struct {
	rule  fence.State
	value string
	sent  uint64
}

// registerOf is a register behind a rule of package fence, which may refuse a token below one that was sent.
func registerOf(mode fence.Mode) porcupine.NondeterministicModel {
	return porcupine.NondeterministicModel{
		Init: func() []any { return []any{register{}} },
		Step: func(state, input, _ any) []any {
			s, o := state.(register), input.(*Op)
			op := fence.Op{Token: o.Token, Grant: fmt.Sprintf("g%d", o.Grant)}
			decide := mode.Write
			if o.Kind == Read {
				decide = mode.Read
			}
			rule, refused := decide(s.rule, op)
			taken := register{rule, s.value, max(s.sent, o.Token)}
			var next []any
			if o.Outcome == OutcomeRefused && o.Returned > 0 {
				if refused != nil || o.Token < s.sent {
					next = append(next, s)
				}
				return next
			}
			certain := o.Outcome == OutcomeOK && o.Returned > 0
			if !certain {
				next = append(next, s)
			}
			switch {
			case o.Kind == Read && (!certain || o.Saw == s.value):
				return append(next, taken)
			case o.Kind == Read || refused != nil:
				return next
			case !certain:
				next = append(next, taken)
			}
			taken.value = o.Stored()
			return append(next, taken)
		},
		DescribeOperation: func(input, _ any) string {
			o := input.(*Op)
			if o.Kind == Read {
				return fmt.Sprintf("%s, token %d, finds %s: %s", o.ID, o.Token, short(o.Saw), o.Outcome)
			}
			return fmt.Sprintf("%s, token %d, stores %s: %s", o.ID, o.Token, o.Stored(), o.Outcome)
		},
		DescribeState: func(state any) string {
			s := state.(register)
			return fmt.Sprintf("%s behind %d", short(s.value), s.rule.Highest)
		},
	}
}
