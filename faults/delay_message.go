package faults

import (
	"fmt"
	"time"

	"locksim/lock/promise"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// DelayMessage delays the next message, or a later one, and with it all that is behind it on
// its connection. Other connections overtake it. So a write that was sent while
// its client held the lock arrives under the next holder (F13), and a request
// that was given up arrives after the release (F28).
type DelayMessage struct {
	// Between, And and Direction are where: see Wire. On each link, and in each
	// direction of it, one message is delayed.
	Between []string
	And     []string
	// By is for how long. It must be positive.
	By time.Duration
	// Skip is how many messages pass before it, on each link and in each direction: 0 to MaxSkipped. Messages of one
	// instant count as one.
	Skip int
	// Direction is which way. Empty means DirectionForward here: one message
	// from Between to And.
	Direction Direction
}

// Kind is "delay_message".
func (DelayMessage) Kind() string { return "delay_message" }

func (d *DelayMessage) form() Form {
	return Form{
		Text:  "the next message is late, and others overtake it",
		Class: promise.Latency,
		Fields: []Field{
			near(&d.Between, Anybody),
			far(&d.And, Anybody),
			{"by", Offset{To: &d.By, Such: 15 * time.Second}, "how late it is"},
			{"skip", skip(&d.Skip), "how many messages pass before it"},
			way(&d.Direction, DirectionForward),
		},
	}
}

// Apply asks a Toxifier for Delay toxics.
func (d DelayMessage) Apply(world any) error {
	d = filled(d)
	return toxify(d, world, d.wire(), func(uint64) toxics.Toxic { return &Delay{By: d.By, Skip: d.Skip} }, 0)
}

func (d DelayMessage) wire() Wire { return Wire{d.Between, d.And, d.Direction} }

// String is "delay the next message between c0 and s0 (forward) by 15s".
func (d DelayMessage) String() string {
	d = filled(d)
	return fmt.Sprintf("delay the %s %v by %v", nth(d.Skip, "message"), d.wire(), d.By)
}

// MaxSkipped is the most messages that may pass before one that is delayed or lost.
const MaxSkipped = 1000

// skip is the field for how many messages pass before the first that is struck.
func skip(to *int) Count {
	return Count{To: to, Most: MaxSkipped, Units: "messages", Such: 3, None: "it is the next one"}
}

// nth is "next message", or "message after the next 3".
func nth(skipped int, what string) string {
	if skipped == 0 {
		return "next " + what
	}
	return fmt.Sprintf("%s after the next %d", what, skipped)
}
