package html

import (
	"fmt"

	"locksim/checker"
)

// pictureView is one of porcupine's drawings on the page.
type pictureView struct {
	Title  string // for the frame, and who cannot see it
	Says   string
	Page   string // an Run page of its own; empty where there is none
	Why    string // it is not there
	Height int    // of the frame, in pixels
}

// maxPictures bounds the bytes of all drawings of a page.
const maxPictures = 500_000

// gallery hands out the room that there is for drawings.
type gallery struct{ room int }

// hang adds the drawings of a run to the evidence. A history that cannot be drawn
// has been judged all the same: the page then says so.
func (g *gallery) hang(p *evidencePart, h checker.History) {
	all, err := checker.Pictures(h)
	if err != nil {
		p.Pictures = []pictureView{{Says: "its searches", Why: err.Error()}}
		return
	}
	for _, drawn := range all {
		p.Pictures = append(p.Pictures, g.view(drawn, p.Name()))
	}
}

func (g *gallery) view(drawn checker.Picture, modes string) pictureView {
	found := "no order found"
	if drawn.Ordered {
		found = "an order found"
	}
	v := pictureView{
		Title: fmt.Sprintf("Porcupine’s drawing of %s, mode %s: %s", drawn.Name, modes, found),
		Says:  drawn.Name + ": " + found,
		Why:   drawn.Omitted,
	}
	switch n := len(drawn.Page); {
	case v.Why != "":
		v.Says = drawn.Name
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
