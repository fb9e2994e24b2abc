package faults

import (
	"fmt"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// DelayMessage delays the next message, and with it all that is behind it on
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
	// Direction is which way. Empty means DirectionForward here: one message
	// from Between to And.
	Direction Direction
}

// Kind is "delay_message".
func (DelayMessage) Kind() string { return "delay_message" }

// Apply asks a Toxifier for Delay toxics.
func (d DelayMessage) Apply(world any) error {
	return toxify(d, world, d.wire(), func(uint64) toxics.Toxic { return &Delay{By: d.By} }, 0)
}

// Validate returns a *FieldError when a side makes no sense, the delay is none,
// or the direction is not known.
func (d DelayMessage) Validate() error {
	return first(
		d.wire().validate("no message is late"),
		longerThanZero("by", d.By, "a message is late by", "15s"),
	)
}

func (d DelayMessage) wire() Wire {
	if d.Direction == "" {
		d.Direction = DirectionForward
	}
	return Wire{d.Between, d.And, d.Direction}
}

// String is "delay the next message between c0 and s0 (forward) by 15s".
func (d DelayMessage) String() string {
	return fmt.Sprintf("delay the next message %v by %v", d.wire(), d.By)
}
