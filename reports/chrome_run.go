package reports

import (
	"fmt"
	"slices"
	"time"

	"locksim/internal/prose"
	"locksim/scenarios/play"
	"locksim/sim/trace"
)

// process adds a run.
func (c *chromeTrace) process(m *play.ModeRun) {
	s := newScene(m)
	s.end = max(s.end, time.Millisecond)
	c.runs++
	p := &chromeProcess{chromeTrace: c, drawing: undrawn(s), pid: c.runs, rows: map[string][]*chromeRow{}}
	bands, bars, marks := p.bands(), p.bars(), p.marks()
	p.tale()
	for _, name := range p.clients {
		p.client(name, bars, bands, marks)
	}
	p.record(bars)
	for _, name := range slices.Concat(p.nodes, []string{"s0"}) {
		p.faults(name, bands)
		p.moments(name, marks)
		p.deeds(name)
	}
	p.post()
	p.decision()
	p.named()
}

// undrawn is a run whose bars, faults and messages are known, and not where they
// would be drawn.
func undrawn(s *scene) *drawing {
	d := &drawing{scene: s, scale: scale{end: s.end}, lanes: map[string]*lane{}, taken: map[int]bool{}}
	for _, l := range lanesOf(s) {
		d.lanes[l.Name] = l
	}
	return d
}

// tale is the story, a moment for each of its steps.
func (p *chromeProcess) tale() {
	for _, line := range p.run.Story {
		s := chromeSlice{category: "story", name: line.Actor + " " + line.Text}
		s.N, s.T0 = line.N, line.At
		p.instant("story", s)
	}
}

// client draws what a client waits for, believes and has, and what befalls it.
//
// A wait ends where a belief begins. They have tracks of their own: a viewer that
// adds a duration to a time as floating-point numbers could see them overlap.
func (p *chromeProcess) client(name string, bars []bar, bands []band, marks []mark) {
	var waits, all []chromeSlice
	for _, b := range bars {
		s := chromeSlice{stretch: b.stretch, category: b.Kind, name: barName(b), args: map[string]any{"detail": b.Says}}
		switch {
		case b.Lane != name:
		case b.Kind == "wait":
			waits = append(waits, s)
		default:
			all = append(all, s)
		}
	}
	p.slices(name+" asks", waits)
	p.slices(name, all)
	p.moments(name, marks)
	p.faults(name, bands)
}

// barName is what a bar is called where there are no colours.
func barName(b bar) string {
	switch b.Kind {
	case "claim":
		return "claim: " + b.Text
	case "belief":
		return "believes that it has the lock"
	}
	return "asks for the lock"
}

// record draws who had the lock by the nodes' own record.
func (p *chromeProcess) record(bars []bar) {
	var all []chromeSlice
	for _, b := range bars {
		if b.Lane == recordName {
			all = append(all, chromeSlice{stretch: b.stretch, category: "record", name: b.Text, args: map[string]any{"detail": b.Says}})
		}
	}
	p.slices("lock, by the nodes' record", all)
}

// faults draws what befalls somebody.
func (p *chromeProcess) faults(name string, bands []band) {
	var all []chromeSlice
	for _, b := range bands {
		s := chromeSlice{stretch: b.stretch, category: "fault", name: b.Text, args: map[string]any{"kind": b.Kind}}
		switch {
		case b.Lane != name:
		case b.Moment:
			p.instant(name+" faults", s)
		default:
			all = append(all, s)
		}
	}
	p.slices(name+" faults", all)
}

// moments draws what happens to somebody at one moment.
func (p *chromeProcess) moments(name string, marks []mark) {
	for _, m := range marks {
		if m.Lane == name {
			p.instant(name, chromeSlice{stretch: m.stretch, category: m.Kind, name: m.Says})
		}
	}
}

// decision marks the decisive step through the whole process.
func (p *chromeProcess) decision() {
	if d := p.decisive(); d != nil {
		p.add(chromeEvent{Phase: phaseInstant, Time: micros(d.T0), Category: "decision", Name: d.Text, Scope: "p",
			Args: map[string]any{"step": d.N, "label": string(p.run.Verdict.Label)}})
	}
}

// deeds are what a node did: each command and its answer.
func (p *chromeProcess) deeds(node string) {
	for _, e := range p.run.Trace.Events {
		if e.Actor != node || p.hidden(e) {
			continue
		}
		switch e.What.(type) {
		case trace.Exec, trace.Decision:
			p.slice(node, deed(e))
		}
	}
}

func deed(e trace.Event) chromeSlice {
	s := chromeSlice{category: e.Kind(), name: brief(fmt.Sprintf("%s: %s", e.Peer, e.Text())), args: map[string]any{"for": e.Peer, "text": e.Text()}}
	s.N, s.T0, s.T1 = e.N, e.At, e.At
	return s
}

// briefest is how long a name may be.
const briefest = 60

// brief cuts a text to the length of a name.
func brief(text string) string {
	r := []rune(prose.Visible(text))
	if len(r) <= briefest {
		return string(r)
	}
	return string(r[:briefest-1]) + "…"
}
