package reports

import (
	"fmt"

	"locksim/scenarios"
)

// Options say how a report is rendered. The zero value is plain text of 120
// columns without a replay command.
type Options struct {
	// Colour says whether verdicts and decisive steps are coloured.
	Colour Colour
	// Width is the number of columns of a line, at least [MinWidth].
	// Default: 120.
	Width int
	// Repeat says how often each run was made. The report's head repeats it.
	Repeat scenarios.Repeat
	// Replay is the command that makes the run again. It becomes the last line
	// of the report. Default: there is no such line.
	Replay string
}

// MinWidth is the smallest number of columns that a report fits into. The
// table of verdicts is wider; its lines are not folded.
const MinWidth = 60

const defaultWidth = 120

func (o Options) withDefaults() (Options, error) {
	if o.Width == 0 {
		o.Width = defaultWidth
	}
	if o.Width < MinWidth {
		return o, fmt.Errorf("reports: a width of %d columns: give 0 for the default, or at least %d", o.Width, MinWidth)
	}
	if o.Colour != Plain && o.Colour != ANSI {
		return o, fmt.Errorf("reports: colour %d: give Plain or ANSI", o.Colour)
	}
	return o, nil
}
