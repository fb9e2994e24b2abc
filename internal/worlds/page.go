package worlds

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"locksim/internal/prose"
	"locksim/scenarios/outcome"
)

// summary is the outcome in a sentence or two.
func (t *Table) summary() string {
	s := t.Sums()
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(s.Servers)) {
		kinds = append(kinds, fmt.Sprintf("%s: %d", kind, s.Servers[kind]))
	}
	text := prose.Count(s.Played, "pair") + " of scenario and lock played in both worlds"
	if len(kinds) > 0 {
		text += " (" + strings.Join(kinds, ", ") + ")"
	}
	text += fmt.Sprintf(", in %s: %d agree, %d differ and are explained, %d differ and are not explained.",
		prose.Count(s.Agree+s.Explained+s.Open, "cell"), s.Agree, s.Explained, s.Open)
	if s.Partly > 0 {
		text += fmt.Sprintf(" %s with a fault that the live world lacks.", prose.Count(s.Partly, "more pair"))
	}
	if s.Skipped > 0 {
		text += fmt.Sprintf(" %s not played live.", prose.Count(s.Skipped, "more pair"))
	}
	return text
}

// verdict is the last column of a cell.
func (c Cell) verdict() string {
	if c.Agrees {
		return "agree"
	}
	return "differ: " + cmp.Or(c.Why, "not explained: "+c.Reason)
}

// Text writes the table for a terminal.
func (t *Table) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "both worlds, %s simulated, %s of each pair\n\n", t.Seeds, prose.Count(t.Times, "live run"))
	b.WriteString("scenario\tlock\tscale\tmode\tsimulated\tlive\t\n")
	for _, p := range t.Pairs {
		if !p.Compared() {
			continue
		}
		for _, c := range p.Cells {
			fmt.Fprintf(&b, "%s\t%s\t%v\t%s\t%s\t%s\t%s\n", p.Scenario, p.Lock, p.Scale, c.Mode, outcome.Labels(c.Simulated),
				outcome.Labels(c.Live), c.verdict())
		}
	}
	for _, p := range t.Pairs {
		for _, why := range slices.Concat(p.NotPlayed, p.Problems) {
			fmt.Fprintf(&b, "\n%s with %s, not compared: %s", p.Scenario, p.Lock, why)
		}
		if p.Skipped != "" {
			fmt.Fprintf(&b, "\n%s with %s, not played live: %s", p.Scenario, p.Lock, p.Skipped)
		}
	}
	fmt.Fprintf(&b, "\n%s\n", t.summary())
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(tab, b.String()); err != nil {
		return err
	}
	return tab.Flush()
}

// Markdown writes the table as the page reports/LIVE.md.
func (t *Table) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `# Two worlds

Scenarios in the simulated world with %s, and live in %s: with real servers, a process for each client, a Toxiproxy between
them, and the durations of the file times the scale. `+"`make live`"+
		` writes this page. [Live runs](../docs/how-to/live.md) says how such a
run works, and what it cannot do.

The worlds agree in a cell if each label that was seen live is one that was seen in the simulation. A number after a label is how
many runs had it; a label without a number is that of all runs. Where the worlds differ, the last column says why: a seed of
the simulated world has the label too if it is judged by what a live run knows, which is neither how long a free lock stays idle,
nor the order of a queue, nor whether a call ends as the lock promises, or if it is played at the scale of the live runs, at which
a message takes a larger part of each duration; or the machine was late by more than the lock can bear.

**%s**

## Where the worlds were compared

| scenario | lock | scale | mode | simulated | live | |
|---|---|---|---|---|---|---|
`, t.Seeds, prose.Count(t.Times, "run"), t.summary())
	for _, p := range t.Pairs {
		if !p.Compared() {
			continue
		}
		for _, c := range p.Cells {
			verdict := c.verdict()
			if !c.Agrees {
				verdict = "**differ**" + strings.TrimPrefix(verdict, "differ")
			}
			fmt.Fprintf(&b, "| %s | %s | %v | %s | %s | %s | %s |\n", p.Scenario, p.Lock, p.Scale, c.Mode,
				outcome.Labels(c.Simulated), outcome.Labels(c.Live), inCell(verdict))
		}
	}
	for _, part := range []struct {
		head, about string
		why         func(Pair) []string
	}{
		{"With a fault that the live world lacks", "The runs were made without the fault, and say so. Their labels are not " +
			"compared.", func(p Pair) []string { return p.NotPlayed }},
		{"Without a result", "These runs ended with an error.", func(p Pair) []string { return p.Problems }},
		{"Not played live", "The live world cannot play these.", func(p Pair) []string {
			if p.Skipped == "" {
				return nil
			}
			return []string{p.Skipped}
		}},
	} {
		var rows []string
		for _, p := range t.Pairs {
			if why := part.why(p); len(why) > 0 {
				rows = append(rows, fmt.Sprintf("| %s | %s | %s |\n", p.Scenario, p.Lock, inCell(strings.Join(why, "; "))))
			}
		}
		if len(rows) > 0 {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| scenario | lock | why |\n|---|---|---|\n%s", part.head, part.about,
				strings.Join(rows, ""))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// inCell makes a text fit for a cell of a table in Markdown.
func inCell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text)
}
