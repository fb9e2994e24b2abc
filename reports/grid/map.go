package grid

import (
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/outcome/comparisons"
)

// Standing is how a lock stands under a class of faults: what the map of a comparison
// shows in a cell.
type Standing string

// The standings.
const (
	StandsAlone   Standing = "alone"      // the data was right without a fence
	StandsFenced  Standing = "fenced"     // the data was right behind a fence
	StandsWrong   Standing = "wrong"      // behind every fence the data was wrong or the lock stuck
	StandsOutside Standing = "unpromised" // the lock promises nothing here
	StandsUnknown Standing = "untested"   // no scenario says anything
)

// standingSigns are a sign for each standing, so that no report depends on colour.
var standingSigns = map[Standing]string{StandsAlone: "✓", StandsFenced: "◐", StandsWrong: "✗", StandsOutside: "–",
	StandsUnknown: "?"}

// MapCell is a cell of the map of a comparison.
type MapCell struct {
	Standing Standing
	// Sign is the sign of the standing.
	Sign string
	// Fence is the weakest fence behind which the data was right, for StandsFenced.
	Fence fence.Mode
	// Twice says that two clients had the lock at once, although the lock promises that
	// they do not.
	Twice bool
	// Seen is what the runs showed where the lock promises nothing, in a word or two; ""
	// for nothing.
	Seen string
}

// NewMapCell is the cell of a survival.
func NewMapCell(s comparisons.Survival) MapCell {
	c := MapCell{Standing: StandsWrong}
	switch {
	case !s.Promised:
		c.Standing, c.Seen = StandsOutside, seenOutside(s)
	case s.Scenarios == 0:
		c.Standing = StandsUnknown
	case s.Fence == fence.None:
		c.Standing = StandsAlone
	case s.Fence != "":
		c.Standing, c.Fence = StandsFenced, s.Fence
	}
	c.Sign, c.Twice = standingSigns[c.Standing], s.Promised && s.Overlap != nil
	return c
}

func seenOutside(s comparisons.Survival) string {
	switch {
	case s.Scenarios == 0:
		return ""
	case s.Fence == fence.None:
		return "right"
	case s.Fence == "":
		return "wrong"
	}
	return string(s.Fence)
}

// Text is the cell in plain text.
func (c MapCell) Text() string {
	text := c.Sign
	if c.Fence != "" {
		text += " " + string(c.Fence)
	}
	if c.Twice {
		text += overlapSign
	}
	return text
}

// MapLegend explains the signs of the map in one line.
const MapLegend = "✓ the data stays right without a fence · ◐ right with the fence that is named · " +
	"✗ wrong with every fence, or no client gets the lock any more · – the lock promises nothing here · ? not tested · " +
	"! two clients had the lock at once"

// ClassName is the name of a class of faults for readers.
func ClassName(class promise.Fault) string {
	if class == comparisons.NoFault {
		return "no fault"
	}
	return string(class)
}
