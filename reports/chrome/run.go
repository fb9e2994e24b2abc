package chrome

import (
	"fmt"
	"time"

	"locksim/internal/prose"
	"locksim/reports/scene"
	"locksim/scenarios/outcome"
	"locksim/sim/trace"
)

func (c *traceFile) process(m *outcome.ModeRun) {
	s := scene.New(m)
	s.End = max(s.End, time.Millisecond)
	c.runs++
	p := &process{traceFile: c, Scene: s, pid: c.runs, rows: map[string][]*row{}}
	faults, periods, marks := p.Faults(), p.Periods(), p.Marks()
	p.story()
	for _, l := range p.Lanes() {
		switch l.Kind {
		case scene.LaneClient:
			p.client(l.Name, periods, faults, marks)
		case scene.LaneRecord:
			p.lockHolders(periods)
		default:
			p.faults(l.Name, faults)
			p.moments(l.Name, marks)
			p.commands(l.Name)
		}
	}
	p.drawMessages()
	p.decision()
	p.writeNames()
}

// story draws the story, a moment for each of its steps.
func (p *process) story() {
	for _, line := range p.Run.Story {
		s := slice{category: "story", name: line.Actor + " " + line.Text}
		s.Step, s.Start = line.N, line.At
		p.instant("story", s)
	}
}

// client draws the waits, beliefs, claims and faults of a client.
//
// A wait ends where a belief begins. Waits have a separate track: a viewer that
// adds a duration to a time in floating-point numbers could compute that a wait and a
// belief overlap.
func (p *process) client(name string, periods []scene.Period, faults []scene.Fault, marks []scene.Mark) {
	var waits, all []slice
	for _, w := range periods {
		s := slice{Span: w.Span, category: string(w.Kind), name: periodName(w), args: map[string]any{"detail": w.Description}}
		switch {
		case w.Lane != name:
		case w.Kind == scene.Wait:
			waits = append(waits, s)
		default:
			all = append(all, s)
		}
	}
	p.slices(name+" asks", waits)
	p.slices(name, all)
	p.moments(name, marks)
	p.faults(name, faults)
}

// periodName is the name of a period, which says its kind: viewers choose the
// colours.
func periodName(w scene.Period) string {
	switch w.Kind {
	case scene.Claim:
		return "claim: " + w.Text
	case scene.Belief:
		return "believes that it has the lock"
	}
	return "asks for the lock"
}

// lockHolders draws who had the lock by the nodes' own record.
func (p *process) lockHolders(periods []scene.Period) {
	var all []slice
	for _, w := range periods {
		if w.Lane == scene.RecordLane {
			all = append(all, slice{Span: w.Span, category: "record", name: w.Text,
				args: map[string]any{"detail": w.Description}})
		}
	}
	p.slices("lock, by the nodes' record", all)
}

// faults draws the faults of a client or a node.
func (p *process) faults(name string, faults []scene.Fault) {
	var all []slice
	for _, f := range faults {
		s := slice{Span: f.Span, category: "fault", name: f.Text, args: map[string]any{"kind": f.Kind}}
		switch {
		case f.Lane != name:
		case f.Moment:
			p.instant(name+" faults", s)
		default:
			all = append(all, s)
		}
	}
	p.slices(name+" faults", all)
}

// moments draws the marks of a client or a node.
func (p *process) moments(name string, marks []scene.Mark) {
	for _, m := range marks {
		if m.Lane == name {
			p.instant(name, slice{Span: m.Span, category: string(m.Kind), name: m.Description})
		}
	}
}

// decision marks the decisive step through the whole process.
func (p *process) decision() {
	if d := p.Decision(); d != nil {
		p.add(event{Phase: phaseInstant, Time: micros(d.At), Category: "decision", Name: d.Text, Scope: "p",
			Args: map[string]any{"step": d.Step, "label": string(p.Run.Verdict.Label)}})
	}
}

// commands draws the commands of a node with their answers.
func (p *process) commands(node string) {
	for _, e := range p.Run.Trace.Events {
		if e.Actor != node || p.Hidden(e) {
			continue
		}
		switch e.What.(type) {
		case trace.Exec, trace.Decision:
			p.slice(node, commandSlice(e))
		}
	}
}

func commandSlice(e trace.Event) slice {
	s := slice{category: e.Kind(), name: clipName(fmt.Sprintf("%s: %s", e.Peer, e.Text())),
		args: map[string]any{"for": e.Peer, "text": e.Text()}}
	s.Span = scene.Span{Step: e.N, Start: e.At, End: e.At}
	return s
}

// maxName is the largest length of a name, in characters.
const maxName = 60

// clipName cuts a text to the length of a name.
func clipName(text string) string {
	r := []rune(prose.Visible(text))
	if len(r) <= maxName {
		return string(r)
	}
	return string(r[:maxName-1]) + "…"
}
