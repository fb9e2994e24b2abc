package markdown

import (
	"fmt"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/reports/scene"
	"locksim/sim/trace"
)

// diagram is the section with the story as a mermaid sequence diagram.
func (m *report) diagram() []string {
	if m.rows == 0 || len(m.scenes) == 0 {
		return nil
	}
	diagram := m.mermaid()
	if len(diagram) == 0 {
		return nil
	}
	mode := literal(string(m.storyScene().Run.Mode))
	lines := []string{
		"## The story", "",
		fmt.Sprintf("The run in mode %s. The bar on a client’s line says that it believes that it holds the lock. Requests "+
			"that are made again", mode),
		"and answered as before are drawn once.", "",
	}
	lines = append(lines, fenced("mermaid", strings.Join(diagram, "\n"))...)
	var parts []string // live runs differ from the first step on
	if m.o.Live == nil {
		parts = scene.Divergences(m.scenes)
	}
	if len(parts) > 0 {
		lines = append(lines, "")
	}
	for _, text := range parts {
		lines = append(lines, "- "+m.text(text))
	}
	return lines
}

// storyScene is the scene of the run whose story the report shows.
func (m *report) storyScene() *scene.Scene {
	run := scene.StoryRun(m.o)
	i := slices.IndexFunc(m.scenes, func(s *scene.Scene) bool { return s.Run == run })
	return m.scenes[max(i, 0)]
}

// draw finds all rows of the diagram. A page shows as many as fit.
func (m *report) draw() {
	if len(m.scenes) == 0 {
		return
	}
	s := m.storyScene()
	m.drawing = newSeqRows(s)
	branch(m.drawing, s, slices.DeleteFunc(slices.Clone(m.scenes), func(o *scene.Scene) bool { return o == s }))
}

// mermaid are the lines of the diagram, nil for a run without rows.
func (m *report) mermaid() []string {
	s, rows := m.storyScene(), m.drawing
	if len(rows) == 0 {
		return nil
	}
	head, from, end := chooseRows(rows, s.Fatal, m.rows)
	shown := append(slices.Clone(rows[:head]), rows[from:end]...)
	q := &sequence{Scene: s, bars: map[string]int{}}
	q.add("    accTitle: "+mermaidText(fmt.Sprintf("What happened in mode %s", s.Run.Mode)), "    accDescr: "+
		mermaidText(describe(s)))
	q.participants(shown)
	q.rows(rows[:head])
	q.leftOut(rows[head:from])
	q.rows(rows[from:end])
	q.leftOut(rows[end:])
	q.updateBars(0)
	return append([]string{"sequenceDiagram"}, q.lines...)
}

// describe is the diagram in a sentence or two, for screen readers.
func describe(s *scene.Scene) string {
	text := fmt.Sprintf("Requests, answers and faults in the order of time. The run ended %s", s.Run.Verdict.Label)
	if s.Fatal > 0 {
		text += fmt.Sprintf(", decided at step %d, at %s", s.Fatal, prose.Seconds(s.At(checker.Pos(s.Fatal))))
	}
	return text + ". The table below has the same steps in words."
}

// maxAftermath is the largest number of rows after the decisive step: a release at
// five nodes takes five.
const maxAftermath = 12

// chooseRows chooses at most n rows: the opening, and the rows before and after the
// decisive step. Without such a step it chooses the beginning.
func chooseRows(rows []seqRow, step, n int) (head, from, end int) {
	at := slices.IndexFunc(rows, func(r seqRow) bool { return r.n == step })
	if at < 0 {
		head = min(len(rows), n)
		return head, head, head
	}
	end = min(len(rows), at+1+min(maxAftermath, n/4))
	head = min(scene.Opening, n/4, end)
	return head, max(head, end-(n-head)), end
}

// sequence writes a diagram.
type sequence struct {
	*scene.Scene
	bars  map[string]int // the number of open bars of a client
	lines []string
}

func (q *sequence) add(lines ...string) { q.lines = append(q.lines, lines...) }

// participants writes the clients, and the servers and the probe if they are in the
// rows.
func (q *sequence) participants(rows []seqRow) {
	part := map[string]bool{}
	for _, r := range rows {
		for _, name := range r.over {
			part[name] = true
		}
	}
	for _, l := range q.Lanes() {
		if laneName.MatchString(l.Name) && (part[l.Name] || l.Kind == scene.LaneClient && l.Name != trace.Probe) {
			q.add("    participant " + l.Name + " as " + participant(l))
		}
	}
}

// participant is the name at the head of a lane.
func participant(l scene.Lane) string {
	switch {
	case l.Redis:
		return "Redis " + l.Name
	case l.Kind == scene.LaneServer:
		return "server " + l.Name
	}
	return string(l.Kind) + " " + l.Name
}

func (q *sequence) rows(rows []seqRow) {
	for _, r := range rows {
		q.add(inset(r.lines())...)
		q.updateBars(checker.Pos(r.n))
	}
}

// leftOut writes a notice for rows that are not shown.
func (q *sequence) leftOut(rows []seqRow) {
	if len(rows) == 0 {
		return
	}
	q.add("    Note over " + q.whole() + ": … " + prose.Count(len(rows), "row") + " left out")
	q.updateBars(checker.Pos(rows[len(rows)-1].n))
}

// whole is the first and the last participant, for a note over all.
func (q *sequence) whole() string {
	var names []string
	for _, line := range q.lines {
		if name, ok := strings.CutPrefix(line, "    participant "); ok {
			name, _, _ = strings.Cut(name, " ")
			names = append(names, name)
		}
	}
	if len(names) == 1 {
		return names[0]
	}
	return names[0] + "," + names[len(names)-1]
}

// updateBars opens and closes bars, so that each client has one for each grant in
// which it believes after a step. Step 0 is the end of the diagram: it closes all.
func (q *sequence) updateBars(p checker.Pos) {
	for _, c := range q.Clients {
		if !laneName.MatchString(c) {
			continue
		}
		want := 0
		for _, g := range q.Run.History.Grants {
			if p > 0 && g.Client == c && g.Belief(q.Run.History.Care).Contains(p) {
				want++
			}
		}
		for ; q.bars[c] < want; q.bars[c]++ {
			q.add("    activate " + c)
		}
		for ; q.bars[c] > want; q.bars[c]-- {
			q.add("    deactivate " + c)
		}
	}
}
