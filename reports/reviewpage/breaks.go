package reviewpage

import (
	"cmp"
	"fmt"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/reports/grid"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/reviews"
)

// maxBreaks is the number of breaks that are shown with their stories. Each further
// break has one line.
const maxBreaks = 12

// Break is a way in which the lock was broken.
type Break struct {
	Number   int
	Shape    string
	Label    checker.Label
	Where    string
	Reasons  []string
	Fences   *Table
	Mode     string
	Story    []failure.Step
	Schedule string
	Replay   string
}

// addBreaks adds what breaks the lock: its own weaknesses, in the scenarios of the library
// and in the searches; apart from these, what breaks every lock with a lease, and what its
// clients do wrong.
func (p *Page) addBreaks(r *reviews.Review) {
	own, lease, client := ownStories(r), leaseStories(r), clientStories(r)
	p.add("own", "Its own weaknesses", append(storyBlocks(own, "Known failures of locks in the field, each shown by a "+
		"scenario. Either the lock does not promise to survive it, or not even the fence with which it is judged saves the "+
		"data. A fence in brackets saves the data, but refuses a rightful holder. The command runs the story in every "+
		"fencing mode."), foundBlocks(r)...))
	p.note("%s of the library, %s found by the searches", prose.Count(len(own.Rows), "scenario"),
		prose.Count(len(r.Failures), "way"))
	if len(lease.Rows) > 0 {
		p.add("lease", "What breaks every lock with a lease",
			storyBlocks(lease, fmt.Sprintf("Here the lock keeps its promise: a client acts after its lease has ended, and the "+
				"fence %s saves the data. No lock with a lease can prevent this by itself.", r.Lock.Judged)))
		p.note("%s, each saved by the fence %s", prose.Count(len(lease.Rows), "scenario"), r.Lock.Judged)
	}
	if len(client.Rows) > 0 {
		p.add("client", "What its clients can do wrong", storyBlocks(client, "Here the client uses the lock in a way that "+
			"no lock can make safe."))
		p.note("%s, for which no lock is to blame", prose.Count(len(client.Rows), "scenario"))
	}
}

// note is the note of the section that was added last.
func (p *Page) note(format string, args ...any) {
	p.Sections[len(p.Sections)-1].Note = fmt.Sprintf(format, args...)
}

func storyBlocks(t *Table, about string) []Block {
	if len(t.Rows) == 0 {
		return nil
	}
	return []Block{paragraph("%s", about), {Table: t}}
}

// foundBlocks are the breaks that the searches found, those within the promise first.
func foundBlocks(r *reviews.Review) []Block {
	if len(r.Failures) == 0 {
		return []Block{{Heading: "Found by exploration"}, paragraph("Neither random schedules nor placed faults found "+
			"anything that broke it, in %s. That is no proof.", evidenceOf(r))}
	}
	blocks := []Block{{Heading: "Found by exploration"}, paragraph("%s of breaking it were found by random schedules "+
		"and placed faults, each reduced to a minimal schedule. Those within the promise come first, if there are any, "+
		"then the worst. Each was repeated in every fencing mode, with the same seed. A mode named in the title is the one "+
		"in which the lock is judged.", prose.Count(len(r.Failures), "way"))}
	rest := &Table{Name: "Further breaks", Head: []string{"Break", "Runs like it", "Command"}}
	for i, b := range r.Failures {
		if i < maxBreaks {
			blocks = append(blocks, Block{Break: newReviewBreak(i+1, r.Plan, b)})
			continue
		}
		rest.row(fmt.Sprintf("%d. %s", i+1, b.Shape), fmt.Sprintf("%s of %s", prose.Thousands(b.Runs), prose.Thousands(b.Of)))
		last := &rest.Rows[len(rest.Rows)-1]
		last.Cells = append(last.Cells, Cell{Text: b.Replay, Code: true})
	}
	if len(rest.Rows) > 0 {
		blocks = append(blocks, Block{Heading: "Further breaks, in a line each"}, Block{Table: rest})
	}
	return blocks
}

func evidenceOf(r *reviews.Review) string {
	f := &r.Figures
	return prose.Count(f.Within.Evidence+f.All.Evidence+f.Swept.Evidence, "run") + " that tested the lock"
}

func newReviewBreak(i int, p reviews.Plan, b reviews.Failure) *Break {
	v := &Break{Number: i, Shape: b.Shape, Label: b.Label(), Where: whereFound(p, b), Reasons: b.Reasons, Replay: b.Replay,
		Schedule: b.Run.Source, Mode: string(b.Violations[0].Mode), Fences: fenceTable(i, b), Story: b.Story}
	return v
}

// whereFound says which search found the break, and in how many runs.
func whereFound(p reviews.Plan, b reviews.Failure) string {
	often := fmt.Sprintf("%s of %s", prose.Thousands(b.Runs), prose.Count(b.Of, "run"))
	switch b.From {
	case reviews.FromPromise:
		return "It breaks the lock’s own promise: found in " + often + " within it that tested the lock."
	case reviews.FromSweep:
		return "Found by placing single faults, in " + often + "."
	}
	return fmt.Sprintf("Found with %s, in %s that tested the lock. The smallest run has %s of the %d that were "+
		"drawn.%s", p.Tried(), often, prose.Count(b.Faults, "fault"), b.Drawn, ofClasses(b))
}

func ofClasses(b reviews.Failure) string {
	if len(b.Classes) == 0 {
		return ""
	}
	return " Classes of the faults that strike: " + commas(b.Classes) + "."
}

// effects describe the effect of a fence.
var effects = map[reviews.FenceEffect]string{
	reviews.NoFence:          "without a fence",
	reviews.FenceRescues:     "rescues: no harm is done",
	reviews.FenceCosts:       "rescues at a price: the data is right, but another harm occurs",
	reviews.FenceFails:       "does not rescue",
	reviews.FenceHarms:       "does harm that does not occur without it",
	reviews.FenceIdle:        "nothing to rescue: no harm with or without it",
	reviews.FenceUndecided:   "undecided",
	reviews.FenceNeedsTokens: "cannot be used: it needs tokens",
}

// fenceTable is the effect of each fence on a break.
func fenceTable(i int, b reviews.Failure) *Table {
	t := &Table{Name: fmt.Sprintf("Break %d in each fencing mode", i), Head: []string{"Fence", "Verdict", "What it does"}}
	for _, f := range b.Fences {
		t.Rows = append(t.Rows, Row{Name: string(f.Mode), Cells: []Cell{{Label: f.Label}, {Text: effects[f.Effect]}}})
	}
	return t
}

// ownStories are the scenarios of the library that show a weakness of this lock.
func ownStories(r *reviews.Review) *Table {
	return storyTable(r, "Stories of the library that show its own weaknesses",
		func(s *reviews.Scenario) bool { return s.Client == "" && !r.OfEveryLease(s) })
}

// leaseStories are the scenarios of the library that break every lock with a lease.
func leaseStories(r *reviews.Review) *Table {
	return storyTable(r, "Stories of the library that break every lock with a lease",
		func(s *reviews.Scenario) bool { return s.Client == "" && r.OfEveryLease(s) })
}

// clientStories are the scenarios of the library in which the client makes a mistake.
func clientStories(r *reviews.Review) *Table {
	t := storyTable(r, "Stories of the library in which the client makes a mistake",
		func(s *reviews.Scenario) bool { return s.Client != "" })
	t.Head[1] = "Mistake"
	return t
}

// storyTable are the selected scenarios in which the lock was broken, with the effect of
// each fence: those within the promise first.
func storyTable(r *reviews.Review, name string, has func(*reviews.Scenario) bool) *Table {
	t := &Table{Name: name, Head: []string{"Story", "Promise", "Without a fence", "Rescue", "Do not rescue", "Do harm",
		"Command"}}
	for _, g := range reviews.Grounds() {
		for i := range r.Scenarios {
			if s := &r.Scenarios[i]; s.Ground == g && s.Harmful() && has(s) {
				t.Rows = append(t.Rows, storyRow(r, s))
			}
		}
	}
	return t
}

func storyRow(r *reviews.Review, s *reviews.Scenario) Row {
	by := map[reviews.FenceEffect][]fence.Mode{}
	var rescue, fail []string
	for _, c := range s.Cells {
		e := s.Effect(c.Mode)
		by[e] = append(by[e], c.Mode)
		switch e {
		case reviews.FenceRescues:
			rescue = append(rescue, string(c.Mode))
		case reviews.FenceCosts:
			rescue = append(rescue, "("+string(c.Mode)+")")
		case reviews.FenceFails, reviews.FenceUndecided:
			fail = append(fail, string(c.Mode))
		}
	}
	none := s.Cells[0]
	return Row{Name: s.Name, Note: s.Title, Cells: []Cell{
		{Text: cmp.Or(s.Client, groundWord(r, s.Ground))}, {Text: grid.KOfN(none), Label: none.Label},
		{Text: commas(rescue)}, {Text: commas(fail)}, {Text: commas(by[reviews.FenceHarms])}, {Text: s.Replay, Code: true}}}
}
