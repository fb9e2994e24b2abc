package html

import (
	"fmt"
	"html/template"
	"io"

	"locksim/internal/prose"
	"locksim/lock/promise"
	"locksim/reports"
	"locksim/reports/grid"
	"locksim/scenarios/outcome/comparisons"
)

// ComparisonOptions are the diagrams, the command and the versions on the page of a
// comparison. The zero value is a page without them.
type ComparisonOptions struct {
	// Figure is the diagram of a run of a lock, as [Figure] has written it with an id of
	// its own, or nil where there is none. It is called for the runs of [grid.HarmShown].
	// Nil means that there are none.
	Figure func(lock string, run comparisons.Seen) Found
	// Again is the command that makes the comparison again. "" shows none.
	Again string
	// Versions are the versions that the result depends on.
	Versions []reports.Version
}

// Comparison writes locks side by side as one page without other files and without
// JavaScript: what each needs and for whom it is, what each survives and behind which
// fence, and for each lock the smallest run of each failure, with its diagram.
//
// The same comparison and options give the same bytes. Comparison returns the error of
// the writer. It is safe for concurrent use if the functions of opt are.
func Comparison(w io.Writer, c *comparisons.Comparison, opt ComparisonOptions) error {
	return render(w, "comparison", comparisonTemplate, newComparisonPage(c, opt))
}

var comparisonTemplate = page("compare.html")

// comparisonPage is the data of the template.
type comparisonPage struct {
	Evidence, Trips, Unplayed string
	Heads                     []string // of the columns of Locks
	Locks                     []comparedLock
	Classes                   []comparedClass
	Signs                     []grid.SurvivalSign
	Drawn                     bool
	Again                     string
	Versions                  []reports.Version
	CSS                       template.CSS
}

// comparedLock is a lock with the failures that it showed.
type comparedLock struct {
	ID, Name, About, ForWhom string
	Cells                    []string
	Failures                 []comparedFailure
}

// comparedClass is a class of faults: a row of the table of what each lock survives.
type comparedClass struct {
	Class promise.Fault
	Words []string
}

// comparedFailure is a class of faults that harmed a lock.
type comparedFailure struct {
	Class promise.Fault
	Word  string // as in the table
	Runs  string // how many were played
	Seen  []comparedRun
}

// comparedRun is a run that shows harm.
type comparedRun struct {
	comparisons.Seen
	Figure Found
}

func newComparisonPage(c *comparisons.Comparison, opt ComparisonOptions) *comparisonPage {
	p := &comparisonPage{Evidence: grid.ComparisonEvidence(c), Trips: grid.TripsNote, Unplayed: grid.Unplayed(c), Signs: grid.SurvivalSigns(),
		Again: opt.Again, Versions: opt.Versions, CSS: template.CSS(asset("base.css") + asset("chart.css") + asset("compare.css"))}
	for _, need := range grid.Needs() {
		p.Heads = append(p.Heads, need.Head)
	}
	for i, class := range c.Classes {
		if !grid.Played(c, i) {
			continue
		}
		row := comparedClass{Class: class}
		for _, l := range c.Locks {
			row.Words = append(row.Words, grid.SurvivalWord(l.Survives[i]))
		}
		p.Classes = append(p.Classes, row)
	}
	for n, l := range c.Locks {
		one := comparedLock{ID: fmt.Sprintf("lock-%d", n+1), Name: l.Name, About: l.About, ForWhom: l.ForWhom}
		for _, need := range grid.Needs() {
			one.Cells = append(one.Cells, need.Text(l))
		}
		for _, s := range l.Survives {
			failure := comparedFailure{Class: s.Class, Word: grid.SurvivalWord(s), Runs: prose.Count(s.Runs, "run") + " of " + prose.Count(s.Scenarios, "scenario")}
			for _, seen := range grid.HarmShown(s) {
				run := comparedRun{Seen: seen}
				if opt.Figure != nil {
					run.Figure = opt.Figure(l.Name, seen)
				}
				p.Drawn = p.Drawn || run.Figure != nil
				failure.Seen = append(failure.Seen, run)
			}
			if len(failure.Seen) > 0 {
				one.Failures = append(one.Failures, failure)
			}
		}
		p.Locks = append(p.Locks, one)
	}
	return p
}
