package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/lock/fence"
)

// cell is a pair in one mode.
type cell struct {
	*pair
	mode fence.Mode
}

// live are the labels of the live runs.
func (c cell) live() map[checker.Label]int {
	out := map[checker.Label]int{}
	for _, r := range c.runs {
		if l, ok := r.Labels[c.mode]; ok {
			out[l]++
		}
	}
	return out
}

// agrees says that every live label was seen in the simulation too.
func (c cell) agrees() bool {
	for l := range c.live() {
		if c.simulated[c.mode][l] == 0 {
			return false
		}
	}
	return len(c.live()) > 0
}

// notPlayed are the faults that the live world lacks.
func (p *pair) notPlayed() []string {
	var out []string
	for _, r := range p.runs {
		for _, why := range r.NotPlayed {
			if !slices.Contains(out, why) {
				out = append(out, why)
			}
		}
	}
	return out
}

// cells are the modes of a pair that were judged.
func (p *pair) cells() []cell {
	var out []cell
	for _, m := range p.modes {
		out = append(out, cell{p, m})
	}
	return out
}

// counts are labels in words: "rescued" if all are the same, else "rescued 15, safe 5".
func counts(of map[checker.Label]int) string {
	if len(of) == 1 {
		for l := range of {
			return string(l)
		}
	}
	var out []string
	for _, l := range slices.SortedFunc(maps.Keys(of), func(a, b checker.Label) int { return b.Severity() - a.Severity() }) {
		out = append(out, fmt.Sprintf("%s %d", l, of[l]))
	}
	return strings.Join(out, ", ")
}

// unexplained are the cells in which the worlds differ and nothing says why.
func unexplained(all []*pair) error {
	var lines []string
	for _, p := range all {
		for _, r := range p.runs {
			if r.Problem != "" {
				lines = append(lines, fmt.Sprintf("%s with %s: run %d: %s", p.scenario.Name, p.lock.Name, r.Seed, r.Problem))
			}
		}
		for _, c := range p.cells() {
			if p.skipped == "" && len(p.notPlayed()) == 0 && !c.agrees() && explanation(c) == "" {
				lines = append(lines, fmt.Sprintf("%s with %s in mode %s: simulated %s, live %s", p.scenario.Name, p.lock.Name, c.mode,
					counts(c.simulated[c.mode]), counts(c.live())))
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return fmt.Errorf("%w:\n%s", errUnexplained, strings.Join(lines, "\n"))
}

// write writes the page.
func write(w io.Writer, all []*pair, o options) error {
	var b strings.Builder
	played, agreeing, explained, open, partly := 0, 0, 0, 0, 0
	byKind := map[string]int{}
	for _, p := range all {
		if p.skipped != "" {
			continue
		}
		if len(p.notPlayed()) > 0 {
			partly++
			continue
		}
		played++
		byKind[kindsOf(p.lock)]++
		for _, c := range p.cells() {
			switch {
			case c.agrees():
				agreeing++
			case explanation(c) != "":
				explained++
			default:
				open++
			}
		}
	}
	fmt.Fprintf(&b, `# Two worlds

Each scenario of the library that real servers can play, in the simulated world with %d seeds, and live in %d runs: with real
servers, a process for each client, a Toxiproxy between them, and the durations of the file times the scale. `+"`make live`"+` writes
this page. [Live runs](../docs/live.md) says how such a run works, and what it cannot do.

The worlds agree in a cell if each label that was seen live is one that was seen in the simulation. A number after a label is how
many runs had it; a label without a number is that of all runs. Where the worlds differ, the last column says why.

`, o.seeds, o.times)
	fmt.Fprintf(&b, "**%d pairs of scenario and lock were played (", played)
	for i, kind := range slices.Sorted(maps.Keys(byKind)) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: %d", kind, byKind[kind])
	}
	fmt.Fprintf(&b, "), in %d cells. %d agree; %d differ and are explained, %d differ and are not explained yet.** %d more pairs have a fault that the live world lacks.\n\n",
		agreeing+explained+open, agreeing, explained, open, partly)
	b.WriteString("## Where the worlds were compared\n\n| scenario | lock | scale | mode | simulated | live | |\n|---|---|---|---|---|---|---|\n")
	for _, p := range all {
		if p.skipped != "" || len(p.notPlayed()) > 0 {
			continue
		}
		for _, c := range p.cells() {
			verdict := "agree"
			if !c.agrees() {
				verdict = "**differ**: " + cmp.Or(explanation(c), "not explained yet")
			}
			fmt.Fprintf(&b, "| %s | %s | %v | %s | %s | %s | %s |\n", p.scenario.Name, p.lock.Name, p.scale, c.mode, counts(c.simulated[c.mode]), counts(c.live()), verdict)
		}
	}
	if partly > 0 {
		b.WriteString("\n## With a fault that the live world lacks\n\nThe run is made without the fault, and says so. Its labels are not compared.\n\n| scenario | lock | not played |\n|---|---|---|\n")
		for _, p := range all {
			if why := p.notPlayed(); len(why) > 0 {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", p.scenario.Name, p.lock.Name, strings.Join(why, "; "))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
