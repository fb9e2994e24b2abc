package html

import (
	"fmt"
	"html/template"
	"io"
	"strings"

	"locksim/internal/prose"
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

// Comparison writes locks side by side as one page without other files and without JavaScript: a map of locks by
// classes of faults, what each needs and for whom it is, what each survives and behind which fence, and for each lock
// the smallest run of each failure, with its diagram.
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
	Map                       []mapRow
	Legend                    []string
	Heads                     []string // of the columns of Locks
	Locks                     []comparedLock
	Classes                   []comparedClass
	Signs                     []grid.SurvivalSign
	Troubles                  []string // the heads of the columns of the table of troubles
	TroubleNote               string
	TroubleSigns              []grid.TroubleText
	Drawn                     bool
	Again                     string
	Versions                  []reports.Version
	CSS                       template.CSS
}

// mapRow is the row of a lock in the map of locks by classes of faults.
type mapRow struct {
	ID, Name string
	Cells    []mapLink
}

// mapLink is a cell of the map, with the id of the story that shows its harm, "" for none.
type mapLink struct {
	grid.MapCell
	Story string
}

// comparedLock is a lock with the failures that it showed.
type comparedLock struct {
	ID, Name, About, ForWhom string
	Cells                    []string
	Troubles                 []string // nil where there is no lock
	Failures                 []comparedFailure
}

// comparedClass is a class of faults: a row of the table of what each lock survives.
type comparedClass struct {
	Class string
	Words []string
}

// comparedFailure is a class of faults that harmed a lock.
type comparedFailure struct {
	ID    string
	Class string
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
	p := &comparisonPage{Evidence: grid.ComparisonEvidence(c), Trips: grid.TripsNote(c), Unplayed: grid.Unplayed(c),
		Signs:       grid.SurvivalSigns(),
		TroubleNote: grid.NotToBeHadNote(c), TroubleSigns: grid.Troubles(c), Troubles: grid.TroubleHeads(c),
		Legend: strings.Split(grid.MapLegend, " · "),
		Again:  opt.Again, Versions: opt.Versions,
		CSS: template.CSS(asset("base.css") + asset("chart.css") + asset("compare.css"))}
	for _, need := range grid.Needs() {
		p.Heads = append(p.Heads, need.Head)
	}
	for i, class := range c.Classes {
		if !grid.Played(c, i) {
			continue
		}
		row := comparedClass{Class: grid.ClassName(class)}
		for _, l := range c.Locks {
			row.Words = append(row.Words, grid.SurvivalWord(l.Survives[i]))
		}
		p.Classes = append(p.Classes, row)
	}
	for n, l := range c.Locks {
		row := mapRow{ID: fmt.Sprintf("lock-%d", n+1), Name: l.Name}
		one := comparedLock{ID: row.ID, Name: l.Name, About: l.About, ForWhom: l.ForWhom}
		for _, need := range grid.Needs() {
			one.Cells = append(one.Cells, need.Text(l))
		}
		if l.Availability != nil {
			one.Troubles = grid.TroubleCells(c, l)
		}
		for i, s := range l.Survives {
			failure := comparedFailure{ID: row.ID + "-" + string(s.Class), Class: grid.ClassName(s.Class),
				Word: grid.SurvivalWord(s), Runs: prose.Count(s.Runs, "run") + " of " + prose.Count(s.Scenarios, "scenario")}
			for _, seen := range grid.HarmShown(s) {
				run := comparedRun{Seen: seen}
				if opt.Figure != nil {
					run.Figure = opt.Figure(l.Name, seen)
				}
				p.Drawn = p.Drawn || run.Figure != nil
				failure.Seen = append(failure.Seen, run)
			}
			link := mapLink{MapCell: grid.NewMapCell(s)}
			if len(failure.Seen) > 0 {
				one.Failures = append(one.Failures, failure)
				link.Story = failure.ID
			}
			if grid.Played(c, i) {
				row.Cells = append(row.Cells, link)
			}
		}
		p.Locks, p.Map = append(p.Locks, one), append(p.Map, row)
	}
	return p
}
