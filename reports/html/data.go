package html

import (
	"slices"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/reports/diagram"
	"locksim/reports/scene"
	"locksim/scenarios/outcome"
)

// pageData is the data for the scripts of a page: the texts of the events that are
// drawn, and the state of the world after each step of a story. Only the scripts read
// it: its form may change with them.
type pageData struct {
	Texts  []string    `json:"texts"` // each once; events refer to them
	Panels []panelData `json:"panels"`
	known  map[string]int
}

// panelData is one run.
type panelData struct {
	Mode   fence.Mode  `json:"mode"`
	Fatal  int         `json:"fatal"` // the decisive step, 0 for none, and its time
	At     int64       `json:"fatalAt"`
	Since  int64       `json:"since"`  // the time from which the decisive step is understood
	Events [][6]int64  `json:"events"` // number, time in ns, then actor, kind, peer and text as texts
	States []stateData `json:"states"`
}

// stateData is the world after a step.
type stateData struct {
	N       int          `json:"n"`
	At      int64        `json:"at"`
	Lock    *string      `json:"lock,omitempty"` // the holder by the nodes' record; nil in a run without holdings
	Clients []clientData `json:"clients"`
	Nodes   []nodeData   `json:"nodes,omitempty"`
	Store   []string     `json:"store"` // null where the store s0 is not used
	Highest uint64       `json:"highest,omitempty"`
	Flights []flightData `json:"flights,omitempty"`
}

type clientData struct {
	Name     string `json:"name"`
	Is       string `json:"is"`
	Holds    bool   `json:"holds"`
	Believes bool   `json:"believes"`
	Token    uint64 `json:"token,omitempty"`
	Left     string `json:"left,omitempty"`
}

type nodeData struct {
	Name string    `json:"name"`
	Keys []keyData `json:"keys"`
}

type keyData struct {
	Name  string `json:"name"`
	TTL   string `json:"ttl"`
	Value string `json:"value"`
}

type flightData struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Bytes int    `json:"bytes"`
}

func newPageData() *pageData {
	return &pageData{Texts: []string{}, Panels: []panelData{}, known: map[string]int{}}
}

func (d *pageData) text(s string) int64 {
	s = prose.Visible(s)
	i, ok := d.known[s]
	if !ok {
		i = len(d.Texts)
		d.known[s], d.Texts = i, append(d.Texts, s)
	}
	return int64(i)
}

func (d *pageData) addPanel(s *scene.Scene, p diagram.Panel) {
	data := panelData{Mode: p.Mode, Fatal: s.Fatal, At: int64(s.At(checker.Pos(s.Fatal))), Events: [][6]int64{},
		States: []stateData{}}
	if focus := s.Focus(); focus != nil {
		data.Since = int64(focus.Start)
	}
	for _, n := range p.Drawn(s.Run.Trace.Len()) {
		e := s.Run.Trace.Events[n-1]
		data.Events = append(data.Events, [6]int64{int64(e.N), int64(e.At), d.text(e.Actor), d.text(e.Kind()), d.text(e.Peer),
			d.text(e.Text())})
	}
	d.Panels = append(d.Panels, data)
}

// maxReplayed bounds the events that are replayed to inspect the steps of a story:
// events of the run times steps of the story.
const maxReplayed = 200_000

// addStates adds to the panel of a scene the state after each step of its story.
func (d *pageData) addStates(s *scene.Scene, lines []scene.Sentence, inspect func(fence.Mode, int) (*outcome.State,
	error)) {
	if s.Run.Trace.Len()*len(lines) > maxReplayed {
		inspect = nil
	}
	i := slices.IndexFunc(d.Panels, func(p panelData) bool { return p.Mode == s.Run.Mode })
	for _, l := range lines {
		if l.Step > 0 && l.Step <= s.Run.Trace.Len() {
			d.Panels[i].States = append(d.Panels[i].States, stateOf(s, s.StateAfter(l.Step, inspect)))
		}
	}
}

func stateOf(s *scene.Scene, state *outcome.State) stateData {
	d := stateData{N: state.Step, At: int64(state.At), Store: append([]string{}, state.Store...), Highest: state.Highest}
	if s.Run.History.Fence != "" {
		d.Store = nil
	}
	if len(s.Run.History.Holdings) > 0 {
		holder := s.Holder(checker.Pos(state.Step))
		d.Lock = &holder
	}
	for _, c := range state.Clients {
		d.Clients = append(d.Clients, clientData{c.Name, c.Condition, c.Holds, c.Believes, c.Token, leaseLeft(c.Left)})
	}
	for _, n := range state.Nodes {
		node := nodeData{Name: n.Name, Keys: []keyData{}}
		for _, k := range n.Keys {
			node.Keys = append(node.Keys, keyData{prose.Visible(k.Name), scene.TTLText(k.TTL), s.ValueText(k.Value)})
		}
		d.Nodes = append(d.Nodes, node)
	}
	for _, f := range state.Flights {
		d.Flights = append(d.Flights, flightData{f.From, f.To, f.Bytes})
	}
	return d
}

func leaseLeft(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return prose.Seconds(d)
}
