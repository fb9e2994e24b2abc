package runfolder

import (
	"fmt"
	"slices"
	"strings"

	"locksim/internal/prose"
	"locksim/reports/index"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/triage"
)

// readTriage reads what a folder remembers of its explorations.
func readTriage(c *scan, f folder, e *index.Entry) error {
	h, changed, err := readCached(c, f, triage.FileName, triage.Read)
	if err != nil {
		return err
	}
	e.Changed = c.timeText(changed)
	e.What = "Violations over time"
	var results []string
	for i := range h.Subjects {
		s := &h.Subjects[i]
		subject := s.Lock + judgedBy(s.Judge)
		results = append(results, subject+": "+s.Text())
		for _, shape := range s.Shapes {
			e.Shapes = append(e.Shapes, index.Shape{State: string(shape.State), Words: shape.State.Words(),
				Shape: fmt.Sprintf("%s: %s", subject, shape.Shape), Text: shape.Text()})
		}
		e.Unexpected = e.Unexpected || s.Worse()
	}
	order := func(s index.Shape) int { return slices.Index(triage.States(), triage.State(s.State)) }
	slices.SortStableFunc(e.Shapes, func(a, b index.Shape) int { return order(a) - order(b) })
	e.Result = strings.Join(results, " ")
	if len(results) == 0 {
		e.Result = prose.Count(0, "lock") + "."
	}
	return nil
}

// judgedBy is what a lock is judged by, after its name.
func judgedBy(judge string) string {
	switch explorations.Judge(judge) {
	case explorations.JudgePromise:
		return ", by its own promise"
	case explorations.JudgeClaims:
		return ", by its claims alone"
	}
	return ""
}
