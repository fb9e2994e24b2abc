package checker

import (
	"fmt"
	"math/rand/v2"
)

// randomTransfers simulates a few clients with one section of two registers
// each, and then may falsify the recorded history.
func randomTransfers(rng *rand.Rand) History {
	p := newTransfers(rng)
	for p.step() {
	}
	h := p.history()
	h.SectionWrites = 2
	for range max(0, rng.IntN(6)-3) {
		falsifyTransfer(rng, &h)
	}
	return h
}

// act is a step of a section: a read or a write of one of the two registers.
type act struct {
	kind     OpKind
	register string
}

// transferOrders are orders of reads and writes of two registers; the first two
// are those of a transfer.
var transferOrders = [][]act{
	{{Read, ""}, {Read, "x"}, {Write, ""}, {Write, "x"}},
	{{Read, "x"}, {Read, ""}, {Write, ""}, {Write, "x"}},
	{{Read, ""}, {Write, ""}, {Write, "x"}},
	{{Write, ""}, {Write, "x"}},
	{{Read, ""}, {Write, ""}, {Read, "x"}, {Write, "x"}},
	{{Read, "x"}, {Write, "x"}, {Read, ""}, {Write, ""}},
}

// newTransfers draws the clients' scripts. In some runs all of them use one
// register after the other, and interleave.
func newTransfers(rng *rand.Rand) *simulation {
	p := &simulation{rng: rng, now: 100, cells: make(map[Cell]string), polite: rng.IntN(2) > 0}
	orders := [][]act{transferOrders[0], transferOrders[0], transferOrders[0], transferOrders[1], transferOrders[2],
		transferOrders[3]}
	if rng.IntN(3) == 0 {
		orders = transferOrders[4:]
	}
	for i := range 1 + rng.IntN(4) {
		c := &actor{seen: make(map[string]string), grant: Grant{ID: i + 1, Client: fmt.Sprintf("c%d", i), Resource: "orders",
			Invoked: p.now + Pos(i), Granted: p.now + Pos(i) + 1}}
		p.transferScript(c, orders[rng.IntN(len(orders))])
		p.clients = append(p.clients, c)
	}
	p.now += 10
	return p
}

// transferScript performs the acts. It mostly stops when a write is not
// acknowledged, and sometimes anywhere.
func (p *simulation) transferScript(c *actor, acts []act) {
	for i, a := range acts {
		if p.rng.IntN(60) == 0 {
			return
		}
		o := &Op{ID: fmt.Sprintf("%s.%s%d", c.grant.Client, a.kind[:1], i), Kind: a.kind, Register: a.register}
		if a.kind == Read {
			p.addRead(c, o)
			continue
		}
		outcome := []Outcome{OutcomeUnknown, OutcomeUnknown, OutcomeRefused, OutcomeNotSent,
			OutcomeOK}[min(4, p.rng.IntN(40))]
		p.addWrite(c, o, outcome)
		if outcome != OutcomeOK && p.rng.IntN(3) > 0 {
			return
		}
	}
}

// falsifyTransfer changes one value such that each register alone is often
// still right.
func falsifyTransfer(rng *rand.Rand, h *History) {
	if len(h.Ops) == 0 {
		return
	}
	switch rng.IntN(5) {
	case 0:
		swapOrder(rng, h)
	case 1:
		o := h.Ops[rng.IntN(len(h.Ops))]
		h.Final[o.cell()] = anyID(rng, *h)
	case 2:
		o := &h.Ops[rng.IntN(len(h.Ops))]
		saw := anyID(rng, *h)
		for i := range h.Ops {
			if p := &h.Ops[i]; p.Grant == o.Grant && p.Register == o.Register {
				p.Saw = saw
			}
		}
	case 3:
		shiftClient(rng, h)
	default:
		swapOrder(rng, h)
		shiftClient(rng, h)
	}
}

// swapOrder swaps two writes of one register in its history.
func swapOrder(rng *rand.Rand, h *History) {
	a, b := &h.Ops[rng.IntN(len(h.Ops))], &h.Ops[rng.IntN(len(h.Ops))]
	if a.Kind != Write || b.Kind != Write || a.Register != b.Register || a.Grant == b.Grant {
		return
	}
	renamed := func(id string) string {
		switch id {
		case a.ID:
			return b.ID
		case b.ID:
			return a.ID
		}
		return id
	}
	register, ga, gb, sawA, sawB := a.Register, a.Grant, b.Grant, a.Saw, b.Saw
	for i := range h.Ops {
		o := &h.Ops[i]
		switch {
		case o.Register != register:
		case o.Grant == ga:
			o.Saw = renamed(sawB)
		case o.Grant == gb:
			o.Saw = renamed(sawA)
		default:
			o.Saw = renamed(o.Saw)
		}
	}
	h.Final[a.cell()] = renamed(h.Final[a.cell()])
}
