package terminal

import (
	"locksim/checker"
	"locksim/reports"
)

// style is the parameter of an escape sequence; empty leaves text as it is.
type style string

const (
	unstyled style = ""
	bold     style = "1"
	alarm    style = "1;31" // bold red
	warning  style = "33"   // yellow
	relief   style = "36"   // cyan
	fine     style = "32"   // green
)

// styleOf is how a verdict looks.
func styleOf(l checker.Label) style {
	switch l {
	case checker.Corrupted, checker.Stuck, checker.FalseReject:
		return alarm
	case checker.Unknown, checker.Overlap:
		return warning
	case checker.Rescued:
		return relief
	case checker.Safe:
		return fine
	}
	return unstyled
}

// paint gives text a style, where there are colours.
func paint(c reports.Colour, s style, text string) string {
	if c == reports.Plain || s == unstyled || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}
