package tunings

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// LeadersVersion is the version of leaders as JSON.
const LeadersVersion = 1

// Leaders is what the times of elections mean for outages of their servers, and for pauses and crashes of leaders.
// Package [locksim/scenarios/tune/leaders] computes it.
type Leaders struct {
	// Version is the version of this document.
	Version int `json:"version"`
	// Settings are the elections, each with all troubles.
	Settings []Setting `json:"settings" jsonschema:"minItems=1"`
	// Wish is what a setting is recommended for; absent where none was asked for.
	Wish *Wish `json:"wish,omitempty"`
	// Advice has a setting for each system, or why there is none.
	Advice []Advice `json:"advice,omitempty"`
}

// System is what leaders are elected by.
type System string

// The systems.
const (
	// Kubernetes is the leader election of client-go.
	Kubernetes System = "kubernetes"
	// Consul is the lock of Consul's Go client.
	Consul System = "consul"
	// ZooKeeper is an ephemeral node.
	ZooKeeper System = "zookeeper"
	// Etcd is a lease of etcd.
	Etcd System = "etcd"
)

// Setting is an election with its times.
type Setting struct {
	// System is what leaders are elected by.
	System System `json:"system"`
	// Name is the setting in short, such as 15/10/2.
	Name string `json:"name"`
	// Times are its times, by the names that the system has for them.
	Times []Time `json:"times"`
	// Retries is how often a client of Consul tries to watch its lock again.
	Retries int `json:"retries,omitempty"`
	// Refused says why no client can have this setting. It has no troubles then.
	Refused string `json:"refused,omitempty"`
	// Troubles are what outages, pauses and a crash do.
	Troubles []Trouble `json:"troubles,omitempty"`
}

// Time is one time of a setting.
type Time struct {
	// Name is what the system calls it.
	Name string `json:"name"`
	// Seconds is how long it is.
	Seconds float64 `json:"seconds"`
}

// TroubleKind is what strikes a leader.
type TroubleKind string

// The troubles.
const (
	// Outage is a time in which no server answers.
	Outage TroubleKind = "outage"
	// Pause is a time in which the leader's process stands still.
	Pause TroubleKind = "pause"
	// Crash is the end of the leader's process.
	Crash TroubleKind = "crash"
)

// Trouble is what one trouble does to a leader.
type Trouble struct {
	// Kind is what strikes.
	Kind TroubleKind `json:"kind"`
	// Seconds is for how long; 0 of a crash.
	Seconds float64 `json:"seconds"`
	// Lost is the share of instants between two renewals from which on the trouble costs the leader: of those from which
	// it surely does, and of those from which it may.
	Lost Span `json:"lost"`
	// TwoSeconds is for how long two leaders act, where the leader is lost.
	TwoSeconds Span `json:"two_seconds"`
	// NoneSeconds is for how long no leader acts, where the leader is lost.
	NoneSeconds Span `json:"none_seconds"`
}

// Span is a number that lies between two others.
type Span struct {
	// Least is the smallest that it may be.
	Least float64 `json:"least"`
	// Most is the largest.
	Most float64 `json:"most"`
}

// Wish is what a setting is recommended for.
type Wish struct {
	// SurviveSeconds is how long an outage may be that costs no leader.
	SurviveSeconds float64 `json:"survive_seconds"`
	// BoundSeconds is for how long no client may lead after a crash.
	BoundSeconds float64 `json:"bound_seconds"`
}

// Advice is a setting of a system that a wish recommends.
type Advice struct {
	// System is what leaders are elected by.
	System System `json:"system"`
	// Setting is the setting, with the outage of the wish and a crash; absent where there is none.
	Setting *Setting `json:"setting,omitempty"`
	// Because says why it is this one.
	Because string `json:"because,omitempty"`
	// Impossible says why there is none.
	Impossible string `json:"impossible,omitempty"`
}

// JSON is the document, indented.
func (l *Leaders) JSON() ([]byte, error) { return indented("the elections", l) }

func indented(what string, document any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(document); err != nil {
		return nil, fmt.Errorf("write %s as JSON: %w", what, err)
	}
	return b.Bytes(), nil
}
