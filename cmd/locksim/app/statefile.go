package app

import (
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/scenarios/play"
)

// stateFile is the world at one step as replay --until-step --json prints it.
type stateFile struct {
	Scenario       string               `json:"scenario"`
	Lock           string               `json:"lock"`
	Seed           uint64               `json:"seed"`
	Mode           fence.Mode           `json:"mode"`
	Step           int                  `json:"step"`
	Event          string               `json:"event"`
	Over           bool                 `json:"over"`
	VirtualSeconds float64              `json:"virtual_seconds"`
	Clients        []clientFile         `json:"clients"`
	Nodes          map[string][]keyFile `json:"nodes"`
	Store          []string             `json:"store"`
	HighestToken   uint64               `json:"highest_token"`
	InFlight       []flightFile         `json:"in_flight"`
}

type clientFile struct {
	Name        string  `json:"name"`
	Condition   string  `json:"condition"`
	Holds       bool    `json:"holds"`
	Believes    bool    `json:"believes"`
	Token       uint64  `json:"token"`
	LeftSeconds float64 `json:"left_seconds"`
}

// keyFile is a key of a Redis node; ttl_seconds 0 means for ever.
type keyFile struct {
	Name       string  `json:"name"`
	TTLSeconds float64 `json:"ttl_seconds"`
	Value      string  `json:"value"`
}

type flightFile struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Bytes int    `json:"bytes"`
}

func newStateFile(at reports.Moment, s *play.State) *stateFile {
	f := &stateFile{Scenario: at.Scenario, Lock: at.Lock, Seed: at.Seed, Mode: at.Mode,
		Step: s.Step, Event: s.Event, Over: s.Over, VirtualSeconds: s.At.Seconds(),
		Clients: []clientFile{}, Nodes: map[string][]keyFile{}, Store: append([]string{}, s.Store...),
		HighestToken: s.Highest, InFlight: []flightFile{}}
	for _, c := range s.Clients {
		f.Clients = append(f.Clients, clientFile{c.Name, c.Condition, c.Holds, c.Believes, c.Token, c.Left.Seconds()})
	}
	for _, n := range s.Nodes {
		keys := []keyFile{}
		for _, k := range n.Keys {
			keys = append(keys, keyFile{k.Name, k.TTL.Seconds(), k.Value})
		}
		f.Nodes[n.Name] = keys
	}
	for _, l := range s.Flights {
		f.InFlight = append(f.InFlight, flightFile{l.From, l.To, l.Bytes})
	}
	return f
}
