package faults

import (
	"fmt"
	"time"

	"locksim/lock/promise"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// Loss loses a share of the packets, as netem's loss, Chaos Mesh's NetworkChaos and an unsteady radio link do. A client
// and a server have a stream between them, so neither misses anything: TCP sends a lost packet again when its
// retransmission timer fires, and what was sent behind it waits. See [Resend] for the times.
//
// What is sent in one instant over one connection is one packet here. Dials are not lost, nor are acknowledgements:
// without one, TCP sends again what has arrived, which no program sees.
type Loss struct {
	// Between, And and Direction are where: see Wire.
	Between []string
	And     []string
	// Percent is how likely it is that a packet is lost, each time that it is sent: 1 to 100.
	Percent int
	// For is how long this lasts, in virtual time. 0 means until the network is healed at the end of the workload. What
	// still waits then arrives at once.
	For time.Duration
	// Direction is which way. Empty means DirectionBoth.
	Direction Direction
}

// Kind is "loss".
func (Loss) Kind() string { return "loss" }

func (l *Loss) form() Form {
	return Form{
		Text:  "packets are lost, and TCP sends them again, later each time",
		Class: promise.Latency,
		Fields: []Field{
			near(&l.Between, Anybody),
			far(&l.And, Anybody),
			{"percent", Count{To: &l.Percent, Most: 100, Units: "percent", Such: 25}, "how likely each is lost"},
			lasts(&l.For),
			way(&l.Direction, DirectionBoth),
		},
	}
}

// Apply asks a Toxifier for Resend toxics.
func (l Loss) Apply(world any) error {
	l = filled(l)
	return ask(l, world, func(t Toxifier) error {
		name := fmt.Sprintf("loss of %d percent", l.Percent)
		return t.Toxify(l.wire(), name, func(seed uint64) toxics.Toxic { return &Resend{l.Percent, seed} }, l.For)
	})
}

func (l Loss) wire() Wire { return Wire{l.Between, l.And, l.Direction} }

// String is "lose 25 percent of the packets between c0 and r0 (both) for 15s".
func (l Loss) String() string {
	return fmt.Sprintf("lose %d percent of the packets %v %s", l.Percent, l.wire(), length(l.For))
}
