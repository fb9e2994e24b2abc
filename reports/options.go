package reports

import (
	"fmt"

	"locksim/lock/fence"
	"locksim/scenarios/play"
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
	Repeat play.Repeat
	// Replay is the command that makes the run again. It becomes the last line
	// of the report. Default: there is no such line.
	Replay string
	// Versions are those that a run depends on, as pages and Markdown list them.
	// Default: it lists none.
	Versions []Version
	// Inspect looks at the world at a step of a run, for its page: it
	// adds the keys of the servers, and the bytes under way, to what the
	// run's own history knows. Where it fails, the page shows the history alone.
	// Default: there is no such look.
	Inspect func(mode fence.Mode, step int) (*play.State, error)
	// Alike says how the page of an outcome shows runs that were the same. Default: each apart.
	Alike Alike
	// Links lead from the head of its page to pages around it. Default:
	// there are none.
	Links []Link
	// Limit is how many bytes a report in Markdown may take, at least
	// [MinLimit]. Default: [CommentLimit].
	Limit int
}

// Colour says whether a report is coloured.
type Colour int

const (
	// Plain is text without colours.
	Plain Colour = iota
	// ANSI colours by the escape sequences that terminals understand.
	ANSI
)

// Alike says how the page of a run shows runs that were the same, event by event, and
// ended alike.
type Alike int

const (
	// Apart gives each run a diagram and a story of its own. It is the default.
	Apart Alike = iota
	// Together gives them one diagram and one story that name all of their modes.
	// A page of many modes is then a fraction as long.
	Together
)

// Moment names the run that a [play.State] belongs to.
type Moment struct {
	Scenario, Lock string
	Seed           uint64
	Mode           fence.Mode
}

// Version is the version of something that a run depends on.
type Version struct {
	Name, Version string
}

// Link is a link to another page, by its address from the one that has the link.
type Link struct {
	Text string `json:"text"`
	Href string `json:"href"`
}

// MinWidth is the smallest number of columns that a report fits into. The
// table of verdicts is wider; its lines are not folded.
const MinWidth = 60

// DefaultWidth is the number of columns of a line where nothing else is asked for.
const DefaultWidth = 120

// The sizes of a report in Markdown, in bytes.
const (
	// CommentLimit is what a comment on a pull request can hold: 64 KiB.
	CommentLimit = 64 << 10
	// SummaryLimit is what a step summary of a CI job can hold: 1 MiB.
	SummaryLimit = 1 << 20
	// MinLimit is the smallest limit that a report is cut to.
	MinLimit = 8 << 10
)

// WithDefaults are the options with the defaults in place of zero values. The error
// says which of them makes no sense.
func (o Options) WithDefaults() (Options, error) {
	if o.Limit == 0 {
		o.Limit = CommentLimit
	}
	if o.Limit < MinLimit {
		return o, fmt.Errorf("reports: a limit of %d bytes: give 0 for the default, or at least %d", o.Limit, MinLimit)
	}
	if o.Width == 0 {
		o.Width = DefaultWidth
	}
	if o.Width < MinWidth {
		return o, fmt.Errorf("reports: a width of %d columns: give 0 for the default, or at least %d", o.Width, MinWidth)
	}
	if o.Colour != Plain && o.Colour != ANSI {
		return o, fmt.Errorf("reports: colour %d: give Plain or ANSI", o.Colour)
	}
	return o, nil
}
