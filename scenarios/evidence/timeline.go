package evidence

import (
	"slices"
	"time"

	"locksim/checker"
	"locksim/sim/trace"
)

// Timeline is what evidence needs of a trace.
type Timeline struct {
	// At has the instant of each event, beginning with event 1, Within by how much it may be later; nil where instants
	// are exact.
	At     []time.Duration `json:"at"`
	Within []time.Duration `json:"within,omitzero"`
	// Messages are what clients sent and received.
	Messages []Message `json:"messages,omitempty"`
	// Requests are the requests that servers carried out.
	Requests []Request `json:"requests,omitempty"`
	// Refusals are the renewals that found nothing to renew: see [RefusalsOf].
	Refusals []Refusal `json:"refusals,omitempty"`
	// Ends are the ends of processes and workers, and Starts those of restarted ones.
	Ends   []End   `json:"ends,omitempty"`
	Starts []Start `json:"starts,omitempty"`
	// Promotions are the failovers, in order: those of the scenario, and those of Sentinels.
	Promotions []Promotion `json:"promotions,omitempty"`
}

// Message is bytes that a client sent to a peer, or received from it.
type Message struct {
	At       checker.Pos `json:"n"`
	Client   string      `json:"client"`
	Peer     string      `json:"peer"`
	Received bool        `json:"received,omitempty"`
}

// Request is a request of a client that a server carried out.
type Request struct {
	At     checker.Pos `json:"n"`
	Client string      `json:"client"`
	Conn   string      `json:"conn,omitempty"`
	// Kind is that of [trace.KindOf].
	Kind string `json:"kind,omitempty"`
	// Waits says that it is not answered yet: another event of its connection has the answer.
	Waits bool `json:"waits,omitempty"`
}

// End is the end of a process, or of the worker of one.
type End struct {
	At   checker.Pos `json:"n"`
	Name string      `json:"name"`
	// Exit says that the process ended as it was asked to.
	Exit bool `json:"exit,omitempty"`
	// Panic is what the code of the lock panicked with, and where; "" if it did not.
	Panic string `json:"panic,omitempty"`
}

// Start is the restart of a process.
type Start struct {
	At   checker.Pos `json:"n"`
	Name string      `json:"name"`
}

// Promotion is a replica that is made the primary.
type Promotion struct {
	At checker.Pos `json:"n"`
	To string      `json:"to"`
}

// TimelineOf reads a trace. clients are the names of the clients whose messages count.
func TimelineOf(t *trace.Trace, clients []string) Timeline {
	out := Timeline{At: make([]time.Duration, len(t.Events)), Messages: make([]Message, 0, len(t.Events)/2)}
	for i := range t.Events {
		e := &t.Events[i]
		out.At[i] = e.At
		if e.Within > 0 && out.Within == nil {
			out.Within = make([]time.Duration, len(t.Events))
		}
		if out.Within != nil {
			out.Within[i] = e.Within
		}
		at := checker.Pos(e.N)
		switch what := e.What.(type) {
		case trace.Send:
			if slices.Contains(clients, e.Actor) {
				out.Messages = append(out.Messages, Message{At: at, Client: e.Actor, Peer: e.Peer})
			}
		case trace.Receive:
			if slices.Contains(clients, e.Actor) {
				out.Messages = append(out.Messages, Message{At: at, Client: e.Actor, Peer: e.Peer, Received: true})
			}
		case trace.Exec:
			out.Requests = append(out.Requests,
				Request{At: at, Client: e.Peer, Conn: what.Conn, Kind: trace.KindOf(what.Request), Waits: what.Answer == nil})
		case trace.Crash:
			end := End{At: at, Name: e.Peer, Exit: what == (trace.Crash{Mode: trace.Exit})}
			if what.Panic != "" {
				end.Panic = trace.Readable(what.Panic)
			}
			out.Ends = append(out.Ends, end)
		case trace.KillWorker:
			out.Ends = append(out.Ends, End{At: at, Name: e.Peer})
		case trace.Restart:
			out.Starts = append(out.Starts, Start{At: at, Name: e.Peer})
		case trace.Promote:
			out.Promotions = append(out.Promotions, Promotion{At: at, To: e.Peer})
		case trace.ReplicaOf:
			if what.Primary == "" {
				out.Promotions = append(out.Promotions, Promotion{At: at, To: e.Actor})
			}
		}
	}
	return out
}

// when is the instant of a position; 0 for none.
func (t *Timeline) when(p checker.Pos) time.Duration {
	if p == 0 {
		return 0
	}
	return t.At[p-1]
}
