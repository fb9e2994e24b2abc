package reach

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"locksim/internal/prose"
)

const preamble = `# Reach

Made by ` + "`make reach`" +
	`; do not edit. How much of what can be wrong with a lock a search finds. Each line is one mistake in a
lock, from a sample that was drawn of all: %d of the %d that were made by hand and that a run can show, and %d of the %d mechanical
ones that the unit tests of package lock notice. Each is searched as ` + "`locksim explore --promise`" +
	` does, from each of the first
seeds %s, for at most %s runs and %v of CPU time. What is found must pass with the lock that has no mistake.

`

// markdown is the table. It depends on the population, the results and the limits alone.
func markdown(p population, found map[string]result, l limits) string {
	var seeds, commits, missing []string
	for _, s := range firstSeeds {
		seeds = append(seeds, prose.Thousands(int(s)))
	}
	for _, s := range p.sample() {
		if r, ok := found[s.name]; ok {
			commits = append(commits, r.Commit)
		} else {
			missing = append(missing, s.name)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, preamble, p.handSize, len(p.byHand), p.mechanSize, len(p.mechanical), prose.Commas(seeds),
		prose.Thousands(l.Runs), l.CPU)
	if len(missing) > 0 {
		fmt.Fprintf(&b, "Without a result yet, %d: %s.\n\n", len(missing), prose.Commas(missing))
	}
	slices.Sort(commits)
	fmt.Fprintf(&b, "Measured at %s. The shares are those of all such mistakes, with 95 %% confidence.\n\n",
		prose.Commas(slices.Compact(commits)))
	b.WriteString("| mistakes | in the sample | found from a seed at least | found from every seed |\n|---|---|---|---|\n")
	for _, part := range p.parts() {
		some, every, of := 0, 0, 0
		for _, s := range part.sample {
			r, ok := found[s.name]
			if !ok {
				continue
			}
			of++
			if n := r.found(); n > 0 {
				some++
				if n == len(firstSeeds) {
					every++
				}
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", part.name, of, share(some, of), share(every, of))
	}
	for _, part := range p.parts() {
		fmt.Fprintf(&b, "\n## %s\n\n| mistake | what it breaks | lock | runs to the first violation |\n|---|---|---|---|\n",
			strings.ToUpper(part.name[:1])+part.name[1:])
		for _, s := range slices.SortedFunc(slices.Values(part.sample),
			func(a, b subject) int { return cmp.Compare(a.name, b.name) }) {
			if r, ok := found[s.name]; ok {
				fmt.Fprintf(&b, "| [%s](../%s) | %s | %s | %s |\n", strings.TrimPrefix(s.name, "mechanical/"), s.path(), s.breaks(),
					r.Lock, runs(r))
			}
		}
	}
	return b.String()
}

// part is a stratum of the sample.
type part struct {
	name   string
	sample []subject
}

func (p population) parts() []part {
	return []part{{"made by hand", p.byHand[:p.handSize]}, {"mechanical", p.mechanical[:p.mechanSize]}}
}

// share is how many of a sample, and between which percentages the share of all lies: the interval of Wilson (1927).
func share(n, of int) string {
	if of == 0 {
		return "–"
	}
	const z = 1.96
	p, size := float64(n)/float64(of), float64(of)
	middle := (p + z*z/(2*size)) / (1 + z*z/size)
	half := z / (1 + z*z/size) * math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	return fmt.Sprintf("%d (%.0f %% to %.0f %%)", n, 100*max(middle-half, 0), 100*min(middle+half, 1))
}

// runs are the runs up to the first violation, from each first seed: – where there is none.
func runs(r result) string {
	var each []string
	for _, t := range r.Trials {
		switch {
		case !t.Found:
			each = append(each, "–")
		case t.Runs == 0:
			return t.What
		default:
			each = append(each, prose.Thousands(t.Runs))
		}
	}
	return strings.Join(each, ", ")
}
