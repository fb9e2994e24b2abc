// Package campaign has the content of the reports of explorations and sweeps: counts
// in words, what the runs prove, the problems that make the result unreliable, and
// the story of a violation.
package campaign

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"locksim/internal/prose"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/sweeps"
	"locksim/scenarios/outcome/tally"
)

// Tallies writes "no fault struck 3, nobody contended 12", and "" for an empty map.
func Tallies[K ~string](of map[K]int) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprintf("%s %s", key, prose.Thousands(of[key])))
	}
	return strings.Join(parts, ", ")
}

// Coverage writes "12 of 13; never: pause": how many of the classes of fault that an
// exploration draws struck in a run. It is "" where no fault is drawn.
func Coverage(e *explorations.Exploration) string {
	never, all := e.Uncovered()
	if all == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d", all-len(never), all)
	if len(never) > 0 {
		text += "; never: " + prose.Commas(never)
	}
	return text
}

func evidence(e *explorations.Exploration) string {
	return fmt.Sprintf("%s that tested the %s", prose.Count(e.Summary.Evidence, "run"), e.Plan.Trial())
}

// ExplorationVerdict says what the runs of an exploration prove.
func ExplorationVerdict(e *explorations.Exploration) string {
	s := &e.Summary
	bound := fmt.Sprintf("with 95 %% confidence fewer than %s of such runs break it", tally.Percent(s.RateBound))
	switch {
	case s.Violating > 0 && e.StoppedAt != nil:
		return "The exploration ended with the first violation; --all goes on."
	case s.Violating > 0:
		return fmt.Sprintf("A violation in %s of %s; %s. %s; %s with a violation not examined.",
			prose.Thousands(s.Violating), evidence(e), bound,
			prose.Count(len(s.Failures), "different violation"), prose.Count(s.Unexamined, "run"))
	case s.Evidence == 0:
		return fmt.Sprintf("No run tested the %s.", e.Plan.Trial())
	case s.Unproven() != "":
		return fmt.Sprintf("No violation, but these runs do not test the %s.", e.Plan.Trial())
	}
	text := fmt.Sprintf("No violation in %s; %s. That is no proof.", evidence(e), bound)
	for _, doubt := range s.Uncounted() {
		text += " " + doubt + "."
	}
	if s.Novelty != nil && e.Plan.Space.Store == "" {
		text += " Not seen yet: " + s.Novelty.String() + "."
	}
	if len(e.Plan.NotAsked) > 0 {
		text += " Not asked: " + strings.Join(e.Plan.NotAsked, "; ") + "."
	}
	for _, noted := range e.Plan.Noted {
		text += " Noted: " + noted + "."
	}
	return text
}

// ExplorationDoubts are the problems that make the result of an exploration
// unreliable. A line that continues the one before it is indented.
func ExplorationDoubts(e *explorations.Exploration) []string {
	lines := append(incomplete(e.Complete, e.Timing.Shard, e.Missing, e.Plan.Block), unproven(&e.Summary.Tally)...)
	for _, problem := range e.Problems() {
		for i, line := range strings.Split(strings.TrimRight(problem, "\n"), "\n") {
			if i > 0 {
				line = "  " + line
			}
			lines = append(lines, unfolded(line))
		}
	}
	return lines
}

// SweepDoubts are the problems that make the result of a sweep unreliable.
func SweepDoubts(s *sweeps.Sweep) []string {
	lines := append(incomplete(s.Complete, s.Timing.Shard, s.Missing, s.Plan.Block), unproven(&s.Summary.Tally.Tally)...)
	for line := range strings.Lines(s.Problem()) {
		lines = append(lines, unfolded(strings.TrimRight(line, "\n")))
	}
	return lines
}

// Struck writes "e0 42, e1 30": how many placements of a sweep strike each server. It is "" where no fault strikes one.
func Struck(s *sweeps.Sweep) string {
	var parts []string
	struck := 0
	for _, x := range s.Plan.Servers {
		struck += x.Placements
		parts = append(parts, x.Name+" "+prose.Thousands(x.Placements))
	}
	if struck == 0 {
		return ""
	}
	return strings.Join(parts, ", ")
}

// unproven says why runs without a violation do not test the lock, or what casts doubt on it, if anything does.
func unproven(t *tally.Tally) []string {
	if doubt := t.Doubt(); doubt != "" && t.Violating == 0 {
		return append([]string{"DOUBT: " + doubt}, untested(t)...)
	}
	return untested(t)
}

// untested says why runs without a violation do not test the lock, if they do not.
func untested(t *tally.Tally) []string {
	if why := t.Unproven(); why != "" && t.Violating == 0 {
		return []string{fmt.Sprintf("THE LOCK WAS NOT TESTED: %s.", why)}
	}
	return nil
}

// incomplete says how many jobs have no result; runs is the number of runs of a job.
func incomplete(complete bool, shard string, missing, runs int) []string {
	switch {
	case complete:
		return nil
	case shard != "":
		return []string{fmt.Sprintf("This is shard %s: %s of %d runs are missing. Merge puts the shards together.", shard,
			prose.Count(missing, "job"), runs)}
	}
	return []string{fmt.Sprintf("INCOMPLETE: %s of %d runs have no result.", prose.Count(missing, "job"), runs)}
}

// unfolded is a line with one space between its words.
func unfolded(line string) string { return prose.FoldIndented(line, math.MaxInt)[0] }
