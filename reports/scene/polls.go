package scene

import (
	"fmt"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
)

// Poll is a span of time in which a client sent the same requests again and again, on
// the lane of that client: it asks whether the lock is free, or renews its lease. A
// diagram shows it as one mark instead of the messages.
type Poll struct {
	Span
	Servers  []string // that it asked, in the order of their names
	Requests int
	// Steps are the sendings of the requests and of their answers.
	Steps       []int
	Description string // a phrase with the client, the count and the time
}

// pollFrom is how many requests in succession a diagram shows as one mark.
const pollFrom = 3

// Polls finds in the messages of the run the requests that clients repeat, with their
// answers. A request that is not repeated ends a poll. Lost and decisive messages are
// none, and neither is the last exchange with each server before a grant: it is the one
// that took the lock.
func (s *Scene) Polls(messages []Message) []Poll {
	var out []Poll
	for _, c := range s.Clients {
		out = append(out, s.pollsOf(c, messages)...)
	}
	slices.SortStableFunc(out, func(a, b Poll) int { return a.Step - b.Step })
	return out
}

func (s *Scene) pollsOf(client string, messages []Message) []Poll {
	var out []Poll
	var p Poll
	taking := s.taking(client, messages)
	finish := func() {
		if p.Requests >= pollFrom {
			slices.SortFunc(p.Servers, byName)
			p.Description = fmt.Sprintf("%s sends the same requests again and again, %s to %s, %s",
				client, prose.Count(p.Requests, "request"), strings.Join(p.Servers, ", "), p.during())
			out = append(out, p)
		}
		p = Poll{}
	}
	for i, m := range messages {
		if m.From != client && m.To != client {
			continue
		}
		asks := m.From == client
		if !m.Routine || taking[i] {
			if asks {
				finish()
			}
			continue
		}
		if m.Lost || m.Fatal || !asks && p.Requests == 0 {
			continue
		}
		if p.Requests == 0 {
			p.Span = m.Span
			p.Lane = client
		}
		if asks {
			p.Requests++
			if !slices.Contains(p.Servers, m.To) {
				p.Servers = append(p.Servers, m.To)
			}
		}
		p.Steps = append(p.Steps, m.Step)
		if m.End >= p.End {
			p.Until, p.End = m.Until, m.End
		}
	}
	finish()
	return out
}

// taking are the messages of the last exchange of a client with each server before each
// of its grants, by their indices.
func (s *Scene) taking(client string, messages []Message) map[int]bool {
	out := map[int]bool{}
	for _, g := range s.Run.History.Grants {
		if g.Client != client {
			continue
		}
		seen := map[string]bool{} // "c0>r0" and "r0>c0"
		after, _ := slices.BinarySearchFunc(messages, g.Granted,
			func(m Message, p checker.Pos) int { return m.Step - int(p) })
		for i := after - 1; i >= 0 && messages[i].Step >= int(g.Invoked); i-- {
			m := messages[i]
			if link := m.From + ">" + m.To; (m.From == client || m.To == client) && !seen[link] {
				seen[link], out[i] = true, true
			}
		}
	}
	return out
}
