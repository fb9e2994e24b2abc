package faults

import (
	"fmt"
	"strings"

	"locksim/lock/promise"

	"github.com/Shopify/toxiproxy/v2/toxics"
)

// MaxReplies is the most replies that a LoseReply may lose on one link.
const MaxReplies = 1000

// LoseReply loses the next replies on their way back. Their commands have been
// applied, and the connection ends instead of an answer: the client cannot know
// which. One that sends SET NX again finds its own lock there and takes it for
// somebody else's (F27).
type LoseReply struct {
	// Between is who waits for the replies: "c0".
	Between []string
	// And is who has sent them: "r0", or the store "s0". Empty means everything
	// that is not in Between.
	And []string
	// Count is how many are lost on each link, one after another: 1 to MaxReplies.
	// Each ends its connection. 0 means 1. On a new connection the first replies
	// are those of the client's handshake, if it makes one.
	Count int
	// Skip is how many replies arrive before the first of them, on each link: 0 to MaxSkipped.
	Skip int
}

// Kind is "lose_reply".
func (LoseReply) Kind() string { return "lose_reply" }

func (l *LoseReply) form() Form {
	return Form{
		Text:  "the next replies are lost after their commands were applied",
		Class: promise.Reset,
		Fields: []Field{
			near(&l.Between, Clients),
			far(&l.And, Servers|Store),
			{"count", Count{To: &l.Count, Most: MaxReplies, Units: "replies", Default: 1}, "how many are lost on each link"},
			{"skip", skip(&l.Skip), "how many replies arrive before them"},
		},
	}
}

// Apply asks a Toxifier for Lose toxics on the way back.
func (l LoseReply) Apply(world any) error {
	l = filled(l)
	return toxify(l, world, Wire{l.Between, l.And, DirectionBackward}, func(uint64) toxics.Toxic {
		return &Lose{Count: l.Count, Skip: l.Skip}
	}, 0)
}

// String is "lose the next reply to c0 from r0".
func (l LoseReply) String() string {
	replies := "reply"
	if l = filled(l); l.Count != 1 {
		replies = fmt.Sprint(l.Count, " replies")
	}
	return fmt.Sprintf("lose the %s to %s from %s", nth(l.Skip, replies), strings.Join(l.Between, ", "),
		orEverything(l.And))
}
