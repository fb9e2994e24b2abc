package faults

import (
	"fmt"
	"regexp"
)

// The events that the workload driver passes in every round of a client, in
// this order. A lock or workload may pass further named points of its own: any
// label of lower-case letters, digits and hyphens is an event's name.
const (
	EventAcquire  = "acquire"  // it is about to ask for the lock
	EventGranted  = "granted"  // it has been given the lock
	EventRead     = "read"     // it has read the protected value
	EventWrite    = "write"    // it is about to write
	EventWritten  = "written"  // its write has been answered, or given up
	EventRelease  = "release"  // it is about to release
	EventReleased = "released" // the release has returned
)

// Events lists the events of the workload driver in the order of a round. The
// caller owns the slice.
func Events() []string {
	return []string{
		EventAcquire, EventGranted, EventRead, EventWrite,
		EventWritten, EventRelease, EventReleased,
	}
}

// Event is a moment in a client's work that can set a fault off.
type Event struct {
	// Client is the process that passes the event: "c0".
	Client string
	// Name is the event, one of Events or any other named point.
	Name string
	// Nth says which passing is meant, counted from 1 for each client and name.
	Nth int
}

var label = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// Validate returns a *FieldError for the first field that makes no sense, or
// nil. Its fields are "client", "event" and "nth".
func (e Event) Validate() error {
	switch {
	case e.Client == "":
		return wrong("client", "no client is named: say whose event it is, such as c0")
	case !label.MatchString(e.Name):
		return wrong("event", "%q cannot be an event: write a label of a-z, 0-9 and -, such as %s", e.Name, EventRead)
	case e.Nth < 1:
		return wrong("nth", "%d is not a count: 1 is the first time that %s passes %s", e.Nth, e.Client, e.Name)
	}
	return nil
}

// String is the event as a phrase: "when c0 passes read", "when c0 passes read
// for the 2nd time".
func (e Event) String() string { return "when " + e.passing() }

func (e Event) passing() string {
	if e.Nth == 1 {
		return fmt.Sprintf("%s passes %s", e.Client, e.Name)
	}
	return fmt.Sprintf("%s passes %s for the %s time", e.Client, e.Name, ordinal(e.Nth))
}

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n, suffix)
}
