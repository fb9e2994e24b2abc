package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locksim/internal/book"
	"locksim/internal/prose"
	"locksim/reports/grid"
)

const intro = `# Redlock in figures

<!-- Written by go -C internal/dev run ./redlock -table. Do not edit. -->

**%s**

The [page on Redlock](https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/) asks for analyses, and
has had the same two since 2016: Martin Kleppmann's, and the answer of antirez. This is a third one, in figures: how
often each trouble that they argue about does harm, to Redlock and to the locks that one would take in its place.

Each cell is a scenario: six clients want one lock with a lease of 10 s for a section of 4 s, and at one moment a
trouble strikes, whatever they are doing then. Mostly one of them has the lock at that moment, and another one waits
for it. The seed draws when each client asks and how long each message takes. So a figure is the share of such runs,
and no rate of your system: what matters is which figures are 0, which are not, and how locks compare.

A cell has two figures: in what share of the runs **two clients had the lock at once**, by what it had promised to
each, and, after the stroke, in what share an acknowledged **update was lost**. No fence guards the data, so that the
lock alone is seen. In brackets is the interval of 95 %% (Wilson). *0* was in none of the runs: of 1,000 that means
fewer than 0.38 %%, and of 300, for etcd, ZooKeeper and Sentinels, fewer than 1.3 %%.

The lock is our implementation of Redlock, after its specification, in the simulated world, where the clients run as
they are, over a network with delays of 1 to 5 ms. %s runs, %s of CPU time.
`

// page is reports/REDLOCK.md.
func page(b *book.Book[key, result]) (string, error) {
	rows, err := argument()
	if err != nil {
		return "", err
	}
	runs, cpu, commits := 0, time.Duration(0), map[string]bool{}
	for _, c := range cells() {
		r, ok := b.Latest(c.key())
		if !ok {
			return "", fmt.Errorf("%s with %s was not played: leave -stored and -cells out", c.scenario(), c.row.lock)
		}
		runs, cpu = runs+r.Runs, cpu+r.CPU
		commits[r.Commit] = true
	}
	p := new(prose.Page)
	p.Add([]string{strings.TrimSpace(fmt.Sprintf(intro, quotable(b), prose.Thousands(runs), prose.Span(cpu.Seconds())))})
	p.Add(argued(b, rows))
	for _, t := range tables {
		p.Add(t.section(b))
	}
	p.Add(onRealServers())
	p.Add(howToMake(slices.Sorted(maps.Keys(commits))))
	var out strings.Builder
	if err := p.Render(&out); err != nil {
		return "", err
	}
	return strings.TrimRight(out.String(), "\n") + "\n", nil
}

// argued is what was said, beside what the runs show.
func argued(b *book.Book[key, result], rows []said) []string {
	lines := []string{"## What was said, and what the runs show", "",
		"Said in our words; the links lead to the pages, and the names of cells to their scenarios.", "",
		"| said | cells | the runs show |", "|---|---|---|"}
	for _, s := range rows {
		var shown []string
		for _, m := range s.Cells {
			r, _ := b.Latest(m.key())
			what := map[figure]string{twoClaims: "two claims", lostUpdates: "lost"}[m.Figure]
			shown = append(shown, fmt.Sprintf("[%s](redlock/%s.yaml), %s: %s %s", m.Cell, m.Cell, m.Lock, what,
				grid.Share(m.Figure.of(r), r.Runs)))
		}
		lines = append(lines, fmt.Sprintf("| %s %s | %s | %s |", s.Said, sources[s.Who], strings.Join(shown, "<br>"),
			strings.TrimSpace(s.Shows)))
	}
	return lines
}

func (m mention) key() key { return key{m.Cell, m.Lock} }

// section is a table: a row for each lock, a column for each size of the trouble.
func (t table) section(b *book.Book[key, result]) []string {
	head, ruler := "| "+t.column, "|---"
	for _, s := range t.sizes {
		head, ruler = head+" | "+s.name, ruler+"|---"
	}
	lines := append([]string{"## " + t.title, ""}, prose.Fold(t.text, 120)...)
	lines = append(lines, "", head+" |", ruler+"|")
	var commands []string
	for _, row := range t.rows {
		line := "| " + row.name
		for _, s := range t.sizes {
			c := cell{t, row, s}
			r, _ := b.Latest(c.key())
			line += " | " + c.figures(r)
			commands = append(commands, c.command())
		}
		lines = append(lines, line+" |")
	}
	lines = append(lines, "", "<details><summary>The command of each cell</summary>", "", "```console")
	return append(append(lines, commands...), "```", "", "</details>")
}

// figures are the two of a cell, with a link to its scenario; and in how many runs clients contended and every fault
// struck, where that is not so in nine of ten.
func (c cell) figures(r result) string {
	text := fmt.Sprintf("[%s / %s](redlock/%s.yaml)", short(r.TwoClaims, r.Runs), short(r.Lost, r.Runs), c.scenario())
	if 10*r.Tested < 9*r.Runs {
		text += fmt.Sprintf(" of which %s contended", prose.Thousands(r.Tested))
	}
	return text
}

// short is a share without the bound of one that is 0, which the page says once.
func short(n, runs int) string {
	if n == 0 {
		return "0"
	}
	return grid.Share(n, runs)
}

func howToMake(commits []string) []string {
	text := "`make redlock` plays what is missing, and writes this page; `go -C internal/dev run ./redlock -table -anew` " +
		"plays all. `locksim` stands for `go run ./cmd/locksim`, in the root of a clone. The same command prints the same " +
		"figures on every machine. `locksim run FILE --lock LOCK --seed N --fencing none` shows a run of a cell, step by " +
		"step. The results are of commit " + prose.Commas(commits) + "."
	return append([]string{"## How it is made", ""}, prose.Fold(text, 120)...)
}
