package markdown

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/reports/scene"
	"locksim/scenarios/outcome"
	"locksim/sim/trace"
)

// seqRows finds the rows of the sequence diagram of a run: each request that a server
// or the store executed, with its answer, equal ones in succession once; and as notes
// the other steps of the clients, the faults, and the keys that expire.
type seqRows struct {
	*scene.Scene
	lines   map[int]outcome.Line  // the story, by step
	arrived map[int]scene.Message // the requests, by the step of their arrival
	sent    map[int]scene.Message // all messages, by the step of their sending
	last    map[string]int        // the last row of a client with a node
	rows    []seqRow
}

func newSeqRows(s *scene.Scene) []seqRow {
	c := &seqRows{Scene: s, lines: map[int]outcome.Line{}, arrived: map[int]scene.Message{}, sent: map[int]scene.Message{},
		last: map[string]int{}}
	for _, l := range s.Run.Story {
		c.lines[l.N] = l
	}
	for _, m := range s.Messages() {
		c.sent[m.Step] = m
		if _, known := c.arrived[m.Until]; m.Kind == scene.Request && !m.Lost && !known {
			c.arrived[m.Until] = m
		}
	}
	for _, e := range s.Run.Trace.Events {
		c.addEvent(e)
	}
	slices.SortStableFunc(c.rows, func(a, b seqRow) int { return a.n - b.n })
	return c.rows
}

func (c *seqRows) addEvent(e trace.Event) {
	if c.Hidden(e) {
		return
	}
	switch m := e.What.(type) {
	case trace.Exec:
		c.exec(e, m)
	case trace.Decision:
		c.store(e, m)
	case trace.Send:
		c.send(e, m)
	case trace.Expire:
		c.note(e, m.Key+" expires", e.Actor)
	default:
		c.storyStep(e)
	}
}

// exec adds the row of a command that a server executed.
func (c *seqRows) exec(e trace.Event, m trace.Exec) {
	command := shortRequest(m.Request, m.Answer)
	if command == "" || !c.areLanes(e.Actor, e.Peer) {
		return
	}
	r := c.request(e, command, answered(m.Answer))
	if who := c.otherHolder(e, m.Answer); who != "" {
		r.text += ", and by the nodes’ record " + who + " has the lock"
	}
	between := e.Peer + ">" + e.Actor
	if i, known := c.last[between]; known && alikeRows(c.rows[i], r) {
		c.rows[i].times++
		c.rows[i].until = e.At
		return
	}
	c.last[between] = len(c.rows)
	c.rows = append(c.rows, r)
}

// alikeRows reports whether a request was made again and answered as before.
func alikeRows(a, b seqRow) bool {
	return a.text == b.text && a.answer == b.answer && a.answerLost == b.answerLost && a.fatal == "" && b.fatal == "" &&
		!b.late()
}

// store adds the row of an operation that the store decided.
func (c *seqRows) store(e trace.Event, d trace.Decision) {
	if !c.areLanes(e.Actor, e.Peer) {
		return
	}
	r := c.request(e, d.Brief(), storeAnswer(d))
	if r.late() {
		c.rows = append(c.rows, seqRow{n: c.arrived[e.N].Step, at: r.sent, note: true, over: []string{e.Peer},
			text: "sends " + d.Brief() + ", on its way until " + prose.Seconds(e.At)})
	}
	c.rows = append(c.rows, r)
}

// request is the row of a request that arrived with an event.
func (c *seqRows) request(e trace.Event, text, answer string) seqRow {
	r := seqRow{n: e.N, at: e.At, sent: e.At, over: []string{e.Peer, e.Actor}, text: text, answer: answer, times: 1,
		fatal: c.decision(e)}
	if m, ok := c.arrived[e.N]; ok {
		r.sent = m.Start
	}
	if m, ok := c.sent[e.N+1]; ok && m.From == e.Actor && m.To == e.Peer {
		r.answerLost = m.Lost
	}
	return r
}

// otherHolder is the client that has the lock by the nodes' record, where a command of
// another client succeeded that does not acquire the lock.
func (c *seqRows) otherHolder(e trace.Event, answer trace.Content) string {
	p := checker.Pos(e.N)
	holder := c.Holder(p - 1)
	if a, ok := answer.(trace.Answer); ok && a.Negative() || holder == "" || holder == e.Peer {
		return ""
	}
	if c.acquiring(e.Peer, p) || c.ownKey(p) {
		return ""
	}
	return holder
}

// ownKey reports whether a client deleted at this step a key that it had set itself, as
// one of a majority.
func (c *seqRows) ownKey(p checker.Pos) bool {
	return slices.ContainsFunc(c.Run.History.Deletions, func(d checker.Deletion) bool {
		return d.At == p &&
			d.Owner == d.By
	})
}

func (c *seqRows) acquiring(client string, p checker.Pos) bool {
	h := c.Run.History
	return slices.ContainsFunc(h.Grants, func(g checker.Grant) bool {
		return g.Client == client && g.Invoked <= p &&
			p < g.Granted
	}) ||
		slices.ContainsFunc(h.Attempts, func(a checker.Attempt) bool {
			return a.Client == client && a.Invoked <= p && (p < a.Returned || a.Returned == 0)
		})
}

// send adds the row of a request that never arrives. The others are shown at their
// arrival.
func (c *seqRows) send(e trace.Event, sent trace.Send) {
	m, ok := c.sent[e.N]
	if !ok || !m.Lost || m.Kind != scene.Request || !c.areLanes(e.Actor, e.Peer) {
		return
	}
	command := shortRequest(sent.Content, nil)
	if command == "" {
		return
	}
	c.rows = append(c.rows, seqRow{n: e.N, at: e.At, sent: e.At, over: []string{e.Actor, e.Peer}, text: command,
		lost: true, times: 1, fatal: c.decision(e)})
}

// shownAsRequest reports whether the requests and answers show a step of a story
// already.
func shownAsRequest(e trace.Event) bool {
	m, ok := e.What.(trace.Mark)
	if !ok {
		return false
	}
	switch m.Step {
	case trace.Acquire, trace.Read, trace.Write, trace.InnerWrite:
		return true
	case trace.Released:
		return m.Problem == ""
	case trace.Written:
		return checker.Outcome(m.Outcome) == checker.OutcomeRefused
	}
	return false
}

// storyStep adds a note for a step of the story, and for the decisive step in any
// case.
func (c *seqRows) storyStep(e trace.Event) {
	l, ok := c.lines[e.N]
	if e.N != c.Fatal && (!ok || shownAsRequest(e)) {
		return
	}
	text := l.What
	switch {
	case !ok:
		text = strings.TrimSpace(e.Kind() + " " + e.Text())
	case l.Shared && !l.Fatal:
		text = l.Text
	}
	over := []string{e.Actor}
	if e.Actor == trace.World {
		over = slices.Clone(trace.Parties(e))
	}
	c.note(e, text, over...)
}

// note adds a note over those of the given names that have lanes.
func (c *seqRows) note(e trace.Event, text string, over ...string) {
	over = slices.DeleteFunc(over, func(name string) bool { return !c.areLanes(name) })
	if len(over) == 0 {
		return
	}
	slices.SortFunc(over, c.byLane)
	if len(over) > 2 {
		over = []string{over[0], over[len(over)-1]}
	}
	c.rows = append(c.rows, seqRow{n: e.N, at: e.At, note: true, over: slices.Compact(over), text: text,
		fatal: c.decision(e), shared: c.lines[e.N].Shared})
}

// decision is the text of the decisive step, "" for any other.
func (c *seqRows) decision(e trace.Event) string {
	if e.N != c.Fatal {
		return ""
	}
	text := c.Decision().Text
	if remark := c.lines[e.N].Remark; remark != "" {
		text += ": " + remark
	}
	return text
}

// laneName matches the names that a participant of a diagram may have.
var laneName = regexp.MustCompile(`^([a-z]+[0-9]+[a-z]?|probe)$`)

func (c *seqRows) areLanes(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		kind := c.LaneKind(name)
		return !laneName.MatchString(name) || kind == "" || kind == scene.LaneRecord
	})
}

// byLane orders lanes from left to right.
func (c *seqRows) byLane(a, b string) int { return c.column(a) - c.column(b) }

// column is the position of a lane.
func (c *seqRows) column(name string) int {
	return slices.IndexFunc(c.Lanes(), func(l scene.Lane) bool { return l.Name == name })
}

// seqRow is one row of a sequence diagram: a request with its answer, or a note.
type seqRow struct {
	n    int // the step
	at   time.Duration
	over []string // its lanes: for a request, the sender and the receiver
	text string
	note bool

	sent       time.Duration // when the request was sent
	lost       bool          // it never arrived
	answer     string        // "" for none
	answerLost bool          // the answer never arrived
	times      int           // how often in succession the request had this answer
	until      time.Duration // the last time
	branches   []seqBranch   // the answers in the modes that diverge here
	fatal      string        // the text of the decisive step, "" for another step
	shared     bool          // a grant at which another client had the lock already
}

// seqBranch is the answer of the store in some modes.
type seqBranch struct {
	modes  []fence.Mode
	answer string
	note   string
}

func (r seqRow) lines() []string {
	var lines []string
	switch {
	case r.note:
		lines = []string{fmt.Sprintf("Note over %s: %s", strings.Join(r.over, ","),
			mermaidLabel(prose.Seconds(r.at)+" "+r.text))}
	case r.lost:
		lines = []string{fmt.Sprintf("%s-x%s: %s", r.over[0], r.over[1],
			mermaidLabel(prose.Seconds(r.at)+" "+r.text+" (it never arrives)"))}
	default:
		lines = append([]string{fmt.Sprintf("%s->>%s: %s", r.over[0], r.over[1], mermaidLabel(r.request()))}, r.answers()...)
	}
	switch {
	case r.fatal == "" && r.shared:
		return append(append([]string{"rect " + sharedColour}, inset(lines)...), "end")
	case r.fatal == "":
		return lines
	}
	if len(r.branches) < 2 {
		lines = append(lines, r.remark(r.decision(r.fatal)))
	}
	return append(append([]string{"rect " + fatalColour}, inset(lines)...), "end")
}

func (r seqRow) decision(what string) string { return fmt.Sprintf("step %d, %s", r.n, what) }

// fatalColour is the background of the decisive step, light enough for dark and light
// pages. A note marks the step in words.
const fatalColour = "rgba(220, 50, 47, 0.2)"

// sharedColour is the background of a grant at which another client had the lock
// already. Its text says so too.
const sharedColour = "rgba(203, 145, 0, 0.2)"

// lateFrom is the time under way from which the diagram marks a request as late.
const lateFrom = 500 * time.Millisecond

func (r seqRow) request() string {
	text := prose.Seconds(r.at) + " " + r.text
	if r.late() {
		text += fmt.Sprintf(" (sent at %s)", prose.Seconds(r.sent))
	}
	return text
}

func (r seqRow) late() bool { return !r.note && r.at-r.sent >= lateFrom }

func (r seqRow) answers() []string {
	if len(r.branches) < 2 {
		return r.answered(r.answer)
	}
	var lines []string
	for i, b := range r.branches {
		word := "else"
		if i == 0 {
			word = "alt"
		}
		lines = append(lines, word+" mode "+mermaidText(strings.ReplaceAll(prose.Commas(b.modes), ", ", " or ")))
		inner := r.answered(b.answer)
		if b.note != "" {
			inner = append(inner, r.remark(b.note))
		}
		lines = append(lines, inset(inner)...)
	}
	return append(lines, "end")
}

func (r seqRow) answered(answer string) []string {
	if answer == "" {
		return nil
	}
	arrow := "-->>"
	if r.answerLost {
		arrow, answer = "--x", answer+" (the answer is lost)"
	}
	if r.times > 1 {
		answer += fmt.Sprintf(" (%d times, until %s)", r.times, prose.Seconds(r.until))
	}
	return []string{fmt.Sprintf("%s%s%s: %s", r.over[1], arrow, r.over[0], mermaidLabel(answer))}
}

// remark is a note over the receiver of the request.
func (r seqRow) remark(text string) string {
	return fmt.Sprintf("Note over %s: %s", r.over[len(r.over)-1], mermaidLabel(text))
}

func inset(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = "    " + line
	}
	return out
}

// branch adds to the rows of the first run the answers of the store in the other
// modes, at the step where these diverge from it.
func branch(rows []seqRow, first *scene.Scene, others []*scene.Scene) {
	parted := make([]int, len(others)) // from which step on
	for i, o := range others {
		parted[i] = math.MaxInt
		if d := trace.Diff(first.Run.Trace, o.Run.Trace); d != nil {
			parted[i] = d.N
		}
	}
	for i := range rows {
		r := &rows[i]
		if r.note || r.lost || r.over[1] != trace.Store || !slices.Contains(parted, r.n) {
			continue
		}
		r.branches = []seqBranch{{modes: []fence.Mode{first.Run.Mode}, answer: r.answer}}
		for j, o := range others {
			if parted[j] >= r.n {
				r.branch(o, first.Run.Trace.Events[r.n-1])
			}
		}
		if len(r.branches) > 1 && r.fatal != "" {
			r.branches[0].note = r.decision(r.fatal)
		}
	}
}

// branch adds the answer of one mode to the same request.
func (r *seqRow) branch(o *scene.Scene, e trace.Event) {
	if r.n > o.Run.Trace.Len() {
		return
	}
	mine, ok := e.What.(trace.Decision)
	other, same := o.Run.Trace.Events[r.n-1].What.(trace.Decision)
	if !ok || !same || !mine.Same(other) {
		return
	}
	answer := storeAnswer(other)
	i := slices.IndexFunc(r.branches, func(b seqBranch) bool { return b.answer == answer })
	if i >= 0 {
		r.branches[i].modes = append(r.branches[i].modes, o.Run.Mode)
		return
	}
	b := seqBranch{modes: []fence.Mode{o.Run.Mode}, answer: answer}
	if o.Fatal == r.n {
		b.note = r.decision(o.Decision().Text)
	}
	r.branches = append(r.branches, b)
}
