package checker

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// dataOf is the data of a page.
func dataOf(t *testing.T, page []byte) drawing {
	t.Helper()
	_, rest, _ := bytes.Cut(page, beforeData)
	data, _, ok := bytes.Cut(rest, afterData)
	var d drawing
	if err := json.Unmarshal(data, &d); !ok || err != nil {
		t.Fatalf("the page has no data: %v", err)
	}
	return d
}

func pictures(t *testing.T, h History) []Picture {
	t.Helper()
	all, err := Pictures(h)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A search that finds no order is drawn with the orders that it has tried, one
// that finds an order with that; a lock is drawn only if its claims overlapped.
func TestPictures(t *testing.T) {
	corrupted := pictures(t, gcPause(accepted, "c0.2"))
	if len(corrupted) != 1 || corrupted[0].Name != orders.String() || corrupted[0].Ordered || corrupted[0].Rows != 3 {
		t.Fatalf("%d pictures, of %s with %d rows", len(corrupted), corrupted[0].Name, corrupted[0].Rows)
	}
	page := string(corrupted[0].Page)
	for _, want := range []string{"c0.2 over initial", "in the end: c0.2"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	d := dataOf(t, corrupted[0].Page)
	longest := d.Partitions[0].PartialLinearizations[0]
	var history []struct{ Start, End int }
	if err := json.Unmarshal(d.Partitions[0].History, &history); err != nil || len(longest) >= len(history) {
		t.Errorf("%v; an order of %d of %d operations", err, len(longest), len(history))
	}

	overlapping := History{Grants: []Grant{
		{ID: 1, Client: "c0", Resource: "order", Invoked: 1, Granted: 2, Released: 9, ReleaseReturned: 10},
		{ID: 2, Client: "c1", Resource: "order", Invoked: 3, Granted: 4, Released: 7, ReleaseReturned: 8},
	}}
	if all := pictures(t, overlapping); len(all) != 1 || all[0].Name != "order" ||
		!bytes.Contains(all[0].Page, []byte("c1 is granted the lock (grant 2)")) {
		t.Errorf("claims that overlap: %d pictures", len(all))
	}
	overlapping.Grants[0].Released, overlapping.Grants[0].ReleaseReturned, overlapping.Grants[1].Granted = 5, 6, 7
	overlapping.Grants[1].Released, overlapping.Grants[1].ReleaseReturned = 8, 9
	if all := pictures(t, overlapping); len(all) != 0 {
		t.Errorf("claims that do not: %d pictures", len(all))
	}
}

// Each picture agrees with the search, draws no two operations over each other,
// and is equal each time, although porcupine's own page is not.
func TestPicturesAreRepeatable(t *testing.T) {
	drawn, failed := 0, 0
	for seed := range uint64(60) {
		h := randomHistory(rand.New(rand.NewPCG(seed, 3)))
		if mustJudge(t, h, nil).Facts.Data == DataUndecided {
			continue
		}
		all, again := pictures(t, h), pictures(t, h)
		for i, p := range all {
			if !bytes.Equal(p.Page, again[i].Page) || p.Omitted != again[i].Omitted {
				t.Fatalf("seed %d: %s is drawn in two ways", seed, p.Name)
			}
			drawn++
			if !p.Ordered {
				failed++
			}
			notOverlapping(t, p)
		}
		for i, p := range dataParts(h) {
			if found := len(searchAll([]part{p}).failed) == 0; i < len(all) && all[i].Name == p.name && all[i].Ordered != found {
				t.Errorf("seed %d: %s has an order: %v, and is drawn with one: %v", seed, p.name, found, all[i].Ordered)
			}
		}
	}
	if drawn < 50 || failed < 10 {
		t.Errorf("%d pictures, %d of them without an order", drawn, failed)
	}
}

func notOverlapping(t *testing.T, p Picture) {
	t.Helper()
	if p.Page == nil {
		return
	}
	var history []struct {
		ClientID   int `json:"ClientId"`
		Start, End int
	}
	if err := json.Unmarshal(dataOf(t, p.Page).Partitions[0].History, &history); err != nil {
		t.Fatal(err)
	}
	for i, a := range history {
		for _, b := range history[:i] {
			if a.ClientID == b.ClientID && a.Start <= b.End && b.Start <= a.End {
				t.Errorf("%s: %+v and %+v are drawn over each other", p.Name, a, b)
			}
		}
		if a.ClientID >= p.Rows {
			t.Errorf("%s: row %d of %d", p.Name, a.ClientID, p.Rows)
		}
	}
}

// A search that is too large is not drawn, with the reason; names contain no
// markup.
func TestPicturesAreBounded(t *testing.T) {
	all := pictures(t, inTurn(maxPictureOperations))
	if len(all) == 0 || all[0].Page != nil ||
		!strings.Contains(all[0].Omitted, "operations, and more than 150 are not drawn") {
		t.Errorf("%d pictures, %q", len(all), all[0].Omitted)
	}
	h := gcPause(func(o Op) Op { o.ID = "<img src=x onerror=alert(1)>&lt;"; return o }, "")
	for _, p := range pictures(t, h) {
		if bytes.Contains(p.Page, []byte("img src=x onerror=alert(1)>")) || bytes.Contains(p.Page, []byte(`\u003cimg`)) ||
			!bytes.Contains(p.Page, []byte("‹img")) {
			t.Errorf("%s has markup in its names", p.Name)
		}
	}
	if _, err := sortPage([]byte("<html>")); err == nil || !strings.Contains(err.Error(), "v1.3.1") {
		t.Errorf("a page of another kind: %v", err)
	}
	if _, err := Pictures(History{Grants: []Grant{{}}}); err == nil {
		t.Error("a malformed history is drawn")
	}
}

// A search that exceeds its budget is not drawn as if it had found no order.
func TestPictureOfAnExhaustedSearch(t *testing.T) {
	all := pictures(t, unanswered(40))
	if len(all) != 1 || all[0].Page != nil || all[0].Ordered ||
		all[0].Omitted != "the search took more than 200000 steps" {
		t.Errorf("%d pictures; %q", len(all), all[0].Omitted)
	}
}
