package main

import (
	"fmt"
	"math"
	"strings"

	"locksim/lock"
)

const preamble = `# Findings

Made by ` + "`make findings`" + `; do not edit. How many runs a search takes until a lock that is wrong on purpose is
found out. Each specimen is searched as ` + "`scenarios.Check`" + ` would search it at its default settings, within the class of
fault and the TTLs that it says of itself, and ` + "`single`" + ` under pauses. The three numbers are from the first seeds
%s; – means that %s runs found nothing.

*Any* is the first violation of whatever kind. It may have nothing to do with the mistake: without a fence, any lock
with a lease loses data once its holder sleeps or works beyond the TTL. *Mistake* is the first violation that shows what
is wrong with this lock: claims that overlap, a lock that is stuck, a rightful holder that is refused, data that is wrong
behind a fence that seals or, for a watchdog, where the right watchdog comes out of the same run whole.

*Plain* draws each schedule from its seed alone. *Guided* makes half of them out of earlier ones in which a fault met a
client in a phase of the lock's protocol that none of its kind had met before. The ratio is that of the geometric means,
guided to plain, of the runs to the mistake: below 1, guiding pays.

`

// markdown is the whole document.
func markdown(rows []row, most int) string {
	var b strings.Builder
	fmt.Fprintf(&b, preamble, seeds(), thousands(most))
	b.WriteString("| lock | faults | TTL | any, plain | any, guided | mistake, plain | mistake, guided | ratio |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %v | %v | %v | %v | %.2f |\n", r.lock, r.faults, r.ttl,
			r.plain.any, r.guided.any, r.plain.own, r.guided.own, ratio(r.plain.own, r.guided.own, most))
	}
	b.WriteString(conclusion(rows, most))
	return b.String()
}

// seeds are the first seeds, in words.
func seeds() string {
	var out []string
	for _, s := range firstSeeds {
		out = append(out, thousands(int(s)))
	}
	return strings.Join(out[:len(out)-1], ", ") + " and " + out[len(out)-1]
}

// thousands is a number with a comma every three digits.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// conclusion says what the ratios are worth.
func conclusion(rows []row, most int) string {
	if len(rows) == 0 {
		return ""
	}
	text := fmt.Sprintf("\nOver all %d locks the ratio is %.2f", len(rows), meanRatio(rows, most))
	if hard := hardRows(rows, most); len(hard) > 0 {
		text += fmt.Sprintf("; over the %d that take more than %d runs, plain and guided searches taken together, it is %.2f", len(hard), easy, meanRatio(hard, most))
	}
	return text + ". So few seeds show no gain that could not be chance, and a plain schedule depends on its seed alone: " +
		"schedules are plain unless `locksim explore --guided` asks for the other kind.\n"
}

// easy is a number of runs that is no trouble.
const easy = 20

// hardRows are the locks that take more runs than that, the two searches taken
// together: to choose by one of them would favour the other.
func hardRows(rows []row, most int) []row {
	var out []row
	for _, r := range rows {
		if math.Exp((r.plain.own.logMean(most)+r.guided.own.logMean(most))/2) > easy {
			out = append(out, r)
		}
	}
	return out
}

// meanRatio is the geometric mean of the ratios.
func meanRatio(rows []row, most int) float64 {
	total := 0.0
	for _, r := range rows {
		total += math.Log(ratio(r.plain.own, r.guided.own, most))
	}
	return math.Exp(total / float64(len(rows)))
}

// classes are classes of fault in words.
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
