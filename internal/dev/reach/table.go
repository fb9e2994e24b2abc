package reach

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locksim/internal/dev/mechanical"
	"locksim/internal/prose"
)

// row is a subject with its result.
type row struct {
	subject
	result
	earlier bool // the result of an earlier program
}

// The outcomes that make the command fail.
const (
	unbuilt = "DOES NOT COMPILE"
	wrong   = "NOT RIGHT"
)

// outcome says in a word how the searches for a subject ended.
func outcome(s subject, r result) string {
	switch {
	case r.Unbuilt != "":
		return unbuilt
	case s.isRight() && !r.clean():
		return wrong
	case s.isRight():
		return "right"
	case r.found():
		return "found"
	case s.equivalent != "":
		return "equivalent"
	}
	return "NOT FOUND"
}

const preamble = `# Reach

Made by ` + "`make reach`" + `; do not edit. Each line is one mistake in a lock, and how locksim itself finds it:

- *library*: ` + "`locksim matrix`" + ` with the lock, %d seeds of each scenario. The cell has the first scenario that is worse
  than expected.
- *sweep*: ` + "`locksim sweep --promise`" + `, single faults at up to %s moments of one small scenario. The cell has the first
  violation.
- *explore*: ` + "`locksim explore --promise`" + `, the number of runs to the first violation, from the first seeds %s.
  Each search ends after %s runs. It begins with a few runs without faults, which are the same from each first seed.

– means that nothing was found. These are no finds either: "exit 3", a run that was not deterministic or did not
end; "exit 2", a sweep of a lock that fails without any fault, so that there is nothing to sweep; and "vacuous", a
scenario that proves nothing with the lock, when no other is worse than expected. "panic" is a find: the lock panicked,
and the command says where; and so is "fails without faults": the command says that the lock cannot be made, or that no
client is granted it, before it draws a fault. A mutant is searched in one kind of lock, and in the next one if nothing is found.

A mistake made by hand gets all three searches. For a mechanical one, they are made from the cheapest on, each in all
kinds of lock before the next one, and the first find ends them: %d runs of *explore*, one seed of the *library*, the
whole *library*, the *sweep*, the rest of *explore*. What *explore* finds, or nothing, is explored from the other first
seeds too. One that is argued to be equivalent gets the first two of these, which could prove the argument wrong.

`

// markdown is the table. missing are the mutants without a result. It depends on the rows, the limits, the sample and
// wanted alone: the regular expression for the names of the mutants, which is "" for all.
func markdown(rows []row, missing []string, l limits, sample mechanical.Sample, wanted string) string {
	var seeds []string
	for _, s := range firstSeeds[:l.Starts] {
		seeds = append(seeds, prose.Thousands(int(s)))
	}
	var byHand, drawn []row
	for _, r := range rows {
		switch {
		case r.patch != nil:
			byHand = append(byHand, r)
		case r.edit != nil:
			drawn = append(drawn, r)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, preamble, l.Seeds, prose.Thousands(l.Placements), prose.Commas(seeds), prose.Thousands(l.Runs), quickRuns)
	if wanted != "" {
		fmt.Fprintf(&b, "Only the mutants whose names match `%s` are here.\n\n", wanted)
	}
	if len(missing) > 0 {
		fmt.Fprintf(&b, "Without a result yet, %d: %s. A mistake has a result with its first find, or after all its searches, so that the shares "+
			"below are those of a part, in which finds come first.\n\n", len(missing), prose.Commas(missing))
	}
	if n := len(slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.ended(r.result, l) })); n > 0 {
		fmt.Fprintf(&b, "Mutants that were explored from the first seed only: %d.\n\n", n)
	}
	noteEarlier(&b, rows)
	b.WriteString("| mutants | number | found | by the library | by the sweep | by explore | by explore from every seed |\n" +
		"|---|---|---|---|---|---|---|\n")
	total := func(label string, rows []row, which func(row) bool) {
		if rows = slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !which(r) }); len(rows) > 0 {
			fmt.Fprintf(&b, "| %s | %s |\n", label, sum(rows, l.Starts))
		}
	}
	equivalent := func(r row) bool { return r.equivalent != "" }
	rest := func(drawn bool) string {
		n := len(slices.DeleteFunc(slices.Clone(missing), func(name string) bool {
			return strings.HasPrefix(name, rightGroup+"/") || strings.HasPrefix(name, mechanical.Group+"/") != drawn
		}))
		if n == 0 {
			return ""
		}
		return fmt.Sprintf(", but for %d without a result", n)
	}
	total("made by hand"+rest(false), byHand, row.counts)
	total("made by hand, equivalent", byHand, equivalent)
	total("mechanical, killed by the unit tests"+rest(true), drawn, row.counts)
	total("mechanical, killed by the unit tests, which no run can show"+rest(true), drawn, equivalent)
	b.WriteString("\nEach mistake counts for the first of its searches that finds it.\n")
	library, sweeps, explorations := runsOf(rows)
	fmt.Fprintf(&b, "\nAll these searches took %s runs of scenarios of the library, %s of sweeps, and %s of explorations up to their first violations.\n",
		prose.Thousands(library), prose.Thousands(sweeps), prose.Thousands(explorations))
	missed := func(label string, rows []row) {
		var names []string
		for _, r := range rows {
			if r.counts() && !r.found() {
				names = append(names, strings.TrimPrefix(r.name, mechanical.Group+"/"))
			}
		}
		if len(names) > 0 {
			fmt.Fprintf(&b, "\n%s and not found: %s.\n", label, strings.Join(names, ", "))
		}
	}
	missed("Made by hand", byHand)
	missed("Mechanical, killed by the unit tests", drawn)

	group := ""
	for _, r := range byHand {
		name, mutant, _ := strings.Cut(r.name, "/")
		if name != group {
			group = name
			fmt.Fprintf(&b, "\n## %s\n\n| mutant | what it breaks | lock | library | sweep | explore |\n|---|---|---|---|---|---|\n", group)
		}
		lines(&b, r, fmt.Sprintf("[%s](../%s) | %s", mutant, r.patch.Path, withReason(r.patch.Breaks, r.subject)), " | ")
	}
	if len(drawn) > 0 {
		fmt.Fprintf(&b, mechanicalPreamble, prose.Thousands(sample.Possible), sample.Drawn, len(sample.Mutants), sample.Tests, sample.Passing(), noteEarlierTests(sample))
	}
	for _, r := range drawn {
		kind, find := firstFind(r)
		fmt.Fprintf(&b, "| [%s](../%s) | %s | %s | %s |\n", strings.TrimPrefix(r.name, mechanical.Group+"/"), r.edit.File,
			withReason(r.edit.Breaks(), r.subject), kind, find)
	}
	b.WriteString("\n## Locks without a mistake\n\n| lock | library | sweep | explore |\n|---|---|---|---|\n")
	for _, r := range rows {
		for _, k := range r.Kinds {
			if r.isRight() {
				fmt.Fprintf(&b, "| %s |\n", cells(k))
			}
		}
	}
	return b.String()
}

// runsOf counts the runs of all searches, by kind of search.
func runsOf(rows []row) (library, sweeps, explorations int) {
	for _, r := range rows {
		for _, k := range r.Kinds {
			library += k.Library.Runs
			sweeps += k.Sweep.Runs
			for _, f := range k.Explore {
				explorations += f.Runs
			}
		}
		for _, s := range r.Searches {
			switch {
			case s.Search == stepExplore && s.Start == 0: // with those of the step before
				explorations += s.Runs - min(s.Runs, quickRuns)
			case s.explores():
				explorations += s.Runs
			case s.Search == stepSweep:
				sweeps += s.Runs
			default:
				library += s.Runs
			}
		}
	}
	return library, sweeps, explorations
}

// noteEarlier says how many results are those of earlier programs, most first. A program has the name of a commit that
// had it, of one without changes if there is one.
func noteEarlier(b *strings.Builder, rows []row) {
	number, names := map[string]int{}, map[string]string{} // by program
	all := 0
	for _, r := range rows {
		if !r.earlier {
			continue
		}
		all++
		number[r.Program]++
		if name := names[r.Program]; name == "" || strings.HasSuffix(name, "-dirty") && !strings.HasSuffix(r.Commit, "-dirty") {
			names[r.Program] = r.Commit
		}
	}
	if all == 0 {
		return
	}
	var each []string
	for _, p := range slices.SortedFunc(maps.Keys(number), func(a, b string) int {
		return cmp.Or(cmp.Compare(number[b], number[a]), cmp.Compare(names[a], names[b]))
	}) {
		each = append(each, fmt.Sprintf("%d of commit %s", number[p], names[p]))
	}
	fmt.Fprintf(b, "%d of the results are those of earlier locksims: %s.\n\n", all, strings.Join(each, ", "))
}

const mechanicalPreamble = `
## mechanical

Package lock has %s places for a mechanical mutant: a statement dropped, a condition negated, an integer one more or one
less, a bound moved, && in place of || and the reverse, a context replaced, success in place of an error. %d of them were
drawn, until %d compiled. The unit tests, ` + "`%s`" + `, kill those
that are here, and pass with the %d others, which are not searched.%s The last column has the first find; without one, what
the searches said that is none.

| mutant | what it changes | lock | found |
|---|---|---|---|
`

// noteEarlierTests says with how many mutants the unit tests ran before package lock changed elsewhere; "" if with
// none.
func noteEarlierTests(r mechanical.Sample) string {
	n := 0
	for _, u := range r.Mutants {
		if u.Earlier {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" With %d of all these mutants they ran before the last changes of package lock or its tests, elsewhere.", n)
}

// firstFind is the kind of lock in which a mechanical mutant was found, or all its kinds, and what found it.
func firstFind(r row) (kind, find string) {
	if r.Unbuilt != "" {
		return prose.Commas(r.kinds), unbuilt
	}
	if r.find() < 0 {
		var other []string
		for _, s := range r.Searches {
			if text := cell(s.found); text != "–" && !slices.Contains(other, text) {
				other = append(other, text)
			}
		}
		if len(other) == 0 {
			other = []string{"–"}
		}
		return prose.Commas(r.kinds), strings.Join(other, ", ")
	}
	s := r.Searches[r.find()]
	if !s.explores() || s.Runs == 0 {
		return s.Kind, strings.Split(s.Search, ",")[0] + ": " + cell(s.found)
	}
	var runs []string // from each first seed
	for _, again := range r.Searches {
		if again.explores() && again.Kind == s.Kind && (again.found.found() || again.Search == stepExplore) {
			runs = append(runs, again.runs())
		}
	}
	return s.Kind, fmt.Sprintf("explore, run %s: %s", strings.Join(runs, ", "), cell(s.found))
}

// lines are the lines of a mutant made by hand: one for each kind. The first has the cells first, the others have empty
// ones.
func lines(b *strings.Builder, r row, first, empty string) {
	if r.Unbuilt != "" {
		fmt.Fprintf(b, "| %s | %s | | | %s |\n", first, prose.Commas(r.kinds), unbuilt)
	}
	for _, k := range r.Kinds {
		fmt.Fprintf(b, "| %s | %s |\n", first, cells(k))
		first = empty
	}
}

// withReason adds why a mutant is equivalent, if it is.
func withReason(sentence string, s subject) string {
	if s.equivalent != "" {
		sentence += " Equivalent: " + s.equivalent
	}
	return sentence
}

// cells are the cells of a kind, from its name on.
func cells(k kindResult) string {
	var runs []string
	for _, f := range k.Explore {
		runs = append(runs, f.runs())
	}
	return fmt.Sprintf("%s | %s | %s | %s", k.Kind, cell(k.Library), cell(k.Sweep), strings.Join(runs, ", "))
}

// runs is the result of an exploration: the number of runs to the first violation, if there is one.
func (f found) runs() string {
	if f.found() && f.Runs > 0 {
		return prose.Thousands(f.Runs)
	}
	return cell(f)
}

// cell is the result of a search.
func cell(f found) string {
	switch {
	case f.Exit == exitPanicked:
		return "panic"
	case f.Exit == exitFails:
		return "fails without faults"
	case f.found():
		return f.What
	case f.Vacuous != "":
		return "vacuous: " + f.Vacuous
	case f.Exit != 0:
		return fmt.Sprintf("exit %d", f.Exit)
	}
	return "–"
}

// sum are the cells of a total: the number of the mutants, that of those found in one of their kinds, and which of the
// searches, in the order in which they are made, is the first to find them.
func sum(rows []row, starts int) string {
	by := map[string]int{}
	explored := 0
	for _, r := range rows {
		any := func(is func(kindResult) bool) bool { return slices.ContainsFunc(r.Kinds, is) }
		switch {
		case r.edit != nil && r.found():
			by[strings.Split(r.Searches[r.find()].Search, ",")[0]]++
		case any(func(k kindResult) bool { return k.Library.found() }):
			by[stepLibrary]++
		case any(func(k kindResult) bool { return k.Sweep.found() }):
			by[stepSweep]++
		case r.found():
			by[stepExplore]++
		}
		if r.explored(starts) {
			explored++
		}
	}
	found := by[stepLibrary] + by[stepSweep] + by[stepExplore]
	return fmt.Sprintf("%d | %d (%d %%) | %d | %d | %d | %d", len(rows), found, found*100/len(rows), by[stepLibrary], by[stepSweep], by[stepExplore], explored)
}
