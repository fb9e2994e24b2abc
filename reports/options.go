package reports

import (
	"fmt"

	"locksim/lock/fence"
	"locksim/scenarios/outcome"
)

// Options say how a report is rendered. The zero value is plain text of 120
// columns without a replay command.
type Options struct {
	// Colour says whether verdicts and decisive steps are coloured.
	Colour Colour
	// Width is the number of columns of a line, at least [MinWidth].
	// Default: 120.
	Width int
	// Repeat says how often each run was made, for the head of the report.
	Repeat outcome.Repeat
	// Replay is the command that makes the run again. It becomes the last line
	// of the report. Default: there is no such line.
	Replay string
	// Versions are the versions that a run depends on, which pages and Markdown
	// list. Default: none are listed.
	Versions []Version
	// Inspect returns the state of the world at a step of a run, for its page. It
	// adds the keys of the servers, and the bytes under way, to what the history of
	// the run has. Where it fails, the page shows the history alone. Default: the
	// page shows the history alone.
	Inspect func(mode fence.Mode, step int) (*outcome.State, error)
	// Links are the links at the head of the page. Default: there are none.
	Links []Link
	// Unseeded is advice about sources of random numbers that do not follow the seed in
	// this program. It stands below a lock that is not deterministic. Default: none.
	Unseeded string
	// Limit is the largest size of a report in Markdown in bytes, at least
	// [MinLimit]. Default: [CommentLimit].
	Limit int
}

// Colour says whether a report is coloured.
type Colour int

const (
	// Plain is text without colours.
	Plain Colour = iota
	// ANSI is text with the escape sequences of terminals for colours.
	ANSI
)

// Moment names the run that a [outcome.State] belongs to.
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

// DefaultWidth is the default of [Options.Width].
const DefaultWidth = 120

// The sizes of a report in Markdown, in bytes.
const (
	// CommentLimit is the largest comment on a pull request: 64 KiB.
	CommentLimit = 64 << 10
	// SummaryLimit is the largest step summary of a CI job: 1 MiB.
	SummaryLimit = 1 << 20
	// MinLimit is the smallest value of [Options.Limit].
	MinLimit = 8 << 10
)

// WithDefaults returns the options with the defaults in place of zero values, or an
// error that names an invalid one.
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
