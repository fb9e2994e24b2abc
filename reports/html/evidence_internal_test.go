package html

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
)

var balance = checker.Cell{Resource: "order", Register: "balance"}

func write(id, saw string, outcome checker.Outcome, applied checker.Pos, accepted bool) checker.Op {
	return checker.Op{ID: id, Client: id[:2], Resource: "order", Register: "balance", Kind: checker.Write, Invoked: 1,
		Applied:  applied,
		Accepted: accepted, Outcome: outcome, Saw: saw}
}

// The path leads back from the final value; each other write has its fate.
func TestFates(t *testing.T) {
	h := checker.History{Final: map[checker.Cell]string{balance: "c1.w3"}, Ops: []checker.Op{
		write("c0.w1", "", checker.OutcomeOK, 2, true),
		write("c0.w2", "", checker.OutcomeOK, 3, true),
		write("c1.w3", "c0.w1", checker.OutcomeUnknown, 4, true),
		write("c1.w4", "c0.w1", checker.OutcomeRefused, 5, false),
		write("c1.w5", "c0.w1", checker.OutcomeUnknown, 6, true),
		write("c1.w6", "c0.w1", checker.OutcomeUnknown, 0, false),
		{ID: "c0.r9", Kind: checker.Read, Resource: "order", Register: "balance", Outcome: checker.OutcomeOK},
		{ID: "c0.w9", Client: "c0", Kind: checker.Write, Resource: "order", Register: "audit", Outcome: checker.OutcomeOK},
	}}
	c := cellsOf(h)[0]
	if d := cmp.Diff([]string{"c0.w1", "c1.w3"}, c.Path); d != "" {
		t.Errorf("path (-want +got):\n%s", d)
	}
	var got []string
	for _, w := range c.Writes {
		got = append(got, fmt.Sprintf("%s %s %v", w.ID, w.Fate, w.Lost))
	}
	want := []string{"c1.w6 never arrived false", "c0.w1 on the path false", "c0.w2 acknowledged, and lost true",
		"c1.w3 on the path false",
		"c1.w4 refused false", "c1.w5 taken and unanswered, not on the path false"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("writes (-want +got):\n%s", d)
	}
}

// The path of a circular history is finite.
func TestPathOfACircle(t *testing.T) {
	h := checker.History{Final: map[checker.Cell]string{balance: "c0.w1"}, Ops: []checker.Op{
		write("c0.w1", "c0.w2", checker.OutcomeOK, 2, true), write("c0.w2", "c0.w1", checker.OutcomeOK, 3, true)}}
	if d := cmp.Diff([]string{"c0.w2", "c0.w1"}, pathTo(h, balance)); d != "" {
		t.Errorf("path (-want +got):\n%s", d)
	}
}

// Of many writes the lost ones are shown.
func TestManyWritesShowLostOnes(t *testing.T) {
	h := checker.History{Final: map[checker.Cell]string{}}
	saw := ""
	for i := range 200 {
		id := fmt.Sprintf("c0.w%d", i)
		h.Ops = append(h.Ops, write(id, saw, checker.OutcomeOK, checker.Pos(i+2), true))
		saw = id
	}
	h.Ops = append(h.Ops, write("c1.w0", "c0.w150", checker.OutcomeOK, 300, true))
	h.Final[balance] = saw
	c := cellsOf(h)[0]
	if last := c.Writes[len(c.Writes)-1]; len(c.Writes) != maxWrites || c.Omitted != 201-maxWrites || last.ID != "c1.w0" ||
		!last.Lost {
		t.Errorf("%d writes are shown, %d omitted, the last is %+v", len(c.Writes), c.Omitted, last)
	}
	if len(c.Path) != maxPath || c.PathCut != 200-maxPath || c.Path[maxPath-1] != saw {
		t.Errorf("the path has %d writes, %d are cut, and it ends in %s", len(c.Path), c.PathCut, c.Path[len(c.Path)-1])
	}
}

// A drawing is shown while there is space for it; one that is left out has the reason.
func TestPictureSpace(t *testing.T) {
	g := pictureSpace{room: 100}
	for _, tt := range []struct {
		drawn checker.Picture
		want  pictureView
	}{
		{checker.Picture{Name: "order/balance", Page: bytes.Repeat([]byte("x"), 80), Rows: 3},
			pictureView{Title: "Porcupine’s drawing of order/balance, mode none: no order found",
				Summary: "order/balance: no order found", Page: strings.Repeat("x", 80), Height: 230}},
		{checker.Picture{Name: "order", Page: bytes.Repeat([]byte("x"), 80), Ordered: true, Rows: 99},
			pictureView{Title: "Porcupine’s drawing of order, mode none: an order found", Summary: "order: an order found",
				Why: "the drawings above it use all the space for drawings"}},
		{checker.Picture{Name: "order", Page: []byte("twenty bytes, and one"), Ordered: true, Rows: 99},
			pictureView{Title: "Porcupine’s drawing of order, mode none: an order found", Summary: "order: an order found",
				Why: "the drawings above it use all the space for drawings"}},
		{checker.Picture{Name: "order", Page: []byte("twenty"), Rows: 99},
			pictureView{Title: "Porcupine’s drawing of order, mode none: no order found", Summary: "order: no order found",
				Page: "twenty", Height: 600}},
		{checker.Picture{Name: "order", Omitted: "it is too large"},
			pictureView{Title: "Porcupine’s drawing of order, mode none: no order found", Summary: "order",
				Why: "it is too large"}},
	} {
		if got := g.view(tt.drawn, "none"); got != tt.want {
			t.Errorf("got %+v\nwant %+v", got, tt.want)
		}
	}
	var p evidencePart
	g.addPictures(&p, checker.History{Grants: []checker.Grant{{}}})
	if len(p.Pictures) != 1 || p.Pictures[0].Page != "" || !strings.Contains(p.Pictures[0].Why, "malformed") {
		t.Errorf("a history that cannot be drawn: %+v", p.Pictures)
	}
}
