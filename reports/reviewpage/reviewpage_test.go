package reviewpage_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/internal/testreports"
	"locksim/reports"
	"locksim/reports/reviewpage"
	"locksim/scenarios/outcome/reviews"
)

// The sections have a fixed order, by their ids, and each has a title and blocks.
func TestSections(t *testing.T) {
	for name, r := range map[string]*reviews.Review{"of a lock": testreports.Review(), "of nothing": {Lock: reviews.Lock{Name: "mine", Nodes: 1}}} {
		p := reviewpage.New(r, reports.Options{Replay: "locksim report --review"})
		var ids []string
		for _, s := range p.Sections {
			ids = append(ids, s.ID)
			if s.Title == "" || len(s.Blocks) == 0 {
				t.Errorf("%s: section %s has no title or no blocks", name, s.ID)
			}
		}
		if diff := cmp.Diff([]string{"advice", "lock", "promise", "breaks", "risk", "faults", "explored", "gaps", "questions"}, ids); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if p.Lock != r.Lock.Name || p.Replay != "locksim report --review" || p.Versions[0].Name != "Go" {
			t.Errorf("%s: the page is of %q, with %q and %v", name, p.Lock, p.Replay, p.Versions)
		}
	}
}

// A table has as many cells in each row as its head names.
func TestTablesAreFull(t *testing.T) {
	tables := 0
	check := func(t *testing.T, table *reviewpage.Table) {
		if table == nil {
			return
		}
		tables++
		for _, row := range table.Rows {
			if len(row.Cells)+1 != len(table.Head) {
				t.Errorf("table %q: row %q has %d cells below %q", table.Name, row.Name, len(row.Cells), table.Head)
			}
		}
	}
	r := testreports.Review()
	for i := range r.Scenarios {
		r.Scenarios[i].Cells = r.Scenarios[i].Cells[:len(r.Figures.Modes)]
	}
	for _, s := range reviewpage.New(r, reports.Options{}).Sections {
		for _, b := range s.Blocks {
			check(t, b.Table)
			if b.Break != nil {
				check(t, b.Break.Fences)
			}
		}
	}
	if tables < 8 {
		t.Errorf("the review has %d tables", tables)
	}
}

// Of many breaks the first are shown with their stories, and all have a command.
func TestManyBreaks(t *testing.T) {
	r := testreports.Review()
	for range 20 {
		r.Failures = append(r.Failures, r.Failures[0])
	}
	shown, listed := 0, 0
	for _, s := range reviewpage.New(r, reports.Options{}).Sections {
		if s.ID != "breaks" {
			continue
		}
		for _, b := range s.Blocks {
			if b.Break != nil {
				shown++
			}
			if b.Table != nil && b.Table.Name == "Further breaks" {
				for _, row := range b.Table.Rows {
					if c := row.Cells[len(row.Cells)-1]; c.Code && strings.Contains(c.Text, "--from-seed 7") {
						listed++
					}
				}
			}
		}
	}
	if shown != 12 || shown+listed != len(r.Failures) {
		t.Errorf("%d breaks are shown and %d listed, of %d", shown, listed, len(r.Failures))
	}
}

// The weaknesses of the lock come before those of every lock with a lease: scenarios within
// the promise that the fence of the promise rescues.
func TestOwnWeaknessesComeFirst(t *testing.T) {
	headings := func(r *reviews.Review) string {
		var out []string
		for _, s := range reviewpage.New(r, reports.Options{}).Sections {
			for _, b := range s.Blocks {
				if s.ID == "breaks" && b.Heading != "" {
					out = append(out, b.Heading)
				}
			}
		}
		return strings.Join(out, "; ")
	}
	r := testreports.Review()
	const own, found, lease = "Its own weaknesses, in stories of the library", "Found by exploration", "What every lock with a lease is open to"
	if got, want := headings(r), own+"; "+found; got != want {
		t.Errorf("outside the promise: %q, want %q", got, want)
	}
	within := r.Scenarios[1]
	within.Ground = reviews.GroundPromised
	r.Scenarios = append(r.Scenarios, within)
	if got, want := headings(r), own+"; "+found+"; "+lease; got != want {
		t.Errorf("with a scenario within it: %q, want %q", got, want)
	}
	r.Lock.Promises = false
	if got, want := headings(r), own+"; "+found; got != want {
		t.Errorf("of a lock without a promise: %q, want %q", got, want)
	}
}
