package faults

import (
	"fmt"
	"strings"

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
}

// Kind is "lose_reply".
func (LoseReply) Kind() string { return "lose_reply" }

// Apply asks a Toxifier for Lose toxics on the way back.
func (l LoseReply) Apply(world any) error {
	return toxify(l, world, l.wire(), func(uint64) toxics.Toxic {
		return &Lose{Count: l.count()}
	}, 0)
}

// Validate returns a *FieldError when a side makes no sense or the count is out
// of range.
func (l LoseReply) Validate() error {
	return first(
		l.wire().validate("no replies are lost"),
		within1To("count", l.count(), MaxReplies, "replies"),
	)
}

func (l LoseReply) count() int {
	if l.Count == 0 {
		return 1
	}
	return l.Count
}

func (l LoseReply) wire() Wire { return Wire{l.Between, l.And, DirectionBackward} }

// String is "lose the next reply to c0 from r0".
func (l LoseReply) String() string {
	replies := "reply"
	if l.count() != 1 {
		replies = fmt.Sprint(l.count(), " replies")
	}
	return fmt.Sprintf("lose the next %s to %s from %s", replies, strings.Join(l.Between, ", "), orEverything(l.And))
}
