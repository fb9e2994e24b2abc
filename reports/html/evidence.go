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
	"locksim/scenarios/outcome"
)

// evidencePart shows for some modes which writes are in the final data.
type evidencePart struct {
	Modes  []fence.Mode
	Cells  []cellEvidence
	Second string // the result of porcupine, in words

	Pictures []pictureView // the drawings of porcupine
}

// cellEvidence is one register: the path of writes that leads to its final
// value, and all writes that were tried.
type cellEvidence struct {
	Cell    string
	Path    []string
	PathCut int // the number of writes at its beginning that are not shown
	Writes  []writeEvidence
	Omitted int
}

// writeEvidence is one write with its fate.
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

// newEvidence is the evidence of the runs. Runs with equal evidence share a part.
func newEvidence(o *outcome.Outcome) []evidencePart {
	var parts []evidencePart
	var histories []checker.History
	for _, m := range scene.Ran(o) {
		p := evidencePart{Modes: []fence.Mode{m.Mode}, Cells: cellsOf(m.History), Second: m.Corroboration.Why}
		i := slices.IndexFunc(parts, func(q evidencePart) bool {
			return q.Second == p.Second &&
				equalCells(q.Cells, p.Cells)
		})
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
	for _, cell := range slices.SortedFunc(maps.Keys(h.Final),
		func(a, b checker.Cell) int { return cmp.Compare(a.String(), b.String()) }) {
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
		delete(saw, id) // a path has a write once
		path, id = append(path, id), before
	}
	slices.Reverse(path)
	return path
}

// writesOf are the writes to a cell in the order of the trace. Of too many, it omits
// writes on the path first.
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
	Title   string // of the frame, for screen readers
	Summary string
	Page    string // the HTML page of the drawing, empty where there is none
	Why     string // why it is left out
	Height  int    // of the frame, in pixels
}

// maxPictures bounds the bytes of all drawings of a page.
const maxPictures = 500_000

// pictureSpace counts the bytes that remain for drawings.
type pictureSpace struct{ room int }

// addPictures adds the drawings of a run to the evidence. Where the history cannot be
// drawn, the page has the reason: the verdict does not depend on the drawings.
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
		v.Why = "the drawings above it use all the space for drawings"
	default:
		g.room -= n
		v.Page, v.Height = string(drawn.Page), frameHeight(drawn.Rows)
	}
	return v
}

// frameHeight is the height for the rows, the legend above them, and a scroll bar.
func frameHeight(rows int) int {
	const row, around, least = 45, 95, 200
	return max(least, min(rows*row+around, 600))
}
