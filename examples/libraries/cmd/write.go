package main

import (
	"bytes"
	"embed"
	"fmt"
	htmltemplate "html/template"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"locksim/checker"
	"locksim/examples/libraries"
	"locksim/internal/book"
	"locksim/internal/prose"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/reports/html"
)

//go:embed pages
var pages embed.FS

// reports is the folder of the pages, from here.
const reports = "../../reports"

// overview is all pages.
type overview struct {
	Troubles []libraries.Trouble
	Books    []*libraryPage
	// Cells counts the cells, Schedules their runs; Seconds is the CPU time that they took.
	Cells, Schedules, Missing int
	Seconds                   float64
	Live                      playedLive
	Findings                  []foundIn
	// Legend has the labels of failing runs, Enough is how many runs of each class a ✓ needs.
	Legend []labelText
	Enough int
	CSS    htmltemplate.CSS
}

// playedLive counts what was played on real servers: scenarios and schedules, each with one lock, and their runs. Same
// are those whose runs all ended as simulated ones do; of the others each difference has a reason, but for Open.
type playedLive struct{ Played, Runs, Same, Open int }

func (p *playedLive) add(r *liveRun) {
	if r.Refused != "" {
		return
	}
	p.Played++
	for _, labels := range r.Labels {
		p.Runs += len(labels)
	}
	switch {
	case !r.Expected:
		p.Open++
	case len(r.Why) == 0:
		p.Same++
	}
}

// foundIn is a finding with its library.
type foundIn struct {
	libraries.Finding
	Library string
}

// Told says whether its authors know of it.
func (f foundIn) Told() string { return told(f.Finding) }

// libraryPage is the page of a library.
type libraryPage struct {
	libraries.Sheet
	Rows []*lockRow
	// Shown are the scenarios that show findings, by the ID of the finding.
	Shown map[string][]shownBy
	CSS   htmltemplate.CSS
}

// lockRow is a lock with its cells.
type lockRow struct {
	libraries.LockSheet
	Library, Version string
	Cells            []cellView
}

// cellView is a cell as it is shown.
type cellView struct {
	Trouble libraries.Trouble
	// ID is the address of the cell in the page of its library, which stays: redsync-network.
	ID string
	// Mark is what the table has, Parts what it means. There are none for a cell that was not played.
	Mark  string
	Parts []part
	// Findings explain what breaks the promise. Known break the lock here too, though no schedule of the cell shows them.
	Findings, Known []foundView
	// Beside are the columns of which a smallest run breaks the lock here too.
	Beside  []string
	Note    string
	Live    []liveView
	Stories []story
	// Command plays the cell again.
	Command, Commit, Date, Version string
	Wall                           float64
}

// Dagger reports whether the cell has findings that are known, and not shown by its schedules.
func (v cellView) Dagger() bool { return len(v.Known)+len(v.Beside) > 0 }

// foundView is a finding beside a cell: its name, and whether its authors were told.
type foundView struct{ ID, Told string }

// told says whether the authors of a library were told of a finding.
func told(f libraries.Finding) string {
	switch f.Status {
	case libraries.NotKnown:
		return "not told yet"
	case libraries.Known:
		return "known to them"
	}
	return "documented"
}

// foundViews are the findings with some names.
func foundViews(all []libraries.Finding, ids []string) (out []foundView) {
	for _, f := range all {
		if slices.Contains(ids, f.ID) {
			out = append(out, foundView{f.ID, told(f)})
		}
	}
	return out
}

// liveView says what was seen on real servers.
type liveView struct{ What, Seen string }

// story is the smallest run of a failure.
type story struct {
	libraries.Failure
	// ID is that of the cell with a number: redsync-network-1.
	ID, Title string
	Lines     []string
	// File has the schedule, from the page; Command plays it.
	File, Command string
}

func (t *table) write(all []string) error {
	files, err := t.files(all)
	if err != nil {
		return err
	}
	return book.Publish(reports, "libraries", files)
}

// files are the pages by their names, from the folder of the pages.
func (t *table) files(all []string) (map[string][]byte, error) {
	b := &overview{Troubles: libraries.Troubles(), Legend: legend(), Enough: enough,
		CSS: htmltemplate.CSS(html.Base() + extraCSS)}
	files := map[string][]byte{}
	for _, name := range all {
		s := t.sheetOf(name)
		if s == nil {
			continue
		}
		p := t.page(name, *s, b, files)
		p.CSS = b.CSS
		b.Books = append(b.Books, p)
		for _, f := range s.Findings {
			b.Findings = append(b.Findings, foundIn{f, name})
		}
	}
	// those of others first
	slices.SortStableFunc(b.Books,
		func(x, y *libraryPage) int { return boolean(x.Name == "ours") - boolean(y.Name == "ours") })
	for _, p := range b.Books {
		for _, as := range []string{"md", "html"} {
			text, err := rendered("library."+as, p)
			if err != nil {
				return nil, err
			}
			files[path.Join("libraries", p.Name+"."+as)] = text
		}
	}
	for file, as := range map[string]string{"LIBRARIES.md": "table.md", "libraries/index.html": "table.html"} {
		text, err := rendered(as, b)
		if err != nil {
			return nil, err
		}
		files[file] = text
	}
	return files, nil
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (t *table) page(name string, s libraries.Sheet, b *overview, files map[string][]byte) *libraryPage {
	p := &libraryPage{Sheet: s, Shown: t.shownOf(name, s, b, files)}
	for _, l := range s.Locks {
		row := &lockRow{LockSheet: l, Library: name, Version: s.Version}
		for _, trouble := range b.Troubles {
			row.Cells = append(row.Cells, t.view(name, s, l, trouble, b, files))
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

func (t *table) view(name string, s libraries.Sheet, l libraries.LockSheet, trouble libraries.Trouble, b *overview,
	files map[string][]byte) cellView {
	v := cellView{
		Trouble: trouble, ID: l.Name + "-" + trouble.Name, Mark: "not played", Version: s.Version,
		Command: fmt.Sprintf("go run ./cmd %s %s", name, trouble.Name),
	}
	r, ok := t.cellOf(name, s.Version, l, trouble)
	if !ok {
		b.Missing++
		return v
	}
	b.Cells++
	b.Seconds += r.Cell.CPU
	c := &r.Cell.Cell
	v.Mark, v.Parts, v.Commit, v.Date, v.Wall, v.Note = markOf(c, l), partsOf(c, l), r.Commit, r.Date, r.Cell.Wall,
		r.Cell.Note
	if v.Known = foundViews(s.Findings, known(c, l)); v.Known == nil &&
		slices.ContainsFunc(v.Parts, func(p part) bool { return p.broken }) {
		v.Findings = foundViews(s.Findings, l.Why[trouble.Name])
	}
	if v.Beside = beside(c, l, t.cellsOf(name, s.Version, l)); v.Beside != nil && v.Known == nil {
		v.Mark += " †"
	}
	for _, share := range c.Shares {
		b.Schedules += share.Runs
	}
	for _, p := range v.Parts {
		for _, f := range p.Failures {
			id := fmt.Sprintf("%s-%d", v.ID, len(v.Stories)+1)
			x := story{Failure: f, ID: id, Title: fmt.Sprintf("%s, %s: %s", l.Name, trouble.Name, f.What), Lines: storyOf(f)}
			if f.Source != "" {
				file := path.Join("libraries", name, id+".yaml")
				files[file] = []byte(f.Source)
				x.File = path.Join(name, id+".yaml")
				x.Command = strings.Join(append([]string{"go run ./cmd", name},
					storyCommand(l, trouble, f, "../../reports/"+file)...), " ")
			}
			v.Stories = append(v.Stories, x)
		}
	}
	v.Live = t.livesOf(name, s.Version, l, trouble, b)
	return v
}

// cellsOf are all cells of a lock that are stored.
func (t *table) cellsOf(name, version string, l libraries.LockSheet) (all []*libraries.Cell) {
	for _, trouble := range libraries.Troubles() {
		if r, ok := t.cellOf(name, version, l, trouble); ok {
			all = append(all, &r.Cell.Cell)
		}
	}
	return all
}

// broken reports whether a cell breaks a sentence of the documentation.
func broken(c *libraries.Cell, l libraries.LockSheet) bool {
	return slices.ContainsFunc(partsOf(c, l), func(p part) bool { return p.Class() == "broken" })
}

// storyCommand plays the smallest run of a failure, in the program of its library: what the cell has played, with the
// lock as its caller uses it there, in the same modes.
func storyCommand(l libraries.LockSheet, trouble libraries.Trouble, f libraries.Failure, file string) []string {
	name := l.Name
	if trouble.Name == libraries.Misused {
		name += "-misused"
	}
	var modes []string
	for _, m := range f.Modes {
		modes = append(modes, string(m))
	}
	return []string{"run", file, "--lock", name, "--seed", strconv.FormatUint(f.Played, 10), "--fencing",
		strings.Join(modes, ",")}
}

// shownOf are the scenarios that show the findings of a library. Each becomes a file beside the page.
func (t *table) shownOf(name string, s libraries.Sheet, b *overview, files map[string][]byte) map[string][]shownBy {
	all := map[string][]shownBy{}
	for _, f := range s.Findings {
		for _, x := range f.Shows {
			id := fmt.Sprintf("%s-%s", f.ID, x.Lock)
			file := path.Join("libraries", name, id+".yaml")
			files[file] = []byte(x.Source)
			out := shownBy{File: path.Join(name, id+".yaml"), Command: fmt.Sprintf("go run ./cmd %s run ../../reports/%s "+
				"--lock %s", name, file, x.Lock)}
			i := slices.IndexFunc(s.Locks, func(l libraries.LockSheet) bool { return l.Name == x.Lock })
			if r, ok := t.liveOf(name, s.Version, s.Locks[max(i, 0)], "", f.ID, x.Source); ok && i >= 0 {
				out.Seen = liveLabels(r.Live)
				b.Live.add(r.Live)
			}
			all[f.ID] = append(all[f.ID], out)
		}
	}
	return all
}

// shownBy is a scenario that shows a finding: its file, the command that plays it, and what was seen on real servers.
type shownBy struct{ File, Command, Seen string }

// livesOf is what was seen live of a cell: of a scenario, and of the failures that it has now.
func (t *table) livesOf(name, version string, l libraries.LockSheet, trouble libraries.Trouble,
	b *overview) []liveView {
	var out []liveView
	add := func(r record, ok bool, what string) {
		if !ok {
			return
		}
		b.Live.add(r.Live)
		seen := r.Live.Refused
		if seen == "" {
			seen = liveLabels(r.Live)
		}
		out = append(out, liveView{what, seen})
	}
	if scenario, ok := liveScenarios[trouble.Name]; ok {
		r, ok := t.liveOf(name, version, l, trouble.Name, scenario, "")
		add(r, ok, "scenario "+scenario)
	}
	if c, ok := t.cellOf(name, version, l, trouble); ok {
		for _, f := range promisedFailures(&c.Cell.Cell) {
			r, ok := t.liveOf(name, version, l, trouble.Name, f.What, f.Source)
			add(r, ok, "the smallest schedule of “"+f.What+"”")
			if ok && unseen(f) && shows(r.Live) == 0 {
				out[len(out)-1].Seen += ": a live run is judged by what its clients see, and that does not show it"
			}
		}
	}
	return out
}

// shows counts the live runs that something broke.
func shows(r *liveRun) (n int) {
	for i := range r.Labels[fence.None] {
		for _, labels := range r.Labels {
			if harmed(labels[i]) {
				n++
				break
			}
		}
	}
	return n
}

func harmed(l checker.Label) bool {
	return !slices.Contains([]checker.Label{checker.Safe, checker.Rescued, checker.NotApplicable}, l)
}

// unseen reports whether no live run can show a failure.
func unseen(f libraries.Failure) bool {
	return len(f.AsLive) > 0 && !slices.ContainsFunc(slices.Collect(maps.Values(f.AsLive)), harmed)
}

// liveLabels says how live runs ended, mode by mode, and how that compares with the simulated ones.
func liveLabels(r *liveRun) string {
	var out []string
	for _, mode := range fence.Modes() {
		counts := map[checker.Label]int{}
		for _, label := range r.Labels[mode] {
			counts[label]++
		}
		var words []string
		for _, label := range checker.Labels() {
			if counts[label] > 0 {
				words = append(words, fmt.Sprintf("%s %d of %d", label, counts[label], len(r.Labels[mode])))
			}
		}
		if len(words) > 0 {
			out = append(out, fmt.Sprintf("%s %s", mode, prose.Commas(words)))
		}
	}
	text := strings.Join(out, "; ")
	if r.Source != "" {
		text = fmt.Sprintf("shown by %d of %d runs (%s)", shows(r), len(r.Labels[fence.None]), text)
	}
	if r.Late > 0 {
		text += fmt.Sprintf(" (the machine was late, by up to %.1f s)", r.Late)
	}
	switch {
	case !r.Expected:
		return text + "; not as simulated, and not explained"
	case len(r.Why) > 0:
		return text + "; not as simulated: " + strings.Join(r.Why, "; ")
	}
	return text + "; as simulated"
}

// inALine is a sentence of a comment without the ends of its lines.
func inALine(quoted string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(quoted, "\n//", "\n")), " ")
}

// rendered is a page.
func rendered(name string, view any) ([]byte, error) {
	var b bytes.Buffer
	funcs := map[string]any{"words": wordsOf, "line": inALine, "cell": tableCell, "thousands": prose.Thousands,
		"seconds": seconds}
	if strings.HasSuffix(name, ".html") {
		page, err := htmltemplate.New(name).Funcs(funcs).ParseFS(pages, "pages/"+name)
		if err != nil {
			return nil, err
		}
		err = page.Execute(&b, view)
		return b.Bytes(), err
	}
	page, err := template.New(name).Funcs(funcs).ParseFS(pages, "pages/"+name)
	if err != nil {
		return nil, err
	}
	err = page.Execute(&b, view)
	return b.Bytes(), err
}

func wordsOf(list any) string {
	if faults, ok := list.([]lock.Fault); ok {
		return names(faults)
	}
	return prose.Commas(list.([]string))
}

func seconds(s float64) string { return fmt.Sprintf("%.0f", s) }

// tableCell is a text for a cell of a table in Markdown.
func tableCell(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ").Replace(s)
}

// extraCSS is what these pages add to the style of all pages of locksim.
const extraCSS = `
table.verdicts td { white-space: nowrap; } table.verdicts td, table.verdicts th { padding-right: 12px; font-size: 13.5px; } table.verdicts tbody th { white-space: nowrap; }
table.verdicts tbody th { position: sticky; left: 0; background: var(--bg); } table.verdicts td:target { background: var(--save-soft); outline: 2px solid var(--accent); }
@media (max-width: 700px) { table.verdicts tbody th { max-width: 8em; white-space: normal; overflow-wrap: anywhere; } table.verdicts td:nth-child(2), table.verdicts th:nth-child(2) { display: none; } }
.kept { color: var(--good); } .broken { color: var(--bad); font-weight: 600; } .beyond { color: var(--warn); } .none, .unknown { color: var(--muted); }
table.cells td { max-width: 46ch; } table.cells td p { margin: 0 0 4px; } ul.signs { list-style: none; padding: 0; }
abbr { text-decoration: none; } section { margin-bottom: 40px; } caption { text-align: left; }
`
