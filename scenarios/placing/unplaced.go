package placing

import (
	"fmt"
	"slices"

	"locksim/lock/promise"
	"locksim/scenarios/outcome/sweeps"
	"locksim/sim/trace"
)

// struck is the number of placements that strike a process or a link.
func (p *placer) struck(target string) int {
	n := 0
	for _, x := range p.out.All {
		if x.target == target {
			n++
		}
	}
	return n
}

// leftOut finds the kinds of fault that are placed nowhere or, if they strike a server, at no moment of one, and says
// why.
func (p *placer) leftOut(world trace.Servers) {
	for _, k := range p.kinds {
		if !k.strikesServers() {
			p.nowhere(k, world)
			continue
		}
		for _, s := range p.out.Servers {
			b := boundary{what: applying, node: s.Name, servers: world}
			if !p.places(k, s.Name) {
				p.without(k, s.Name, p.why(k, b, "no client asks it in the run without faults"))
			}
		}
	}
}

// strikesServers reports whether a kind strikes a server by itself, rather than a client, a link or everything.
func (k faultKind) strikesServers() bool {
	return k.target(boundary{node: "r0", servers: sampled}) == "r0"
}

// nowhere says why a kind that strikes no server by itself is placed nowhere, if it is. Clocks that no client reads are
// counted instead.
func (p *placer) nowhere(k faultKind, world trace.Servers) {
	name := k.name()
	if slices.ContainsFunc(p.out.All, func(x Placement) bool {
		return x.Kind == name &&
			!slices.ContainsFunc(p.out.Servers, x.on)
	}) {
		return
	}
	if k.class() == promise.WallClock && p.out.Idle > 0 {
		return
	}
	b := boundary{what: sending, client: "c0", servers: world}
	if len(p.out.Servers) > 0 {
		b.node = p.out.Servers[0].Name
	}
	p.without(k, "", p.why(k, b, "nothing that this could strike happens in the run without faults"))
}

// on reports whether a placement strikes a server.
func (x Placement) on(s sweeps.Server) bool { return x.target == s.Name }

// places reports whether a kind is placed at a target.
func (p *placer) places(k faultKind, target string) bool {
	name := k.name()
	return slices.ContainsFunc(p.out.All, func(x Placement) bool { return x.Kind == name && x.target == target })
}

// why says why a kind is not placed at what a boundary has; otherwise is the reason if it could be.
func (p *placer) why(k faultKind, b boundary, otherwise string) string {
	switch {
	case k.target(b) == "" && b.node == "":
		return "the world has nothing that this could strike"
	case k.target(b) == "":
		return fmt.Sprintf("%s servers have nothing that this could strike", b.server().Kind)
	}
	if why := p.barred(k, b); why != "" {
		return why
	}
	return otherwise
}

// without adds a kind that is not placed, at a server or, with "", anywhere.
func (p *placer) without(k faultKind, server, why string) {
	name := k.name()
	i := slices.IndexFunc(p.out.Unplaced, func(u sweeps.Unplaced) bool {
		return u.Fault == name && u.Why == why && (len(u.Servers) > 0) == (server != "")
	})
	if i < 0 {
		i = len(p.out.Unplaced)
		p.out.Unplaced = append(p.out.Unplaced, sweeps.Unplaced{Fault: name, Why: why})
	}
	if on := &p.out.Unplaced[i].Servers; server != "" && !slices.Contains(*on, server) {
		*on = append(*on, server)
	}
}
