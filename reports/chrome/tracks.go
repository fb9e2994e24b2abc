package chrome

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"locksim/reports/scene"
)

// process builds the tracks of a run.
type process struct {
	*traceFile
	*scene.Scene
	pid   int
	rows  map[string][]*row // of each track, by its name
	names []string          // of the rows: the thread ids count them from 1
}

// row is one line of a track. The format requires that the slices of a line nest:
// slices that overlap in any other way are on different lines.
type row struct {
	tid  int
	open []time.Duration // the ends of the open slices, the innermost last
}

// row is the first line of a track on which a slice fits. Slices must come in the
// order in which they begin.
func (p *process) row(track string, from, to time.Duration) *row {
	for _, r := range p.rows[track] {
		for len(r.open) > 0 && r.open[len(r.open)-1] <= from {
			r.open = r.open[:len(r.open)-1]
		}
		if len(r.open) == 0 || to <= r.open[len(r.open)-1] {
			return r
		}
	}
	return p.newRow(track)
}

func (p *process) newRow(track string) *row {
	name := track
	if n := len(p.rows[track]); n > 0 {
		name = fmt.Sprintf("%s (%d)", track, n+1)
	}
	p.names = append(p.names, name)
	r := &row{tid: len(p.names)}
	p.rows[track] = append(p.rows[track], r)
	return r
}

// slice is a span of time, or a moment, on a track.
type slice struct {
	scene.Span
	category, name string
	args           map[string]any
}

// momentLength is the length of a moment that is drawn as a slice: the format has
// arrows between slices only.
const momentLength = time.Nanosecond

func (p *process) slices(track string, all []slice) {
	slices.SortStableFunc(all,
		func(a, b slice) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
	for _, s := range all {
		p.slice(track, s)
	}
}

func (p *process) slice(track string, s slice) int {
	to := max(s.End, s.Start+momentLength)
	r := p.row(track, s.Start, to)
	r.open = append(r.open, to)
	p.add(event{Phase: phaseSlice, TID: r.tid, Time: micros(s.Start), Duration: micros(to - s.Start),
		Category: s.category, Name: s.name, Args: s.steps()})
	return r.tid
}

// steps are the arguments of a slice with the steps that began and ended it.
func (s slice) steps() map[string]any {
	args := map[string]any{"step": s.Step}
	if s.Until > 0 {
		args["until step"] = s.Until
	}
	for name, value := range s.args {
		args[name] = value
	}
	return args
}

// instant draws a moment on the first line of a track.
func (p *process) instant(track string, s slice) {
	if len(p.rows[track]) == 0 {
		p.newRow(track)
	}
	p.add(event{Phase: phaseInstant, TID: p.rows[track][0].tid, Time: micros(s.Start), Category: s.category, Name: s.name,
		Scope: "t", Args: s.steps()})
}

func (p *process) add(e event) {
	e.PID = p.pid
	p.events = append(p.events, e)
}

// writeNames writes the names and the order of the process and its lines.
func (p *process) writeNames() {
	m := p.Run
	p.metadata("process_name", 0, "name", fmt.Sprintf("mode %s: %s", m.Mode, m.Verdict.Label))
	p.metadata("process_sort_index", 0, "sort_index", p.pid)
	for i, name := range p.names {
		p.metadata("thread_name", i+1, "name", name)
		p.metadata("thread_sort_index", i+1, "sort_index", i+1)
	}
}

func (p *process) metadata(what string, tid int, key string, value any) {
	p.add(event{Phase: phaseName, TID: tid, Name: what, Args: map[string]any{key: value}})
}
