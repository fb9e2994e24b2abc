package chrome

import (
	"cmp"
	"fmt"
	"slices"

	"locksim/reports/scene"
	"locksim/sim/trace"
)

// drawMessages draws each message for as long as it is under way, on the track of its
// sender, with an arrow to the event of its arrival.
func (p *process) drawMessages() {
	p.drawReceives()
	messages := p.Messages()
	slices.SortStableFunc(messages, func(a, b scene.Message) int { return cmp.Compare(a.From, b.From) })
	for _, m := range messages {
		tid := p.slice(m.From+" sends", p.messageSlice(m))
		if !m.Lost {
			p.arrow(m, tid)
		}
	}
}

// drawReceives draws the moments at which a process reads received bytes.
func (p *process) drawReceives() {
	for _, e := range p.Run.Trace.Events {
		if m, ok := e.What.(trace.Receive); ok && p.LaneKind(e.Actor) != "" && !p.Hidden(e) {
			p.slice(e.Actor+" receives", receiveSlice(e, m))
		}
	}
}

func receiveSlice(e trace.Event, m trace.Receive) slice {
	s := slice{category: "recv", name: clipName(fmt.Sprintf("%s: %d bytes", e.Peer, m.Bytes)),
		args: map[string]any{"from": e.Peer}}
	s.Span = scene.Span{Step: e.N, Start: e.At, End: e.At}
	return s
}

func (p *process) messageSlice(m scene.Message) slice {
	text := ""
	if sent, ok := p.Run.Trace.Events[m.Step-1].What.(trace.Send); ok {
		text = string(sent.Content.AppendText(nil))
	}
	s := slice{Span: m.Span, category: string(m.Kind), name: clipName("to " + m.To + ": " + text),
		args: map[string]any{"to": m.To, "text": text}}
	if m.Lost {
		s.name = clipName("LOST, " + s.name)
		s.args["lost"] = true
	}
	return s
}

// arrow draws an arrow from a message to its arrival.
func (p *process) arrow(m scene.Message, tid int) {
	p.flows++
	start := event{Phase: phaseStart, TID: tid, Time: micros(m.Start), Category: "message", Name: "message", ID: p.flows}
	finish := start
	finish.Phase, finish.Bind = phaseFinish, "e"
	finish.TID, finish.Time = p.arrival(m), micros(m.End)
	p.add(start)
	p.add(finish)
}

// arrival is the line on which a message arrives. Moments are on the first line of
// their track.
func (p *process) arrival(m scene.Message) int {
	track := m.To
	if _, ok := p.Run.Trace.Events[m.Until-1].What.(trace.Receive); ok {
		track += " receives"
	}
	return p.rows[track][0].tid
}
