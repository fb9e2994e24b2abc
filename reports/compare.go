package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/compare"
)

// Comparison writes locks side by side for a terminal: what each needs and how many
// round trips it takes, for whom it is, and then a table of what each survives, with
// a row for each class of faults. Locks that do not fit into the width follow in a
// second table; where the first table does not fit, each lock is a block of its own.
//
// The errors are those of [Terminal].
func Comparison(w io.Writer, c *compare.Comparison, opt Options) error {
	opt, err := opt.withDefaults()
	if err != nil {
		return err
	}
	p := new(prose.Page)
	p.Add(prose.Fold(compareHead(c), opt.Width))
	needs := compareNeeds(c)
	if !slices.ContainsFunc(needs, func(line string) bool { return prose.Columns(line) > opt.Width }) {
		p.Add(needs)
		p.Add(compareWhom(c, opt))
	} else {
		for _, l := range c.Locks {
			p.Add(compareBlock(l, opt))
		}
	}
	p.Add(prose.Fold(tripsNote, opt.Width))
	for i, t := range compareTables(c, opt) {
		if i == 0 {
			t = append([]string{"what each survives, and behind which fence", ""}, t...)
		}
		p.Add(t)
	}
	p.Add(compareLegend(opt))
	p.Add(compareUnplayed(c, opt.Width))
	p.Add(prose.Fold(compareEvidence(c)+" --markdown and --json have a run for each weaker fence that failed.", opt.Width))
	return p.Render(w)
}

const tripsNote = "Round trips are counted with open connections while nobody else wants the lock, one after another; " +
	"in brackets are the messages to all servers, where these are more."

func compareHead(c *compare.Comparison) string {
	return fmt.Sprintf("%s side by side", prose.Count(len(c.Locks), "lock"))
}

// compareEvidence is how much stands behind a comparison.
func compareEvidence(c *compare.Comparison) string {
	runs := 0
	for _, l := range c.Locks {
		for _, s := range l.Survives {
			runs += s.Runs
		}
	}
	return fmt.Sprintf("%s runs of the scenarios of the library, %s. That a lock survives means that these runs showed no harm. It is not a proof.",
		prose.Thousands(runs), c.Seeds)
}

// compareColumns are the columns of the first table, but for the name: a heading, and
// what stands below it.
var compareColumns = []struct {
	head string
	text func(l compare.Lock) string
}{
	{"servers", serversText},
	{"tokens", func(l compare.Lock) string { return prose.YesNo(l.Tokens) }},
	{"acquire", func(l compare.Lock) string { return tripText(&l.Trips.Acquire) }},
	{"release", func(l compare.Lock) string { return tripText(&l.Trips.Release) }},
	{"renew", renewText},
}

// compareNeeds is the first table.
func compareNeeds(c *compare.Comparison) []string {
	t := table{sides: make([]side, 1+len(compareColumns))}
	head := []string{"lock"}
	for _, column := range compareColumns {
		head = append(head, column.head)
	}
	t.row(head...)
	for _, l := range c.Locks {
		row := []string{prose.Visible(l.Name)}
		for _, column := range compareColumns {
			row = append(row, column.text(l))
		}
		t.row(row...)
	}
	return t.lines(Plain)
}

// compareWhom says for whom each lock is, those left out that do not say so.
func compareWhom(c *compare.Comparison, opt Options) []string {
	names := 0
	for _, l := range c.Locks {
		names = max(names, prose.Columns(prose.Visible(l.Name)))
	}
	lines := []string{}
	for _, l := range c.Locks {
		if l.ForWhom == "" {
			continue
		}
		for i, line := range prose.Fold(prose.Visible(l.ForWhom), opt.Width-names-2) {
			name := ""
			if i == 0 {
				name = prose.Visible(l.Name)
			}
			lines = append(lines, prose.Pad(name, names+2)+line)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return append([]string{"for whom", ""}, lines...)
}

// compareBlock is a lock by itself.
func compareBlock(l compare.Lock, opt Options) []string {
	lines := prose.Fold(prose.Visible(l.Name), opt.Width)
	t := table{sides: make([]side, 2)}
	for _, column := range compareColumns {
		t.row("  "+column.head, column.text(l))
	}
	lines = append(lines, t.lines(Plain)...)
	if l.ForWhom != "" {
		for _, line := range prose.Fold("for whom: "+prose.Visible(l.ForWhom), opt.Width-2) {
			lines = append(lines, "  "+line)
		}
	}
	return lines
}

func serversText(l compare.Lock) string {
	var parts []string
	for _, s := range l.Servers {
		parts = append(parts, fmt.Sprintf("%d %s", s.Count, s.Kind))
	}
	return strings.Join(parts, ", ")
}

// tripText is "1", or "1 (5)" with the messages to all servers.
func tripText(t *compare.Trip) string {
	if t.Messages > t.RoundTrips {
		return fmt.Sprintf("%d (%d)", t.RoundTrips, t.Messages)
	}
	return fmt.Sprint(t.RoundTrips)
}

func renewText(l compare.Lock) string {
	text := "-"
	if l.Trips.Renew != nil {
		text = tripText(l.Trips.Renew)
	}
	if l.Trips.Unasked {
		text += ", by itself"
	}
	return text
}

// The words of a cell that name no fencing mode, and the signs around one.
const (
	fenceless   = "ok"    // no fence is needed
	noFence     = "no"    // none helps
	nobodyHas   = "stuck" // none helps, since the lock is stuck
	notPlayed   = "?"
	refusesSign = "*"
	overlapSign = "!"
)

// survivalWord is a survival in a word.
func survivalWord(s compare.Survival) string {
	word := string(s.Fence)
	switch {
	case s.Scenarios == 0:
		return unpromised(s, notPlayed)
	case s.Fence == fence.None:
		word = fenceless
	case s.Stuck():
		word = nobodyHas
	case s.Fence == "":
		word = noFence
	}
	if s.Refused != nil {
		word += refusesSign
	}
	if s.Overlap != nil {
		word += overlapSign
	}
	return unpromised(s, word)
}

func unpromised(s compare.Survival, word string) string {
	if s.Promised {
		return word
	}
	return "(" + word + ")"
}

func survivalStyle(s compare.Survival) style {
	switch {
	case s.Scenarios == 0:
		return unstyled
	case s.Fence == "":
		return alarm
	case s.Overlap != nil || s.Refused != nil:
		return warning
	case s.Fence == fence.None:
		return fine
	}
	return relief
}

// compareTables are what the locks survive, as many side by side as fit.
func compareTables(c *compare.Comparison, opt Options) [][]string {
	edge := 0
	for _, class := range c.Classes {
		edge = max(edge, prose.Columns(string(class)))
	}
	var tables [][]string
	var beside []compare.Lock // of the table at hand
	room := opt.Width - edge
	for _, l := range c.Locks {
		need := 2
		for _, part := range nameParts(prose.Visible(l.Name)) {
			need = max(need, prose.Columns(part)+2)
		}
		for _, s := range l.Survives {
			need = max(need, prose.Columns(survivalWord(s))+2)
		}
		if need > room && len(beside) > 0 {
			tables, beside, room = append(tables, compareTable(c, beside, opt)), nil, opt.Width-edge
		}
		beside, room = append(beside, l), room-need
	}
	if len(beside) > 0 {
		tables = append(tables, compareTable(c, beside, opt))
	}
	return tables
}

func compareTable(c *compare.Comparison, locks []compare.Lock, opt Options) []string {
	t := table{sides: make([]side, 1+len(locks))}
	names := make([]string, len(locks))
	for i, l := range locks {
		names[i] = prose.Visible(l.Name)
	}
	for _, line := range headLines(names) {
		t.row(append([]string{""}, line...)...)
	}
	for i, class := range c.Classes {
		if !played(c, i) {
			continue
		}
		row := []cell{{text: string(class)}}
		for _, l := range locks {
			row = append(row, cell{text: survivalWord(l.Survives[i]), style: survivalStyle(l.Survives[i])})
		}
		t.rows = append(t.rows, row)
	}
	return t.lines(opt.Colour)
}

// played reports whether any lock was played under a class, by its number.
func played(c *compare.Comparison, class int) bool {
	return slices.ContainsFunc(c.Locks, func(l compare.Lock) bool { return l.Survives[class].Scenarios > 0 })
}

// compareUnplayed names the classes that have no row.
func compareUnplayed(c *compare.Comparison, width int) []string {
	var names []string
	for i, class := range c.Classes {
		if !played(c, i) {
			names = append(names, string(class))
		}
	}
	if len(names) == 0 {
		return nil
	}
	text := "Without a row, since no scenario of the library says anything of them: " + strings.Join(names, ", ") +
		". The promises (locksim list) and an exploration (locksim explore) speak of these."
	return prose.Fold(text, width)
}

// compareSigns explain the cells.
var compareSigns = []struct{ sign, meaning string }{
	{fenceless, "the data is right without a fence"},
	{"seal", "or another mode: the first fence behind which the data is right, in the order check, seal, strict, claim, cas"},
	{"seal" + refusesSign, "that fence also refuses a client that rightfully holds the lock"},
	{noFence, "behind every fence the data is wrong or the lock stuck"},
	{nobodyHas, "nobody can have the lock any more, and no fence helps"},
	{"seal" + overlapSign, "the lock had two holders: their claims overlapped in a run"},
	{"(seal)", "not promised by the lock, which may fare worse under other schedules"},
	{notPlayed, "no scenario of the library says anything of this lock and these faults"},
	{string(compare.NoFault), "scenarios without faults, with sections longer than the TTL among them"},
}

func compareLegend(opt Options) []string {
	edge := 0
	for _, s := range compareSigns {
		edge = max(edge, prose.Columns(s.sign)+2)
	}
	var lines []string
	for _, s := range compareSigns {
		for i, line := range prose.Fold(s.meaning, opt.Width-edge) {
			sign := ""
			if i == 0 {
				sign = s.sign
			}
			lines = append(lines, prose.Pad(sign, edge)+line)
		}
	}
	return lines
}
