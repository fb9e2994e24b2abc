package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// text renders the results for a terminal.
func text(table []group, results map[string]result) string {
	var b strings.Builder
	for _, g := range table {
		fmt.Fprintf(&b, "%s\n", g.title)
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, m := range g.mutants {
			_, _ = fmt.Fprintf(w, "  %s\t%s\t%s\n", m.name, m.breaks, results[m.name].end())
		}
		_ = w.Flush()
		b.WriteByte('\n')
	}
	b.WriteString(sum(results) + "\n")
	return b.String()
}

// end says in words how a mutant ended.
func (r result) end() string {
	if r.fate != killed {
		return string(r.fate)
	}
	return "killed by " + r.test
}

// sum counts the fates.
func sum(results map[string]result) string {
	count := map[fate]int{}
	for _, r := range results {
		count[r.fate]++
	}
	line := fmt.Sprintf("%d mutants: %d killed, %d survived", len(results), count[killed], count[survived])
	if n := count[stale] + count[invalid]; n > 0 {
		line += fmt.Sprintf(", %d that the table has wrong", n)
	}
	return line + "."
}

const preamble = `# Mutants

Made by ` + "`make mutants`" + `; do not edit. Each line is one realistic mistake, planted in the code alone
(` + "`go test -overlay`" + `), and the test that notices it. A test that passes on right code says little until
it is seen to fail on wrong code.

`

// markdownText renders the results as a document that is the same each time.
func markdownText(table []group, results map[string]result) string {
	var b strings.Builder
	b.WriteString(preamble + sum(results) + "\n")
	for _, g := range table {
		fmt.Fprintf(&b, "\n## %s\n\n| mutant | file | what it breaks | killed by |\n|---|---|---|---|\n", g.title)
		for _, m := range g.mutants {
			fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", m.name, m.file, m.breaks, results[m.name].markdownEnd())
		}
	}
	return b.String()
}

func (r result) markdownEnd() string {
	if r.fate != killed {
		return "**" + string(r.fate) + "**"
	}
	return "`" + r.test + "`"
}
