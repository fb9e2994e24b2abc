package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// text renders the results for a terminal.
func text(results []result) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range results {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Name, r.Breaks, r.testName(), r.outcome)
	}
	_ = w.Flush()
	return b.String() + "\n" + sum(results) + "\n"
}

// testName is the mutant's test with its package.
func (m mutant) testName() string { return strings.TrimPrefix(m.pkg, "./") + " " + m.test }

// sum counts the outcomes.
func sum(results []result) string {
	n := 0
	for _, r := range results {
		if r.outcome == killed {
			n++
		}
	}
	return fmt.Sprintf("%d mutants, %d of them killed.", len(results), n)
}

const preamble = `# Mutants

Made by ` + "`make mutants`" +
	`; do not edit. Each line is one realistic mistake, made in the code by a patch, and the test
that detects it. That a test passes on correct code is weak evidence until it is seen to fail on wrong code.

`

// markdownText renders the results as a Markdown document that depends on them alone.
func markdownText(results []result) string {
	var b strings.Builder
	b.WriteString(preamble + sum(results) + "\n")
	group := ""
	for _, r := range results {
		if r.Group() != group {
			group = r.Group()
			fmt.Fprintf(&b, "\n## %s\n\n| mutant | what it breaks | test | result |\n|---|---|---|---|\n", group)
		}
		_, name, _ := strings.Cut(r.Name, "/")
		fmt.Fprintf(&b, "| [%s](../%s) | %s | `%s` | %s |\n", name, r.Path, r.Breaks, r.testName(), r.outcome)
	}
	return b.String()
}
