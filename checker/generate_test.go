package checker

import (
	"fmt"
	"math/rand/v2"
)

// randomHistory simulates a few clients with a register, one event after the
// other, and then may falsify the recorded history. Simulated histories are
// often right, or lose updates; falsified ones have all other errors.
func randomHistory(rng *rand.Rand) History {
	p := newSimulation(rng)
	for p.step() {
	}
	h := p.history()
	if rng.IntN(2) == 0 {
		for range 1 + rng.IntN(2) {
			falsify(rng, &h)
		}
	}
	return h
}

// simulation is a simulated run in progress.
type simulation struct {
	rng     *rand.Rand
	now     Pos
	cells   map[Cell]string
	clients []*actor
	turn    int
	// in polite runs each client waits until the one before has finished.
	polite bool
}

// actor is a client under one grant; script has its next steps.
type actor struct {
	grant  Grant
	ops    []*Op
	seen   map[string]string // register -> the base of the next write
	script []func(now Pos)
}

func newSimulation(rng *rand.Rand) *simulation {
	p := &simulation{rng: rng, now: 100, cells: make(map[Cell]string), polite: rng.IntN(3) == 0}
	for i := range 1 + rng.IntN(4) {
		c := &actor{seen: make(map[string]string), grant: Grant{ID: i + 1, Client: fmt.Sprintf("c%d", i), Resource: "orders",
			Invoked: p.now + Pos(i), Granted: p.now + Pos(i) + 1}}
		for n := range 1 + rng.IntN(5)/4 {
			p.writeScript(c, n)
		}
		p.clients = append(p.clients, c)
	}
	p.now += 10
	return p
}

// writeScript adds one section to the client's script.
func (p *simulation) writeScript(c *actor, n int) {
	register := []string{"", "", "", "x"}[p.rng.IntN(4)]
	r := &Op{ID: fmt.Sprintf("%s.r%d", c.grant.Client, n), Kind: Read, Register: register}
	w := &Op{ID: fmt.Sprintf("%s.w%d", c.grant.Client, n), Kind: Write, Register: register}
	outcome := []Outcome{OutcomeOK, OutcomeOK, OutcomeOK, OutcomeOK, OutcomeUnknown, OutcomeUnknown, OutcomeRefused,
		OutcomeNotSent, OutcomeFailed}[p.rng.IntN(9)]
	if p.rng.IntN(8) > 0 {
		p.addRead(c, r)
	}
	if p.rng.IntN(6) > 0 {
		p.addWrite(c, w, outcome)
	}
}

// add assigns o to the client, and its invocation to the script.
func (p *simulation) add(c *actor, o *Op) {
	c.script = append(c.script, func(now Pos) {
		o.Client, o.Grant, o.Resource, o.Invoked = c.grant.Client, c.grant.ID, c.grant.Resource, now
		o.Saw = c.seen[o.Register]
		c.ops = append(c.ops, o)
	})
}

func (p *simulation) addRead(c *actor, r *Op) {
	p.add(c, r)
	c.script = append(c.script,
		func(now Pos) { r.Applied, r.Accepted, r.Saw = now, true, p.cells[Cell{"orders", r.Register}] },
		func(now Pos) { r.Returned, r.Outcome, c.seen[r.Register] = now, OutcomeOK, r.Saw })
}

// addWrite adds a write with its outcome. One of unknown outcome may be applied
// before the client goes on, after that, or never.
func (p *simulation) addWrite(c *actor, w *Op, outcome Outcome) {
	p.add(c, w)
	w.Outcome = outcome
	decide := func(now Pos) {
		w.Applied, w.Accepted = now, outcome != OutcomeRefused
		if w.Accepted {
			p.cells[Cell{"orders", w.Register}] = w.ID
		}
	}
	switch {
	case outcome == OutcomeOK || outcome == OutcomeRefused:
		c.script = append(c.script, decide, func(now Pos) {
			w.Returned = now
			if outcome == OutcomeOK {
				c.seen[w.Register] = w.ID
			}
		})
	case outcome == OutcomeUnknown && p.rng.IntN(3) > 0:
		c.script = append(c.script, decide)
	}
}

// step performs the next step of one client, mostly the same one as before. It
// returns false when no steps are left.
func (p *simulation) step() bool {
	var busy []*actor
	for _, c := range p.clients {
		if len(c.script) > 0 {
			busy = append(busy, c)
		}
	}
	if len(busy) == 0 {
		return false
	}
	if !p.polite && p.rng.IntN(3) == 0 {
		p.turn = p.rng.IntN(len(busy))
	}
	c := busy[p.turn%len(busy)]
	c.script[0](p.now)
	c.script = c.script[1:]
	p.now++
	return true
}

func (p *simulation) history() History {
	h := History{Final: map[Cell]string{orders: p.cells[orders], {"orders", "x"}: p.cells[Cell{"orders", "x"}]}}
	for _, c := range p.clients {
		h.Grants = append(h.Grants, c.grant)
		for _, o := range c.ops {
			h.Ops = append(h.Ops, *o)
		}
	}
	return h
}

// falsify changes one value of a history without a contradiction that Validate
// would find.
func falsify(rng *rand.Rand, h *History) {
	switch rng.IntN(4) {
	case 0:
		h.Final[orders] = anyID(rng, *h)
	case 1:
		falsifyBase(rng, h)
	default:
		shiftClient(rng, h)
	}
}

// anyID is the id of any operation, the initial value, or an id that was never
// written.
func anyID(rng *rand.Rand, h History) string {
	i := rng.IntN(len(h.Ops) + 2)
	if i < len(h.Ops) {
		return h.Ops[i].ID
	}
	return []string{"", "ghost"}[i-len(h.Ops)]
}

// falsifyBase changes the values that all sections of one grant have read.
func falsifyBase(rng *rand.Rand, h *History) {
	grant, saw := 1+rng.IntN(len(h.Grants)), anyID(rng, *h)
	for i := range h.Ops {
		if o := &h.Ops[i]; o.Grant == grant {
			o.Saw = saw
		}
	}
}

// shiftClient moves one grant with its operations in time.
func shiftClient(rng *rand.Rand, h *History) {
	grant, by := 1+rng.IntN(len(h.Grants)), Pos(rng.IntN(41)-20)
	move := func(p *Pos) {
		if *p > 0 {
			*p += by
		}
	}
	g := &h.Grants[grant-1]
	move(&g.Invoked)
	move(&g.Granted)
	for i := range h.Ops {
		if o := &h.Ops[i]; o.Grant == grant {
			move(&o.Invoked)
			move(&o.Applied)
			move(&o.Returned)
		}
	}
}
