package reports

import "strings"

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

// lane is the line of one actor.
type lane struct {
	Name, Says string // Says is the name for those who do not know it
	Kind       laneKind
	Y, H       int // from the top of the diagram, without the gap
	Strips     int // rows of faults
}

// laneKind says what a lane is the line of.
type laneKind string

const (
	laneClient laneKind = "client"
	laneRecord laneKind = "record" // the lock, by the record of the nodes
	laneNode   laneKind = "node"
	laneStore  laneKind = "store"
)

// recordName is the lane of the lock itself.
const recordName = "lock"

// lanesOf are the lanes of a run from top to bottom: the clients, the lock by
// the nodes' own record, the nodes, the store.
func lanesOf(s *scene) []*lane {
	var lanes []*lane
	for _, c := range s.clients {
		lanes = append(lanes, &lane{Name: c, Says: "client " + c, Kind: laneClient, H: clientLane})
	}
	if len(s.run.History.Holdings) > 0 {
		lanes = append(lanes, &lane{Name: recordName, Says: "the lock, by the nodes' own record", Kind: laneRecord, H: recordLane})
	}
	for _, n := range s.nodes {
		lanes = append(lanes, &lane{Name: n, Says: serverSays(n), Kind: laneNode, H: nodeLane})
	}
	return append(lanes, &lane{Name: "s0", Says: "the store s0", Kind: laneStore, H: nodeLane})
}

// serverSays is what a server is for those who do not know its name.
func serverSays(name string) string {
	if strings.HasPrefix(name, "r") {
		return "Redis node " + name
	}
	return "server " + name
}

// serverTitle is serverSays in short.
func serverTitle(name string) string {
	if strings.HasPrefix(name, "r") {
		return "Redis " + name
	}
	return "server " + name
}

// stack gives each lane its place, once it is known how many strips it needs,
// and returns the height of all.
func stack(lanes []*lane) int {
	y := axisHeight
	for _, l := range lanes {
		l.Y = y
		l.H += l.Strips * stripHeight
		y += l.H + laneGap
	}
	return y + footHeight
}

// middle is where the bars of a lane lie.
func (l *lane) middle() int {
	top := l.Y + l.Strips*stripHeight
	if l.Kind == laneClient {
		return top + 15
	}
	return top + (l.Y+l.H-top)/2
}

// port is where the messages of a lane begin and end: below a client's bars, at
// a node's line.
func (l *lane) port() int {
	if l.Kind == laneClient {
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
