package markdown

import (
	"fmt"
	"math"

	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/scene"
	"locksim/scenarios/play"
)

// extent is how much of a run a report in Run shows.
type extent struct {
	rows    int // of the diagram, 0 for no diagram
	steps   int // of the story
	lines   int // of the schedule
	reasons int // of a set of modes
	runes   int // of a text
	cut     string
}

const everything = math.MaxInt

// extents are tried in turn until a report fits. The diagram is bounded in any
// case, since a longer one helps nobody.
var extents = []extent{
	{60, everything, everything, everything, everything, ""},
	{24, everything, everything, everything, everything, "the diagram is shortened"},
	{24, 500, everything, everything, everything, "the diagram and the story are shortened"},
	{24, scene.MaxSteps, everything, everything, everything, "the diagram and the story are shortened"},
	{24, scene.MaxSteps, 200, scene.MaxReasons, 2000, "the diagram, the story, the reasons and the schedule are shortened"},
	{24, 24, 0, 2, 400, "the schedule is left out, and the rest shortened"},
	{0, 0, 0, 1, 160, "the diagram, the story and the schedule are left out, and the rest shortened"},
}

// fitted is the longest report that fits into the limit.
func fitted(o *play.Outcome, opt reports.Options) (string, error) {
	m := &markdown{o: o, opt: opt, scenes: scene.All(o), schedule: scene.Schedule(o.Scenario)}
	m.draw()
	size := 0
	for _, m.extent = range extents {
		text := m.String()
		if size = len(text); size <= opt.Limit {
			return text, nil
		}
	}
	return "", fmt.Errorf("reports: the report of %s takes %d bytes at its shortest, and the limit is %d: give a larger one",
		prose.Clip(prose.Visible(o.Scenario.Name), 80), size, opt.Limit)
}
