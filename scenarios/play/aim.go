package play

import (
	"slices"

	"locksim/faults"
	"locksim/sim/trace"
)

// aim finds the holder of the lock, for faults that strike it. It is used on the world's goroutine only.
type aim struct {
	grants  []held // in their order
	waiting []int  // the faults that strike the next client that is granted a lock
	fallen  string // the client that was ended as the holder last; "" for none
}

// held is a lock that a client has, as it believes.
type held struct {
	client, resource string
	view             View
}

// note follows who has which lock, by the marks of the clients.
func (a *aim) note(clients func() []Machine, client string, m trace.Mark) {
	if m.Step != trace.Granted && m.Step != trace.Released {
		return
	}
	a.grants = slices.DeleteFunc(a.grants, func(h held) bool {
		return h.view.Crashed() || h.client == client && h.resource == m.Resource
	})
	if m.Step == trace.Granted {
		for _, machine := range clients() {
			if machine.Name() == client {
				a.grants = append(a.grants, held{client, m.Resource, machine.View()})
			}
		}
	}
}

// at is the client that a fault strikes; "" if there is none yet. Then it waits for one.
func (a *aim) at(fault int, action faults.Action) string {
	if _, ok := action.(faults.Restart); ok {
		fallen := a.fallen
		a.fallen = "" // it is back: another restart before the next crash starts none
		return fallen
	}
	for _, h := range slices.Backward(a.grants) {
		if !h.view.Crashed() {
			switch action.(type) {
			case faults.Crash, faults.Terminate:
				a.fallen = h.client
			}
			return h.client
		}
	}
	a.waiting = append(a.waiting, fault)
	return ""
}

// served are the faults that have waited for the grant that a mark is, each as often as it waited.
func (a *aim) served(m trace.Mark) []int {
	if m.Step != trace.Granted {
		return nil
	}
	out := a.waiting
	a.waiting = nil
	return out
}
