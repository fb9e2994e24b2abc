package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// table is the result of a contest.
type table struct {
	contest
	rows []row
}

// row is the result of one contender.
type row struct {
	contender
	median    time.Duration
	ratio     float64 // to the first contender, round by round: the median
	low, high float64 // the spread of the ratio
}

// table summarizes the times of hold.
func (c contest) table(times [][]time.Duration) table {
	t := table{contest: c}
	for i, team := range c.teams {
		r := ratios(times[i], times[0])
		t.rows = append(t.rows, row{
			contender: team, median: quantile(times[i], 0.5),
			ratio: quantile(r, 0.5), low: quantile(r, low), high: quantile(r, high),
		})
	}
	return t
}

// fastest is the fastest of the peers, and the ratio of the first contender to it.
func (t table) fastest() (peer string, ratio float64) {
	for _, r := range t.rows {
		if r.peer != "" && (peer == "" || 1/r.ratio > ratio) {
			peer, ratio = r.name, 1/r.ratio
		}
	}
	return peer, ratio
}

func (t table) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n\n", t.title, t.about)
	fmt.Fprintf(&b, "| lock | median time | times that of %s | spread |\n|---|---|---|---|\n", t.rows[0].name)
	for i, r := range t.rows {
		if i == 0 {
			fmt.Fprintf(&b, "| %s | %s | 1 | |\n", r.name, short(r.median))
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s to %s |\n", r.name, short(r.median), figure(r.ratio), figure(r.low),
			figure(r.high))
	}
	peer, ratio := t.fastest()
	fmt.Fprintf(&b, "\nThe fastest peer is %s: %s takes %s of its time.\n", peer, t.rows[0].name, figure(ratio))
	return b.String()
}

// short is a time with three digits.
func short(d time.Duration) string {
	switch {
	case d >= 100*time.Millisecond:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1f ms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%.0f µs", d.Seconds()*1e6)
}

// figure is a ratio with at least two digits.
func figure(ratio float64) string {
	switch {
	case ratio >= 100:
		return fmt.Sprintf("%.0f", ratio)
	case ratio >= 10:
		return fmt.Sprintf("%.1f", ratio)
	case ratio < 0.1:
		return fmt.Sprintf("%.4f", ratio)
	}
	return fmt.Sprintf("%.2f", ratio)
}

// The shares of a spread: from the low one to the high one.
const (
	low  = 0.1
	high = 0.9
)

// quantile returns the value nearest to the quantile q, from 0 to 1.
func quantile[T time.Duration | float64](values []T, q float64) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}

// ratios divides the times of two contenders round by round.
func ratios(times, by []time.Duration) []float64 {
	all := make([]float64, len(times))
	for round := range times {
		all[round] = float64(times[round]) / float64(by[round])
	}
	return all
}
