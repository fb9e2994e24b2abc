package reviewpage_test

import (
	"slices"
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
	for name, r := range map[string]*reviews.Review{"of a lock": testreports.Review(),
		"of nothing": {Lock: reviews.Lock{Name: "mine", Nodes: 1}}} {
		p := reviewpage.New(r, reports.Options{Replay: "locksim report --review"})
		var ids []string
		for _, s := range slices.Concat(p.Front, p.Sections) {
			ids = append(ids, s.ID)
			if s.Title == "" || len(s.Blocks) == 0 {
				t.Errorf("%s: section %s has no title or no blocks", name, s.ID)
			}
		}
		if diff := cmp.Diff([]string{"advice", "worst", "survives", "rules", "lock", "promise", "own", "risk", "faults",
			"explored", "gaps", "questions"}, ids); diff != "" {
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
	p := reviewpage.New(r, reports.Options{})
	for _, s := range slices.Concat(p.Front, p.Sections) {
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
		if s.ID != "own" {
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

// The weaknesses of the lock are apart from those of every lock with a lease, which are
// scenarios within the promise that the fence of the promise rescues, and from the mistakes of
// clients.
func TestWeaknessesAreApart(t *testing.T) {
	stories := func(r *reviews.Review) string {
		var out []string
		for _, s := range reviewpage.New(r, reports.Options{}).Sections {
			for _, b := range s.Blocks {
				if b.Table != nil && strings.HasPrefix(b.Table.Name, "Stories") {
					for _, row := range b.Table.Rows {
						out = append(out, s.ID+": "+row.Name)
					}
				}
			}
		}
		return strings.Join(out, "; ")
	}
	r := testreports.Review()
	check := func(name, want string) {
		t.Helper()
		if got := stories(r); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	check("outside the promise", "own: gc-pause")
	lease, client := r.Scenarios[1], r.Scenarios[1]
	lease.Name, lease.Ground = "lease", reviews.GroundPromised
	client.Name, client.Ground, client.Client = "client", reviews.GroundPromised,
		"It releases the lock before its last write."
	r.Scenarios = append(r.Scenarios, client, lease)
	check("with others", "own: gc-pause; lease: lease; client: client")
	r.Lock.Promises = false
	check("of a lock without a promise", "own: lease; own: gc-pause; client: client")
}

// The worst failure is one that breaks the promise; then what harms behind the fence in which
// the lock is judged. The mistake of a client is never it, and what breaks every lock with a
// lease only if there is nothing else.
func TestWorst(t *testing.T) {
	r := testreports.Review()
	check := func(name, want string) {
		t.Helper()
		got := "none"
		if w := r.Worst(); w != nil && w.Failure != nil {
			got = w.Failure.Shape
		} else if w != nil {
			got = w.Scenario.Name + " in mode " + string(w.Mode)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	check("within the promise", "corrupted in mode seal: pause")
	r.Failures = r.Failures[2:]
	check("a scenario is worse than an overlap", "gc-pause in mode none")
	worse := r.Scenarios[1]
	worse.Name, worse.Cells = "worse", slices.Clone(worse.Cells)
	worse.Cells[2].Label = worse.Cells[0].Label
	r.Scenarios = append(r.Scenarios, worse)
	check("behind the fence", "worse in mode seal")
	r.Scenarios[2].Client = "It releases the lock before its last write."
	check("the mistake of a client", "gc-pause in mode none")
	r.Scenarios[1].Ground = reviews.GroundPromised
	check("of every lease", "overlap in mode seal: flush")
	r.Failures = nil
	check("only of every lease", "gc-pause in mode none")
	r.Scenarios = nil
	check("nothing", "none")
}

// A class has the weakest fence that is right in every scenario with its faults alone.
func TestWeakest(t *testing.T) {
	r := testreports.Review()
	if mode, n := r.Weakest("pause"); mode != "seal" || n != 1 {
		t.Errorf("pause: %q in %d scenarios", mode, n)
	}
	if mode, n := r.Weakest(""); mode != "none" || n != 1 {
		t.Errorf("no fault: %q in %d scenarios", mode, n)
	}
	if mode, n := r.Weakest("flush"); mode != "" || n != 0 {
		t.Errorf("flush: %q in %d scenarios", mode, n)
	}
}
