package main

import (
	"fmt"
	"strings"

	"locksim/internal/prose"
	"locksim/lock"
)

const preamble = `# Findings

Made by ` + "`make findings`" + `; do not edit. How many runs a search takes to find a violation of a lock that is
wrong on purpose. Each specimen is searched as ` + "`scenarios.Check`" +
	` would search it at its default settings, within the
class of fault and the TTLs that it declares, among leaders if they are what shows it, and ` + "`single`" +
	` under pauses.
The three numbers are from the first seeds %s; – means that %s runs found nothing.

*Any* is the first violation of any kind. It may have nothing to do with the mistake: without a fence, any lock
with a lease loses data once its holder sleeps or works beyond the TTL. *Mistake* is the first violation that shows what
is wrong with this lock: claims that overlap, a lock that is stuck, a rightful holder that is refused, data that is wrong
behind a fence that seals or, for a watchdog, where the correct watchdog loses none in the same run.

`

// markdown is the document.
func markdown(rows []row, most int) string {
	var b strings.Builder
	fmt.Fprintf(&b, preamble, seeds(), prose.Thousands(most))
	b.WriteString("| lock | faults | TTL | any | mistake |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %v | %v |\n", r.Lock, r.Faults, r.TTL, r.Runs.Any, r.Runs.Mistake)
	}
	return b.String()
}

// seeds is the list of the first seeds: "1, 2 and 3".
func seeds() string {
	var out []string
	for _, s := range firstSeeds {
		out = append(out, prose.Thousands(int(s)))
	}
	return strings.Join(out[:len(out)-1], ", ") + " and " + out[len(out)-1]
}

// classes is a list of classes of fault: "pause, crash".
func classes(list []lock.Fault) string {
	if len(list) == 0 {
		return "none"
	}
	out := make([]string, len(list))
	for i, f := range list {
		out[i] = string(f)
	}
	return strings.Join(out, ", ")
}
