package html

import (
	"locksim/reports/scene"
)

// The measures of a diagram, in pixels. The script keeps the vertical ones and
// lays out the time axis anew for the width of the window.
const (
	chartWidth  = 1160
	chartGutter = 64 // for the names of the lanes
	chartRight  = 18
	axisHeight  = 42 // a row for the times, one for the names of moments
	footHeight  = 6
	stripHeight = 17 // one row of faults on a lane
	clientLane  = 40
	recordLane  = 24
	nodeLane    = 26
	laneGap     = 6
)

// lane is a lane as it is drawn.
type lane struct {
	scene.Lane
	Y, H   int // from the top of the diagram, without the gap
	Strips int // rows of faults
}

// laneHeights are how high the lanes of each kind are, without their strips.
var laneHeights = map[scene.LaneKind]int{scene.LaneClient: clientLane, scene.LaneRecord: recordLane, scene.LaneServer: nodeLane, scene.LaneStore: nodeLane}

// stack gives each lane its place, once it is known how many strips it needs,
// and returns the height of all.
func stack(lanes []*lane) int {
	y := axisHeight
	for _, l := range lanes {
		l.Y = y
		l.H = laneHeights[l.Kind] + l.Strips*stripHeight
		y += l.H + laneGap
	}
	return y + footHeight
}

// middle is where the bars of a lane lie.
func (l *lane) middle() int {
	top := l.Y + l.Strips*stripHeight
	if l.Kind == scene.LaneClient {
		return top + 15
	}
	return top + (l.Y+l.H-top)/2
}

// port is where the messages of a lane begin and end: below a client's bars, at
// a node's line.
func (l *lane) port() int {
	if l.Kind == scene.LaneClient {
		return l.Y + l.H - 6
	}
	return l.middle()
}

// Baseline is where the lane's own line is drawn.
func (l *lane) Baseline() int { return l.port() }

// Bottom is where the lane ends.
func (l *lane) Bottom() int { return l.Y + l.H }

// NameY is where its name stands.
func (l *lane) NameY() int { return l.middle() + 4 }
