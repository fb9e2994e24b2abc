package main

import (
	"fmt"
	"strings"

	"locksim/internal/prose"
)

// row is a subject with its result.
type row struct {
	subject
	result
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

Made by ` + "`make reach`" + `; do not edit. Each line is one realistic mistake, made in a lock by a patch, and how
locksim itself finds it:

- *library*: ` + "`locksim matrix`" + ` with the lock, %d seeds of each scenario. The cell has the first scenario that is worse
  than expected.
- *sweep*: ` + "`locksim sweep --promise`" + `, single faults at up to %s moments of one small scenario. The cell has the first
  violation.
- *explore*: ` + "`locksim explore --promise`" + `, the number of runs to the first violation, from the first seeds %s.
  Each search ends after %s runs.

– means that nothing was found. These are no finds either: "exit 3", a run that was not deterministic or did not end,
and "vacuous", a scenario that proves nothing with the lock, when no other is worse than expected.

`

// markdown is the table. It depends on the rows and the limits alone.
func markdown(rows []row, l limits) string {
	var seeds []string
	for _, s := range firstSeeds[:l.Starts] {
		seeds = append(seeds, prose.Thousands(int(s)))
	}
	var b strings.Builder
	fmt.Fprintf(&b, preamble, l.Seeds, prose.Thousands(l.Placements), prose.Commas(seeds), prose.Thousands(l.Runs))
	b.WriteString(sum(rows))
	group := ""
	for _, r := range rows {
		if r.isRight() {
			continue
		}
		name, mutant, _ := strings.Cut(r.name, "/")
		if name != group {
			group = name
			fmt.Fprintf(&b, "\n## %s\n\n| mutant | what it breaks | lock | library | sweep | explore |\n|---|---|---|---|---|---|\n", group)
		}
		first := fmt.Sprintf("[%s](../%s) | %s", mutant, r.patch.Path, r.patch.Breaks)
		if r.equivalent != "" {
			first += " Equivalent: " + r.equivalent
		}
		if r.Unbuilt != "" {
			fmt.Fprintf(&b, "| %s | %s | | | %s |\n", first, prose.Commas(r.kinds), unbuilt)
		}
		for _, k := range r.Kinds {
			fmt.Fprintf(&b, "| %s | %s |\n", first, cells(k))
			first = " | " // of the same mutant in the next kind
		}
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

// cells are the cells of a kind, from its name on.
func cells(k kindResult) string {
	var runs []string
	for _, f := range k.Explore {
		text := cell(f)
		if f.found() {
			text = prose.Thousands(f.Runs)
		}
		runs = append(runs, text)
	}
	return fmt.Sprintf("%s | %s | %s | %s", k.Kind, cell(k.Library), cell(k.Sweep), strings.Join(runs, ", "))
}

// cell is the result of a search.
func cell(f found) string {
	switch {
	case f.found():
		return f.What
	case f.Vacuous != "":
		return "vacuous: " + f.Vacuous
	case f.Exit != 0:
		return fmt.Sprintf("exit %d", f.Exit)
	}
	return "–"
}

// sum counts the mutants that each search has found in one of their kinds, and names
// those that no search has found.
func sum(rows []row) string {
	var all, library, sweep, explore, anyway, equivalent int
	var missed []string
	for _, r := range rows {
		switch {
		case r.isRight():
			continue
		case r.equivalent != "":
			equivalent++
			continue
		}
		all++
		var byLibrary, bySweep, byExplore bool
		for _, k := range r.Kinds {
			byLibrary = byLibrary || k.Library.found()
			bySweep = bySweep || k.Sweep.found()
			byExplore = byExplore || k.explored()
		}
		library += one(byLibrary)
		sweep += one(bySweep)
		explore += one(byExplore)
		anyway += one(r.found())
		if !r.found() {
			missed = append(missed, r.name)
		}
	}
	text := fmt.Sprintf("%d mutants that can be noticed: %d found, in one kind of lock at least. The library finds %d, the sweep %d, and "+
		"explore %d from every first seed.\n", all, anyway, library, sweep, explore)
	if equivalent > 0 {
		text += fmt.Sprintf("%s more cannot be noticed, for the reason given with each.\n", prose.Count(equivalent, "mutant"))
	}
	if len(missed) > 0 {
		text += "\nNot found: " + strings.Join(missed, ", ") + ".\n"
	}
	return text
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
