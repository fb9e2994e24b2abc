package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"locksim/internal/book"
	"locksim/internal/dev/checkout"
	"locksim/scenarios/file"
)

func rootOf(t *testing.T) string {
	t.Helper()
	root, err := checkout.Root()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func stored(t *testing.T) *book.Book[key, result] {
	t.Helper()
	b, err := book.Read(filepath.Join(rootOf(t), journal), result.cell)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The scenarios of the checkout are those of the cells, and can be played with the locks of their cells.
func TestScenariosAreUpToDate(t *testing.T) {
	stale, err := book.Differ(filepath.Join(rootOf(t), "reports"), "redlock", scenarioPages())
	if err != nil || len(stale) > 0 {
		t.Fatalf("these are not what the cells say: %v (%v): go -C internal/dev run ./redlock -files", stale, err)
	}
	if n := len(cells()); n < 60 {
		t.Errorf("there are %d cells", n)
	}
	seen := map[key]bool{}
	texts := map[string]string{}
	for _, c := range cells() {
		if seen[c.key()] {
			t.Errorf("two cells are %v", c.key())
		}
		seen[c.key()] = true
		if text, ok := texts[c.scenario()]; ok && text != c.yaml() {
			t.Errorf("two cells have different scenarios %s", c.scenario())
		}
		texts[c.scenario()] = c.yaml()
		sc, err := file.Parse(c.file(), []byte(c.yaml()))
		if err != nil {
			t.Errorf("%s: %v", c.file(), err)
			continue
		}
		if locks := sc.LockNames(); !slices.Contains(locks, c.row.lock) || sc.World.Clients != 6 || len(sc.Faults) == 0 {
			t.Errorf("%s is for %v, with %d clients and %d faults", c.scenario(), locks, sc.World.Clients, len(sc.Faults))
		}
	}
}

// The page is that of the stored results, of which each is of the scenario of the checkout, and of all runs.
func TestPageIsUpToDate(t *testing.T) {
	b := stored(t)
	want, err := page(b)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(rootOf(t), "reports", "REDLOCK.md"))
	if err != nil || !bytes.Equal(have, []byte(want)) {
		t.Errorf("reports/REDLOCK.md is not that of the stored results (%v): go -C internal/dev run ./redlock -table "+
			"-stored", err)
	}
	for _, c := range cells() {
		switch r, _ := b.Latest(c.key()); {
		case r.Played != c.hash():
			t.Errorf("%v was played with another scenario: make redlock", c.key())
		case r.Runs != c.row.runs():
			t.Errorf("%v has %d runs", c.key(), r.Runs)
		case 2*r.Tested < r.Runs:
			t.Errorf("%v says little: clients contended in %d of %d runs", c.key(), r.Tested, r.Runs)
		case max(r.Lost, r.TwoClaims, r.Tested) > r.Runs:
			t.Errorf("%+v has more than it has runs", r)
		}
	}
}

// What the page says of the argument is so by the stored results.
func TestArgumentIsTrue(t *testing.T) {
	b := stored(t)
	rows, err := argument()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 8 {
		t.Errorf("the argument has %d rows", len(rows))
	}
	for _, s := range rows {
		if sources[s.Who] == "" || s.Shows == "" || len(s.Cells) == 0 {
			t.Errorf("%q lacks a source, cells, or what they show", s.Said)
		}
		for _, m := range s.Cells {
			r, ok := b.Latest(m.key())
			if !ok || m.Figure != twoClaims && m.Figure != lostUpdates {
				t.Errorf("%q: there is no figure %q of %v", s.Said, m.Figure, m.key())
				continue
			}
			if is := shareOf(m.Figure.of(r), r.Runs); is != m.Is {
				t.Errorf("%q: %s of %v is %s: %d of %d, and the row says %s", s.Said, m.Figure, m.key(), is, m.Figure.of(r),
					r.Runs, m.Is)
			}
		}
	}
}

func TestShareOf(t *testing.T) {
	for _, c := range []struct {
		n, runs int
		want    share
	}{{0, 300, never}, {1, 300, seldom}, {99, 1000, seldom}, {100, 1000, often}} {
		if got := shareOf(c.n, c.runs); got != c.want {
			t.Errorf("%d of %d is %s, want %s", c.n, c.runs, got, c.want)
		}
	}
}

// A result that is missing is said, and no page is written of the others.
func TestPageOfAnEmptyBook(t *testing.T) {
	b, err := book.Open(filepath.Join(t.TempDir(), "results.jsonl"), result.cell)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close() //nolint:errcheck // it has no results
	if text, err := page(b); err == nil || text != "" || !strings.Contains(err.Error(), "was not played") {
		t.Errorf("%q, %v", text, err)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"-files", "-table"}, {"-table", "-cells", "("}, {"-table", "more"}, {"-stored"},
		{"-files", "-cells", "clock"}, {"-table", "-stored", "-cells", "clock"}, {"-what"}} {
		if code := command(args, io.Discard); code != exitUsage {
			t.Errorf("%v: exit code %d, want %d", args, code, exitUsage)
		}
	}
}

// The sentence above the page is so by the stored results.
func TestQuotableIsTrue(t *testing.T) {
	b := stored(t)
	get := func(scenario, lock string) result {
		r, ok := b.Latest(key{scenario, lock})
		if !ok {
			t.Fatalf("there is no result of %s with %s", scenario, lock)
		}
		return r
	}
	for _, pair := range [][2]string{{"restart-1-100ms", "restart-single-100ms"}, {"clock-1-7s", "clock-single-7s"}} {
		five, one := get(pair[0], "redlock"), get(pair[1], "single")
		if 20*five.TwoClaims > one.TwoClaims {
			t.Errorf("%s: %d of five nodes, %d of one: the difference is less than the sentence lets one expect", pair[0],
				five.TwoClaims, one.TwoClaims)
		}
	}
	five, one := get("pause-any-15s", "redlock"), get("pause-any-15s", "single")
	if d := five.Lost - one.Lost; d < -50 || d > 50 {
		t.Errorf("a pause costs an update in %d runs with five nodes and in %d with one", five.Lost, one.Lost)
	}
}
