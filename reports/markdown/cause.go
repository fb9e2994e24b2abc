package markdown

import "fmt"

// cause is when the violation became inevitable: the sentence, and a table of the steps that were measured.
func (m *report) cause() []string {
	c := m.o.Cause
	if c == nil {
		return nil
	}
	lines := []string{"## When it became inevitable", "", m.text(c.Says), "", "| step | time | ended badly | 95 % band |",
		"| ---: | ---: | ---: | ---: |"}
	for _, p := range c.Points {
		lines = append(lines, fmt.Sprintf("| %d | %.3fs | %d of %d | %s |", p.Step, p.Seconds, p.Bad, p.Runs, p.Band()))
	}
	return append(lines, "", literal(c.Method()))
}
