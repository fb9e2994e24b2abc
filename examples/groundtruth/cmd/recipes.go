package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"locksim/examples/articles"
	"locksim/internal/prose"
)

// recipes is the section about the locks that people copy.
func (m *measurement) recipes(w *bytes.Buffer) {
	all := articles.Recipes()
	fails, apart := 0, []string(nil)
	for _, r := range all {
		if r.Try != nil {
			apart = append(apart, r.ID)
		}
		if slices.ContainsFunc(m.checks(r.ID, "", false), func(c result) bool { return c.Found }) {
			fails++
		}
	}
	fmt.Fprintf(w, `
## The lock that you copied

Recipes as well-read articles on distributed locks print them: the same ideas with the same choices, right or wrong, written anew as
their readers would paste them, over the default options of their clients. They are judged like everybody's lock, by what their text
promises, and counted apart from the bugs above. What was expected of each was written down before its first run. Of %d recipes %d
fail. Runs and seconds are as above. Those that are no locks, %s, are used by clients of worlds of their own,
in 300 runs at most, half of them with faults.

| recipe | what it is | from three first seeds | kind | play it, in `+"`examples/groundtruth`"+` |
|---|---|---|---|---|
`, len(all), fails, prose.Commas(apart))
	for _, r := range all {
		fmt.Fprintf(w, "| [%s](%s/%s.md) | %s | %s | %s | `go run ./cmd %[1]s` |\n", r.ID, folder, r.ID, r.Idea,
			outcome(m.checks(r.ID, "", false), "**fails**"), cmp.Or(r.Kind, "–"))
	}
}

func (m *measurement) recipe(r articles.Recipe) []byte {
	var w bytes.Buffer
	expected := "passes"
	if r.Fails {
		expected = "fails"
	}
	fmt.Fprintf(&w, "<!-- Written by make groundtruth. Do not edit. -->\n\n# %s\n\n%s.\n\n- The text promises: %s "+
		"Judged under: %s.\n- Expected: it %s: %s.\n",
		r.ID, r.Idea, r.Says, cmp.Or(promised(r.Lock.Promise), "no fault"), expected,
		strings.TrimPrefix(r.Expect, "passes: "))
	if c, ok := shown(m.checks(r.ID, "", false)); ok {
		word := "Passes"
		if c.Found {
			word = "Found as"
		}
		fmt.Fprintf(&w, "- %s: %s\n", word, story(c.Text))
	}
	fmt.Fprintf(&w, "- Why: %s\n- Play it, in `examples/groundtruth`: `go run ./cmd %s`\n\n[All "+
		"rows](../GROUNDTRUTH.md)\n", r.Cause, r.ID)
	return w.Bytes()
}
