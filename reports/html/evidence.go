package html

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/reports/scene"
	"locksim/scenarios/play"
)

// evidencePart is what the data of some modes came to, write by write.
type evidencePart struct {
	Modes  []fence.Mode
	Cells  []cellEvidence
	Second string // porcupine's opinion

	Pictures []pictureView // and what it has drawn
}

// cellEvidence is one register: the path of writes that leads to its final
// value, and all writes that were tried.
type cellEvidence struct {
	Cell    string
	Path    []string
	PathCut int // how many at its beginning are not shown
	Writes  []writeEvidence
	Omitted int
}

// writeEvidence is one write and what became of it.
type writeEvidence struct {
	ID, Client string
	Token      uint64
	Saw        string
	Step       checker.Pos
	Outcome    checker.Outcome
	Fate       string
	Lost       bool
}

// The limits of a table of writes and of a path.
const (
	maxWrites = 60
	maxPath   = 24
)

// newEvidence is the evidence of each run; runs of equal evidence share it.
func newEvidence(o *play.Outcome) []evidencePart {
	var parts []evidencePart
	var histories []checker.History
	for _, m := range scene.Ran(o) {
		p := evidencePart{Modes: []fence.Mode{m.Mode}, Cells: cellsOf(m.History), Second: m.Corroboration.Why}
		i := slices.IndexFunc(parts, func(q evidencePart) bool { return q.Second == p.Second && equalCells(q.Cells, p.Cells) })
		if i >= 0 {
			parts[i].Modes = append(parts[i].Modes, m.Mode)
			continue
		}
		parts, histories = append(parts, p), append(histories, m.History)
	}
	room := pictureSpace{maxPictures}
	for i := range parts {
		room.addPictures(&parts[i], histories[i])
	}
	return parts
}

func equalCells(a, b []cellEvidence) bool {
	return slices.EqualFunc(a, b, func(x, y cellEvidence) bool {
		return x.Cell == y.Cell && slices.Equal(x.Path, y.Path) && slices.Equal(x.Writes, y.Writes)
	})
}

// Name is the modes that it is the evidence of.
func (p evidencePart) Name() string { return prose.Commas(p.Modes) }

func cellsOf(h checker.History) []cellEvidence {
	var out []cellEvidence
	for _, cell := range slices.SortedFunc(maps.Keys(h.Final), func(a, b checker.Cell) int { return cmp.Compare(a.String(), b.String()) }) {
		path := pathTo(h, cell)
		c := cellEvidence{Cell: cell.String(), Path: path}
		if n := len(path) - maxPath; n > 0 {
			c.Path, c.PathCut = path[n:], n
		}
		c.Writes, c.Omitted = writesOf(h, cell, path)
		if len(c.Writes) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// pathTo walks back from the final value of a cell, through what each write had
// read, and returns the writes from first to last.
func pathTo(h checker.History, cell checker.Cell) []string {
	saw := map[string]string{}
	for _, op := range h.Ops {
		if op.Kind == checker.Write && op.Resource == cell.Resource && op.Register == cell.Register {
			saw[op.ID] = op.Saw
		}
	}
	var path []string
	for id := h.Final[cell]; id != ""; {
		before, known := saw[id]
		if !known {
			break
		}
		delete(saw, id) // a path does not come by twice
		path, id = append(path, id), before
	}
	slices.Reverse(path)
	return path
}

// writesOf are the writes to a cell in the order of the trace. Of many, those
// that are not on the path come first.
func writesOf(h checker.History, cell checker.Cell, path []string) (shown []writeEvidence, omitted int) {
	on := map[string]bool{}
	for _, id := range path {
		on[id] = true
	}
	var all []writeEvidence
	for _, op := range h.Ops {
		if op.Kind == checker.Write && op.Resource == cell.Resource && op.Register == cell.Register {
			all = append(all, writeOf(op, on[op.ID]))
		}
	}
	if n := len(all); n > maxWrites {
		slices.SortStableFunc(all, func(a, b writeEvidence) int { return boolOrder(on[a.ID], on[b.ID]) })
		all, omitted = all[:maxWrites], n-maxWrites
	}
	slices.SortStableFunc(all, func(a, b writeEvidence) int { return cmp.Compare(a.Step, b.Step) })
	return all, omitted
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func writeOf(op checker.Op, onPath bool) writeEvidence {
	w := writeEvidence{ID: op.ID, Client: op.Client, Token: op.Token, Saw: op.Saw, Outcome: op.Outcome, Step: op.Applied}
	if w.Step == 0 {
		w.Step = op.Invoked
	}
	switch {
	case onPath:
		w.Fate = "on the path"
	case op.Outcome == checker.OutcomeOK:
		w.Fate, w.Lost = "acknowledged, and lost", true
	case op.Applied > 0 && !op.Accepted:
		w.Fate = "refused"
	case op.Applied > 0:
		w.Fate = "taken and unanswered, not on the path"
	default:
		w.Fate = "never arrived"
	}
	return w
}

// pictureView is one of porcupine's drawings on the page.
type pictureView struct {
	Title   string // for the frame, and who cannot see it
	Summary string
	Page    string // an HTML page of its own; empty where there is none
	Why     string // it is not there
	Height  int    // of the frame, in pixels
}

// maxPictures bounds the bytes of all drawings of a page.
const maxPictures = 500_000

// gallery hands out the room that there is for drawings.
type pictureSpace struct{ room int }

// hang adds the drawings of a run to the evidence. A history that cannot be drawn
// has been judged all the same: the page then says so.
func (g *pictureSpace) addPictures(p *evidencePart, h checker.History) {
	all, err := checker.Pictures(h)
	if err != nil {
		p.Pictures = []pictureView{{Summary: "its searches", Why: err.Error()}}
		return
	}
	for _, drawn := range all {
		p.Pictures = append(p.Pictures, g.view(drawn, p.Name()))
	}
}

func (g *pictureSpace) view(drawn checker.Picture, modes string) pictureView {
	found := "no order found"
	if drawn.Ordered {
		found = "an order found"
	}
	v := pictureView{
		Title:   fmt.Sprintf("Porcupine’s drawing of %s, mode %s: %s", drawn.Name, modes, found),
		Summary: drawn.Name + ": " + found,
		Why:     drawn.Omitted,
	}
	switch n := len(drawn.Page); {
	case v.Why != "":
		v.Summary = drawn.Name
	case n > g.room:
		v.Why = "the drawings before it take all the room of this page"
	default:
		g.room -= n
		v.Page, v.Height = string(drawn.Page), frameHeight(drawn.Rows)
	}
	return v
}

// frameHeight has room for the rows, the legend above them, and a scroll bar.
func frameHeight(rows int) int {
	const row, around, least = 45, 95, 200
	return max(least, min(rows*row+around, 600))
}
