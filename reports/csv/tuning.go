package csv

import (
	"strconv"

	"locksim/internal/prose"
	"locksim/scenarios/outcome/tunings"
)

// Tuning has a row for each renewal and each TTL of its curve, and one more for the choice.
func Tuning(t *tunings.Tuning) Table {
	table := Table{Head: []string{"renewal", "ttl_seconds", "chosen", "outlives", "outlives_low", "outlives_high",
		"extrapolated", "two_at_once", "lost_unfenced", "lost_check", "lost_seal", "blocked_worst_seconds",
		"blocked_mean_seconds"}}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	for _, plan := range t.Plans {
		points := plan.Curve
		if plan.Choice != nil {
			points = append(points[:len(points):len(points)], *plan.Choice)
		}
		for i, p := range points {
			table.Rows = append(table.Rows, []string{string(plan.Renewal), number(p.TTLSeconds),
				prose.YesNo(i == len(plan.Curve)), number(p.Outlives.Value), number(p.Outlives.Low), number(p.Outlives.High),
				prose.YesNo(p.Extrapolated), number(p.Twice.Value), number(p.LostUnfenced.Value), number(p.LostCheck.Value),
				number(p.LostSeal.Value), number(p.BlockedWorstSeconds), number(p.BlockedMeanSeconds)})
		}
	}
	return table
}
