package strategies

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"locksim/internal/dev/strategies/trials"
)

// sample are the searches of one strategy for one mistake.
type sample []trials.Trial

func sampleOf(all []trials.Trial) sample {
	return slices.SortedFunc(slices.Values(all), func(a, b trials.Trial) int { return cmp.Compare(a.CPU, b.CPU) })
}

// seconds is the CPU time of the search with an index; of one that was cut off, the time until then.
func (s sample) seconds(i int) float64 { return s[i].CPU.Seconds() }

func (s sample) median() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	return (s.seconds((len(s)-1)/2) + s.seconds(len(s)/2)) / 2
}

// interval are two order statistics between which the true median is with 95 % confidence at least, if there are six
// searches or more.
func (s sample) interval() (low, high float64) {
	k, tail := 0, math.Pow(0.5, float64(len(s))) // the chance that at most k of them are below the median
	for term := tail; k < len(s)/2; {
		term *= float64(len(s)-k) / float64(k+1)
		if 2*(tail+term) > 0.05 {
			break
		}
		tail += term
		k++
	}
	return s.seconds(k), s.seconds(len(s) - 1 - k)
}

func (s sample) runs() int {
	var all []int
	for _, t := range s {
		all = append(all, t.Runs)
	}
	slices.Sort(all)
	if len(all) == 0 {
		return 0
	}
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

func (s sample) found() int {
	n := 0
	for _, t := range s {
		if t.Found {
			n++
		}
	}
	return n
}

// ratios compares a strategy with another on some mistakes: the geometric mean of the ratios of median CPU times, with
// an interval of 95 % from drawing mistakes and searches anew. Where both were cut off in the median, the ratio is 1.
func ratios(all []mistake, found map[string]result, strategy, by string) (mean, low, high float64) {
	const draws = 2000
	dice := rand.New(rand.NewPCG(1, uint64(len(all))))
	mean = geometric(all, func(m mistake) float64 {
		r := found[m.name]
		return sampleOf(r.of(strategy)).median() / sampleOf(r.of(by)).median()
	})
	var means []float64
	for range draws {
		drawn := make([]mistake, len(all))
		for i := range drawn {
			drawn[i] = all[dice.IntN(len(all))]
		}
		means = append(means, geometric(drawn, func(m mistake) float64 {
			r := found[m.name]
			return again(dice, r.of(strategy)).median() / again(dice, r.of(by)).median()
		}))
	}
	slices.Sort(means)
	return mean, means[draws/40], means[draws-1-draws/40]
}

// again draws a sample of the same size from a sample.
func again(dice *rand.Rand, from []trials.Trial) sample {
	out := make([]trials.Trial, len(from))
	for i := range out {
		out[i] = from[dice.IntN(len(from))]
	}
	return sampleOf(out)
}

func geometric(all []mistake, ratio func(mistake) float64) float64 {
	sum := 0.0
	for _, m := range all {
		sum += math.Log(ratio(m))
	}
	return math.Exp(sum / float64(len(all)))
}

const preamble = `# Search

Made by ` + "`make strategies`" + `; do not edit. How soon a search finds a mistake in a lock, in CPU seconds of one
processor and in runs, by strategy. The mistakes are those of [a fixed list](../internal/dev/strategies/mistakes.txt),
which was committed before there was a second strategy: most of them are hard. Each is searched from %d first
seeds by each strategy, in turns, for at most %v of CPU time each.

A search that finds nothing in this time counts with all of it, so a ratio is too high where only %s was cut off, too
low where only the other strategy was, and 1 where both were. Each interval has the true value with
95 %% confidence.

`

func markdown(all []mistake, found map[string]result, strategies []string) string {
	all = slices.DeleteFunc(slices.Clone(all), func(m mistake) bool {
		return slices.ContainsFunc(strategies, func(s string) bool { return len(found[m.name].of(s)) == 0 })
	})
	if len(all) == 0 {
		return "There is no result yet.\n"
	}
	var b strings.Builder
	first := found[all[0].name]
	fmt.Fprintf(&b, preamble, len(first.of(strategies[0])), first.Limit, strategies[0])
	var commits []string
	for _, m := range all {
		commits = append(commits, found[m.name].Commit)
	}
	slices.Sort(commits)
	fmt.Fprintf(&b, "Measured at %s.\n\n", strings.Join(slices.Compact(commits), ", "))
	fmt.Fprintf(&b, "## CPU time to the first find, measured by that of %s\n\n| mistakes |", strategies[0])
	for _, s := range strategies[1:] {
		fmt.Fprintf(&b, " %s |", s)
	}
	fmt.Fprintf(&b, "\n|---|%s\n", strings.Repeat("---|", len(strategies)-1))
	for _, class := range append([]string{""}, classes(all)...) {
		some := of(all, class)
		fmt.Fprintf(&b, "| %s (%d) |", cmp.Or(class, "all"), len(some))
		for _, s := range strategies[1:] {
			mean, low, high := ratios(some, found, s, strategies[0])
			fmt.Fprintf(&b, " %.2f [%.2f, %.2f] |", mean, low, high)
		}
		b.WriteString("\n")
	}
	survival(&b, all, found, strategies)
	b.WriteString("\n## Each mistake\n\nMedian CPU seconds, with the interval; median runs; how many of the searches " +
		"found it.\n\n| mistake | lock |")
	for _, s := range strategies {
		fmt.Fprintf(&b, " %s |", s)
	}
	fmt.Fprintf(&b, "\n|---|---|%s\n", strings.Repeat("---|", len(strategies)))
	for _, m := range all {
		name := m.name
		if m.patch != nil {
			name = fmt.Sprintf("[%s](../%s)", m.name, m.patch.Path)
		}
		fmt.Fprintf(&b, "| %s | %s |", name, m.lock)
		for _, s := range strategies {
			x := sampleOf(found[m.name].of(s))
			low, high := x.interval()
			fmt.Fprintf(&b, " %.2f [%.2f, %.2f] s, %d, %d of %d |", x.median(), low, high, x.runs(), x.found(), len(x))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// survival writes how many of all searches have not found their mistake after so many CPU seconds.
func survival(b *strings.Builder, all []mistake, found map[string]result, strategies []string) {
	limit := found[all[0].name].Limit.Seconds()
	times := slices.DeleteFunc([]float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100},
		func(t float64) bool { return t > limit })
	b.WriteString("\n## Searches that have not found their mistake yet\n\n| CPU seconds |")
	for _, t := range times {
		fmt.Fprintf(b, " %v |", t)
	}
	fmt.Fprintf(b, "\n|---|%s\n", strings.Repeat("---|", len(times)))
	for _, s := range strategies {
		fmt.Fprintf(b, "| %s |", s)
		for _, t := range times {
			left, searches := 0, 0
			for _, m := range all {
				for _, x := range found[m.name].of(s) {
					searches++
					if !x.Found || x.CPU.Seconds() > t {
						left++
					}
				}
			}
			fmt.Fprintf(b, " %.0f %% |", 100*float64(left)/float64(searches))
		}
		b.WriteString("\n")
	}
}

// classes are the classes of the mistakes, in the order of the list.
func classes(all []mistake) []string {
	var out []string
	for _, m := range all {
		if !slices.Contains(out, m.class) {
			out = append(out, m.class)
		}
	}
	return out
}

// of are the mistakes of a class; all for "".
func of(all []mistake, class string) []mistake {
	return slices.DeleteFunc(slices.Clone(all), func(m mistake) bool { return class != "" && m.class != class })
}
