package html

import (
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"

	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/campaign"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/sweeps"
	"locksim/scenarios/outcome/tally"
	"locksim/scenarios/placing"
)

// CampaignOptions are the links, commands and versions on the page of an exploration
// or a sweep. The zero value is a page without them.
type CampaignOptions struct {
	// Page is the address of the report of the i-th violation, from 1 on,
	// relative to the page, or "" where there is none. Nil means that there are
	// none.
	Page func(i int) string
	// Figure is the diagram of the i-th violation, as [Figure] has written it with an id
	// of its own, or nil where there is none. Nil means that there are none.
	Figure func(i int) Found
	// Replay is the command that repeats the i-th violation. Nil means that
	// no command is shown.
	Replay func(i int) string
	// Again is the command that repeats the exploration or the sweep. "" shows none.
	Again string
	// Versions are the versions that the result depends on. None are listed by
	// default.
	Versions []reports.Version
}

// page is the address of a violation's report, or "".
func (o CampaignOptions) page(i int) string { return call(o.Page, i) }

// replay is the command of a violation, or "".
func (o CampaignOptions) replay(i int) string { return call(o.Replay, i) }

func call(f func(int) string, i int) string {
	if f == nil {
		return ""
	}
	return f(i)
}

// campaignPage is what the template of explorations and sweeps shows.
type campaignPage struct {
	// Kind is "exploration" or "sweep", Subject its lock and what else it was made
	// with.
	Kind, Subject   string
	Title, Headline string
	Found           bool // a violation was found
	Doubts          []string
	Figures         []figure
	Tables          []countTable
	Violations      []violationPart
	Limits          []string
	Again           string
	Versions        []reports.Version
	CSS             template.CSS
}

// figure is one number at the head of the page, and what it counts.
type figure struct{ Value, Name string }

// countTable is a table of counts.
type countTable struct {
	ID, Title, Note string
	Heads           []string
	Rows            []countRow
}

// countRow is one row. Share is a part of the count in per cent, such as how many of
// the faults struck; a negative one is not shown.
type countRow struct {
	Name   string
	Values []string
	Share  int
}

// share is a part in per cent, rounded down so that 100 means all.
func share(part, whole int) int {
	if whole == 0 {
		return -1
	}
	return 100 * part / whole
}

var campaignTemplate = page("campaign.html")

// Drawn reports whether the page has a diagram.
func (p *campaignPage) Drawn() bool {
	return slices.ContainsFunc(p.Violations, func(v violationPart) bool { return v.Figure != nil })
}

func (p *campaignPage) write(w io.Writer) error {
	p.CSS = template.CSS(asset("base.css") + asset("chart.css") + asset("campaign.css"))
	return render(w, p.Kind, campaignTemplate, p)
}

// judgedAs says by which promise a lock was judged, and what that does not cover.
func judgedAs(judge explorations.Judge) string {
	more := "What it promises may be less."
	switch judge {
	case explorations.JudgePromise:
		more = "Under other faults it may break."
	case explorations.JudgeClaims:
		more = "Beliefs, and so the data, may be wrong although claims never overlap."
	}
	return fmt.Sprintf("The lock was %v. %s", judge, more)
}

// violationPart is one class of violation, with the story of its smallest run.
type violationPart struct {
	N          int
	Shape      string
	Like       string // how many runs are like it
	Violations []outcome.Violation
	Answers    []outcome.Answer
	Reasons    []string
	Doubt      string
	Mode       fence.Mode
	Story      []failure.Step
	Schedule   string
	Shrunk     string
	Page       string
	Figure     Found
	Replay     string
}

// newViolation is the part of a violation, which may not have been examined.
func newViolation(i int, like string, found *failure.Failure, opt CampaignOptions) violationPart {
	v := violationPart{N: i, Shape: found.Shape, Like: like}
	if found.Run == nil {
		v.Doubt = "It has not been examined."
		return v
	}
	v.Violations, v.Answers, v.Reasons = found.Violations, found.Sure(), found.Reasons
	v.Page, v.Replay = opt.page(i), opt.replay(i)
	if opt.Figure != nil {
		v.Figure = opt.Figure(i)
	}
	v.Shrunk = prose.Count(found.Faults, "fault")
	if found.Faults != found.Drawn {
		v.Shrunk += fmt.Sprintf(" of the %d that were drawn", found.Drawn)
	}
	if found.Same < found.Replays {
		v.Doubt = fmt.Sprintf("Not deterministic: %d of %d runs of it were equal. %s", found.Same, found.Replays,
			found.Divergence)
	}
	if len(found.Violations) > 0 {
		v.Mode, v.Story = found.Violations[0].Mode, found.Story
	}
	v.Schedule = found.Run.Source
	return v
}

// Exploration writes an exploration as one page without other files and without
// JavaScript: the number of runs, how many are evidence, which faults struck, and each
// class of violation with the story of its smallest run.
//
// The same exploration and options give the same bytes: of the timing, the page has
// the shard only. Exploration returns the error of the writer. It is safe for
// concurrent use if the functions of opt are.
func Exploration(w io.Writer, e *explorations.Exploration, opt CampaignOptions) error {
	s := &e.Summary
	p := &campaignPage{
		Kind: "exploration", Subject: e.Plan.Subject(),
		Title:    "Exploration of " + e.Plan.Lock,
		Headline: exploreHeadline(e), Found: s.Violating > 0,
		Doubts:  campaign.ExplorationDoubts(e),
		Figures: exploreCounts(e), Tables: exploreTables(e),
		Limits: exploreLimits(e), Again: opt.Again, Versions: opt.Versions,
	}
	for i := range s.Failures {
		f := &s.Failures[i]
		like := fmt.Sprintf("%s like it, the first with seed %d", prose.Count(f.Runs, "run"), f.FirstSeed)
		p.Violations = append(p.Violations, newViolation(i+1, like, f, opt))
	}
	return p.write(w)
}

// exploreHeadline is the result in a sentence or two.
func exploreHeadline(e *explorations.Exploration) string {
	if e.Summary.Violating > 0 && e.StoppedAt != nil {
		return fmt.Sprintf("A run with a violation ended the exploration, after %s.", prose.Count(e.Summary.Runs, "run"))
	}
	return campaign.ExplorationVerdict(e)
}

func exploreCounts(e *explorations.Exploration) []figure {
	s := &e.Summary
	out := []figure{
		{prose.Thousands(s.Runs), fmt.Sprintf("runs were made, from seed %d on", e.Plan.FirstSeed)},
		{prose.Thousands(s.Evidence), "of them " + e.Plan.Tested()},
		{prose.Thousands(s.Violating), "runs with a violation"},
		{prose.Span(s.VirtualSeconds), "of virtual time"},
	}
	if s.Evidence > 0 && e.StoppedAt == nil {
		out = append(out, figure{fmt.Sprintf("< %.2g %%", 100*s.RateBound), "of the runs that test the lock break it, " +
			"with 95 % confidence"})
	}
	if s.Novelty != nil {
		out = append(out, figure{"≈ " + tally.Percent(s.Novelty.Rate), "of further runs that test the lock would still try " +
			"something new"})
	}
	if never, all := e.Uncovered(); all > 0 {
		out = append(out, figure{fmt.Sprintf("%d of %d", all-len(never), all), "classes of fault struck"})
	}
	return out
}

func exploreTables(e *explorations.Exploration) []countTable {
	s := &e.Summary
	kinds := countTable{ID: "kinds", Title: "Faults by kind", Heads: []string{"Kind", "Drawn", "Struck"},
		Note: "A fault strikes if the run reaches its trigger. A fault that does not strike proves nothing."}
	for _, kind := range slices.Sorted(maps.Keys(s.Faults)) {
		n := s.Faults[kind]
		kinds.Rows = append(kinds.Rows, countRow{kind, []string{prose.Thousands(n.Planned), prose.Thousands(n.Struck)},
			share(n.Struck, n.Planned)})
	}
	classes := countTable{ID: "classes", Title: "Classes of fault", Heads: []string{"Class", "Runs in which " +
		"one struck", "Runs that tested the lock: one was felt", "Of such runs may break it (95 %)"},
		Note: "A promise names classes of fault. A class that never struck, or was never felt, is not covered."}
	for _, class := range e.Plan.Classes() {
		n := s.Classes[class]
		struck, evidence, bound := prose.Thousands(n.Struck), prose.Thousands(n.Evidence), n.Bound()
		switch {
		case n.Struck == 0:
			struck, evidence = "never", ""
		case n.Evidence == 0:
			evidence = "not felt: " + class.Unfelt()
		}
		classes.Rows = append(classes.Rows, countRow{string(class), []string{struck, evidence, bound},
			share(n.Evidence, s.Runs)})
	}
	return filled(append([]countTable{kinds, classes, tallyTable("vacuous", "Runs that did not test "+
		"the lock", "Why", s.Vacuous, s.Runs),
		tallyTable("labels", "Violations by label", "Label", s.Violations, s.Evidence)}, callTables(&s.Tally)...)...)
}

func tallyTable[K ~string](id, title, head string, of map[K]int, whole int) countTable {
	t := countTable{ID: id, Title: title, Heads: []string{head, "Runs"}}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		t.Rows = append(t.Rows, countRow{string(key), []string{prose.Thousands(of[key])}, share(of[key], whole)})
	}
	return t
}

// callTables are how the calls of the lock ended, and the errors with which they did.
func callTables(t *tally.Tally) []countTable {
	calls := countTable{ID: "calls", Title: "Calls of the lock", Heads: []string{"Call", "Number"}}
	for _, w := range t.Calls.Ways() {
		calls.Rows = append(calls.Rows, countRow{w.Call + ": " + w.How, []string{prose.Thousands(w.N)}, -1})
	}
	errors := countTable{ID: "errors", Title: "Errors of calls", Heads: []string{"Error", "Call", "Number"}}
	for _, e := range t.Errors {
		errors.Rows = append(errors.Rows, countRow{e.Error, []string{e.Call, prose.Thousands(e.Count)}, -1})
	}
	return []countTable{calls, errors}
}

func filled(tables ...countTable) []countTable {
	return slices.DeleteFunc(tables, func(t countTable) bool { return len(t.Rows) == 0 })
}

func exploreLimits(e *explorations.Exploration) []string {
	return []string{
		"Runs without a violation are no proof. How few runs break the lock is known only for schedules as this " +
			"search chooses them.",
		judgedAs(e.Plan.Judge),
		"Interleavings inside one process are not explored.",
	}
}

// Sweep writes a sweep as one page without other files and without JavaScript: how
// many faults were placed at how many moments, how many struck, and each class of
// violation with the story of its smallest run. Bytes, errors and concurrency are as
// for [Exploration].
func Sweep(w io.Writer, s *sweeps.Sweep, opt CampaignOptions) error {
	p := &campaignPage{
		Kind: "sweep", Subject: fmt.Sprintf("scenario %s · lock %s · seed %d", s.Plan.Scenario, s.Plan.Lock, s.Plan.Seed),
		Title:    fmt.Sprintf("Sweep of %s with %s", s.Plan.Scenario, s.Plan.Lock),
		Headline: s.Statement() + ".", Found: s.Summary.Violating > 0,
		Doubts:  campaign.SweepDoubts(s),
		Figures: sweepCounts(s), Tables: sweepTables(s),
		Limits: sweepLimits(s), Again: opt.Again, Versions: opt.Versions,
	}
	for i := range s.Summary.Failures {
		f := &s.Summary.Failures[i]
		like := fmt.Sprintf("%s like it, the first: %s", prose.Count(f.Runs, "run"), f.Placed.Faults)
		p.Violations = append(p.Violations, newViolation(i+1, like, f, opt))
	}
	return p.write(w)
}

func sweepCounts(s *sweeps.Sweep) []figure {
	t := &s.Summary
	out := []figure{
		{prose.Thousands(s.Plan.Boundaries), "moments of the run at which faults were placed"},
		{prose.Thousands(t.Placements()), "runs with one fault"},
	}
	if s.Plan.Pairs > 0 {
		out = append(out, figure{prose.Thousands(t.Pairs), fmt.Sprintf("runs with two, of %s pairs that there are",
			prose.Thousands(s.Plan.AllPairs))})
	}
	out = append(out, figure{prose.Thousands(t.Struck()), "of these runs saw their faults come about"},
		figure{prose.Thousands(t.Violating), "runs with a violation"})
	if t.Reduced > 0 {
		out = append(out, figure{prose.Thousands(t.Reduced), "pairs break the promise as one of their faults does alone; " +
			"they are not among those"})
	}
	return out
}

func sweepTables(s *sweeps.Sweep) []countTable {
	t := &s.Summary
	kinds := countTable{ID: "kinds", Title: "Faults by kind", Heads: []string{"Kind", "Placed", "With a violation",
		"Struck"}, Note: sweepLeftOut(s)}
	for _, k := range placing.Kinds() {
		n, ok := t.Kinds[k.Name]
		if !ok {
			continue
		}
		kinds.Rows = append(kinds.Rows, countRow{k.Name + ": " + k.Text,
			[]string{prose.Thousands(n.Planned), prose.Thousands(n.Violating), prose.Thousands(n.Struck)},
			share(n.Struck, n.Planned)})
	}
	servers := countTable{ID: "servers", Title: "Placements on servers", Heads: []string{"Server", "Placed"},
		Note: notPlaced(s)}
	for _, x := range s.Plan.Servers {
		servers.Rows = append(servers.Rows, countRow{fmt.Sprintf("%s, %s server, %s", x.Name, x.Kind, x.Role),
			[]string{prose.Thousands(x.Placements)}, share(x.Placements, s.Plan.Placements)})
	}
	return filled(append([]countTable{kinds, servers, tallyTable("vacuous", "Runs that did not test "+
		"the lock", "Why", t.VacuousStruck(), t.Struck()),
		tallyTable("labels", "Violations by label", "Label", t.Violations, t.Struck())}, callTables(&t.Tally.Tally)...)...)
}

func notPlaced(s *sweeps.Sweep) string {
	var all []string
	for _, line := range s.Plan.NotPlaced() {
		all = append(all, "Not placed: "+line+".")
	}
	return strings.Join(all, " ")
}

// sweepLeftOut says which placements are not tried, and why.
func sweepLeftOut(s *sweeps.Sweep) string {
	text := fmt.Sprintf("%s more placements are left out: the fault would find its target in the same state as at one "+
		"of these.", prose.Thousands(s.Plan.Equivalent))
	if s.Plan.Idle > 0 {
		text += fmt.Sprintf(" So are %s jumps of client clocks: no client looks at its wall clock.",
			prose.Thousands(s.Plan.Idle))
	}
	return text
}

func sweepLimits(s *sweeps.Sweep) []string {
	return []string{
		"A sweep without a violation is no proof: it covers one workload and one seed, and faults of fixed length.",
		judgedAs(s.Plan.Judge),
		"Interleavings inside one process are not explored.",
	}
}
