package html

import (
	"bytes"
	"strings"
	"testing"

	"locksim/checker"
)

// A drawing has its frame as long as there is room for it; what is left out says
// why.
func TestGalleryHasRoom(t *testing.T) {
	g := gallery{room: 100}
	for _, tt := range []struct {
		drawn checker.Picture
		want  pictureView
	}{
		{checker.Picture{Name: "order/balance", Page: bytes.Repeat([]byte("x"), 80), Rows: 3},
			pictureView{Title: "Porcupine’s drawing of order/balance, mode none: no order found", Says: "order/balance: no order found", Page: strings.Repeat("x", 80), Height: 230}},
		{checker.Picture{Name: "order", Page: bytes.Repeat([]byte("x"), 80), Ordered: true, Rows: 99},
			pictureView{Title: "Porcupine’s drawing of order, mode none: an order found", Says: "order: an order found", Why: "the drawings before it take all the room of this page"}},
		{checker.Picture{Name: "order", Page: []byte("twenty bytes, and one"), Ordered: true, Rows: 99},
			pictureView{Title: "Porcupine’s drawing of order, mode none: an order found", Says: "order: an order found", Why: "the drawings before it take all the room of this page"}},
		{checker.Picture{Name: "order", Page: []byte("twenty"), Rows: 99},
			pictureView{Title: "Porcupine’s drawing of order, mode none: no order found", Says: "order: no order found", Page: "twenty", Height: 600}},
		{checker.Picture{Name: "order", Omitted: "it is too large"},
			pictureView{Title: "Porcupine’s drawing of order, mode none: no order found", Says: "order", Why: "it is too large"}},
	} {
		if got := g.view(tt.drawn, "none"); got != tt.want {
			t.Errorf("got %+v\nwant %+v", got, tt.want)
		}
	}
	var p evidencePart
	g.hang(&p, checker.History{Grants: []checker.Grant{{}}})
	if len(p.Pictures) != 1 || p.Pictures[0].Page != "" || !strings.Contains(p.Pictures[0].Why, "malformed") {
		t.Errorf("a history that cannot be drawn: %+v", p.Pictures)
	}
}
