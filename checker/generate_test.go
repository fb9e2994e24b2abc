package checker

import (
	"fmt"
	"math/rand/v2"
)

// randomHistory plays a few clients against a real register, one event after the
// other, and then may falsify what was recorded. Played histories are often
// right, or lose updates; falsified ones break everything else.
func randomHistory(rng *rand.Rand) History {
	p := newPlay(rng)
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

// play is a run under way.
type play struct {
	rng     *rand.Rand
	now     Pos
	cells   map[Cell]string
	clients []*player
	turn    int
	// polite clients wait until the one before has finished.
	polite bool
}

// player is a client under one grant; script holds what it does next.
type player struct {
	grant  Grant
	ops    []*Op
	seen   map[string]string // register -> what a write will be based on
	script []func(now Pos)
}

func newPlay(rng *rand.Rand) *play {
	p := &play{rng: rng, now: 100, cells: make(map[Cell]string), polite: rng.IntN(3) == 0}
	for i := range 1 + rng.IntN(4) {
		c := &player{seen: make(map[string]string), grant: Grant{ID: i + 1, Client: fmt.Sprintf("c%d", i), Resource: "orders", Invoked: p.now + Pos(i), Granted: p.now + Pos(i) + 1}}
		for n := range 1 + rng.IntN(5)/4 {
			p.writeScript(c, n)
		}
		p.clients = append(p.clients, c)
	}
	p.now += 10
	return p
}

// writeScript adds one section to what the client will do.
func (p *play) writeScript(c *player, n int) {
	register := []string{"", "", "", "x"}[p.rng.IntN(4)]
	r := &Op{ID: fmt.Sprintf("%s.r%d", c.grant.Client, n), Kind: Read, Register: register}
	w := &Op{ID: fmt.Sprintf("%s.w%d", c.grant.Client, n), Kind: Write, Register: register}
	outcome := []Outcome{OutcomeOK, OutcomeOK, OutcomeOK, OutcomeOK, OutcomeUnknown, OutcomeUnknown, OutcomeRefused, OutcomeNotSent, OutcomeFailed}[p.rng.IntN(9)]
	if p.rng.IntN(8) > 0 {
		p.addRead(c, r)
	}
	if p.rng.IntN(6) > 0 {
		p.addWrite(c, w, outcome)
	}
}

// add makes o the client's; the script starts with its invocation.
func (p *play) add(c *player, o *Op) {
	c.script = append(c.script, func(now Pos) {
		o.Client, o.Grant, o.Resource, o.Invoked = c.grant.Client, c.grant.ID, c.grant.Resource, now
		o.Saw = c.seen[o.Register]
		c.ops = append(c.ops, o)
	})
}

func (p *play) addRead(c *player, r *Op) {
	p.add(c, r)
	c.script = append(c.script,
		func(now Pos) { r.Applied, r.Accepted, r.Saw = now, true, p.cells[Cell{"orders", r.Register}] },
		func(now Pos) { r.Returned, r.Outcome, c.seen[r.Register] = now, OutcomeOK, r.Saw })
}

// addWrite ends in what the client sees. A write of unknown outcome may be
// applied before the client goes on, after that, or never.
func (p *play) addWrite(c *player, w *Op, outcome Outcome) {
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

// step lets one client do the next thing, mostly the same one as before. It
// reports false when nobody has anything left to do.
func (p *play) step() bool {
	var busy []*player
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

func (p *play) history() History {
	h := History{Final: map[Cell]string{orders: p.cells[orders], {"orders", "x"}: p.cells[Cell{"orders", "x"}]}, Liveness: LivenessOK}
	for _, c := range p.clients {
		h.Grants = append(h.Grants, c.grant)
		for _, o := range c.ops {
			h.Ops = append(h.Ops, *o)
		}
	}
	return h
}

// falsify changes one thing of a history and leaves it free of contradictions
// that Validate would see.
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

// anyID is the id of any operation, the initial value, or one that nobody wrote.
func anyID(rng *rand.Rand, h History) string {
	i := rng.IntN(len(h.Ops) + 2)
	if i < len(h.Ops) {
		return h.Ops[i].ID
	}
	return []string{"", "ghost"}[i-len(h.Ops)]
}

// falsifyBase changes what all the sections of one grant say they had read.
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
