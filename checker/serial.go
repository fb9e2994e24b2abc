package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// serial checks that the whole sections of one resource are serializable: that
// one order of them explains what each read and wrote in every cell, and
// respects real time. The order of one cell's writes is known, so this is the
// search for a cycle in the graph of precedence, in linear time after sorting.
//
// A section that wrote nothing is not part of that order, even if it read one
// cell before another section and one after it: a client that was stopped in
// time has done no harm with what it read. If it is not stopped, one of its
// writes or of the other section's is lost.
type serial struct {
	sections []guardedSection
	cells    map[Cell]*cellCheck
	writer   map[string]int // by the id of the write: its section
	// before has for each section, and after them for each instant, what must
	// precede it. Instants are in the order of time: a section comes after the
	// instant of its beginning and before that of its end, which expresses real
	// time completely.
	before   [][]link
	instants []instant
}

// link says that first precedes something else. Unless the cause is real time,
// seen and write are the cause: write wrote, or replaced, the value that seen
// saw.
type link struct {
	first       int
	seen, write *Op
}

// instant is the beginning or the end of a section.
type instant struct {
	at      Pos
	section int
	ends    bool
}

// newSerial expects sections that took effect as a whole, or not at all.
func newSerial(sections []guardedSection, cells map[Cell]*cellCheck) *serial {
	s := &serial{cells: cells, writer: make(map[string]int)}
	for _, g := range sections {
		if len(g.writes) == 0 || !cells[g.writes[0].cell()].kept(g.writes[0].ID) {
			continue
		}
		for _, w := range g.writes {
			s.writer[w.ID] = len(s.sections)
		}
		s.sections = append(s.sections, g)
	}
	s.before = make([][]link, len(s.sections), 3*len(s.sections))
	for i := range s.sections {
		s.linkData(i)
	}
	s.linkTime()
	return s
}

// kept reports whether a value is on the path.
func (k *cellCheck) kept(id string) bool { _, on := k.slot[id]; return on }

// linkData puts a section after those whose writes it saw, and before those
// that replaced what it saw.
func (s *serial) linkData(i int) {
	for _, o := range s.sections[i].ops {
		k := s.cells[o.cell()]
		slot, on := k.slot[o.Saw]
		if !on || o.Outcome != OutcomeOK && o.Kind == Read {
			continue
		}
		if slot > 0 {
			s.link(link{s.writer[o.Saw], o, k.path[slot-1].op}, i)
		}
		if slot < len(k.path) {
			next := k.path[slot].op
			s.link(link{i, o, next}, s.writer[next.ID])
		}
	}
}

func (s *serial) link(l link, second int) {
	if l.first != second {
		s.before[second] = append(s.before[second], l)
	}
}

// linkTime adds the instants. At one position beginnings precede ends, so that
// sections which only touch may come in either order.
func (s *serial) linkTime() {
	for i, g := range s.sections {
		s.instants = append(s.instants, instant{at: g.begin(), section: i})
		if end := g.end(); end < never {
			s.instants = append(s.instants, instant{at: end, section: i, ends: true})
		}
	}
	slices.SortFunc(s.instants, byTime)
	for n, t := range s.instants {
		node := len(s.before)
		s.before = append(s.before, nil)
		if n > 0 {
			s.link(link{first: node - 1}, node)
		}
		if t.ends {
			s.link(link{first: t.section}, node)
		} else {
			s.link(link{first: node}, t.section)
		}
	}
}

func byTime(a, b instant) int {
	switch {
	case a.at != b.at:
		return cmp.Compare(a.at, b.at)
	case a.ends != b.ends && b.ends:
		return -1
	case a.ends != b.ends:
		return 1
	}
	return cmp.Compare(a.section, b.section)
}

func (s *serial) run(wrong *tally) {
	if left := s.unordered(); left != nil {
		wrong.add(func() Reason { return s.reason(s.cycle(left)) })
	}
}

// unordered removes nodes without a predecessor as long as there are any, and
// returns the others: nil if there is an order.
func (s *serial) unordered() []bool {
	after := make([][]int, len(s.before))
	waits := make([]int, len(s.before))
	var free []int
	for node, links := range s.before {
		for _, l := range links {
			after[l.first] = append(after[l.first], node)
		}
		if waits[node] = len(links); len(links) == 0 {
			free = append(free, node)
		}
	}
	for n := 0; n < len(free); n++ {
		for _, node := range after[free[n]] {
			if waits[node]--; waits[node] == 0 {
				free = append(free, node)
			}
		}
	}
	if len(free) == len(waits) {
		return nil
	}
	left := make([]bool, len(waits))
	for node, n := range waits {
		left[node] = n > 0
	}
	return left
}

// cycle walks back through the remaining nodes until it reaches one again. It
// returns the links of the cycle, the latest first, each with its second node.
func (s *serial) cycle(left []bool) []edge {
	node := slices.Index(left, true)
	var walked []edge
	for at := make(map[int]int); ; {
		if from, met := at[node]; met {
			return walked[from:]
		}
		at[node] = len(walked)
		i := slices.IndexFunc(s.before[node], func(l link) bool { return left[l.first] })
		walked = append(walked, edge{s.before[node][i], node})
		node = s.before[node][i].first
	}
}

// edge is a link with its second node.
type edge struct {
	link
	second int
}

// reason describes a cycle in a sentence. A run of links of real time gives one
// clause, at its end: that a section had ended before another began.
func (s *serial) reason(circle []edge) Reason {
	r := Reason{}
	var clauses []string
	slices.Reverse(circle)
	// Begin at a link from a section, so that no run of instants is split.
	first := slices.IndexFunc(circle, func(st edge) bool { return st.first < len(s.sections) })
	circle = slices.Concat(circle[first:], circle[:first])
	ended := 0
	for _, st := range circle {
		switch {
		case st.seen != nil:
			text, at := dataClause(st.link, s.sections[st.second])
			clauses, r.At = append(clauses, text), append(r.At, at...)
		case st.first < len(s.sections):
			ended = st.first
		case st.second < len(s.sections):
			a, b := s.sections[ended], s.sections[st.second]
			clauses = append(clauses, fmt.Sprintf("%s's section had ended at step %d, before %s's began at step %d",
				a.grant.Client, a.end(), b.grant.Client, b.begin()))
			r.At = append(r.At, a.end(), b.begin())
		}
	}
	r.Text = fmt.Sprintf("No order of the whole sections explains what %s held: %s.", s.sections[0].grant.Resource,
		strings.Join(clauses, "; "))
	return r
}

// dataClause says why one section precedes another, second.
func dataClause(l link, second guardedSection) (string, []Pos) {
	found := "found"
	if l.seen.Kind == Write {
		found = "is based on"
	}
	text := fmt.Sprintf("%s of %s %s ", describe(*l.seen), l.seen.cell(), found)
	if slices.Contains(second.ops, l.seen) {
		text += describe(*l.write)
	} else {
		text += fmt.Sprintf("%s, which %s replaced", value(l.seen.Saw), describe(*l.write))
	}
	return text, []Pos{l.seen.step(), l.write.step()}
}
