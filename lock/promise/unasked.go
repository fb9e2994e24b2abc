package promise

import "slices"

// Asks says which questions have a meaning for a lock, whatever it promises.
type Asks struct {
	// Renews says that the lock renews its leases, and Tries that it has a TryAcquire.
	Renews, Tries bool
	// Held says that a lease has no end: it lasts as long as its session.
	Held bool
	// Notifies says that a waiter waits for a notice of the release.
	Notifies bool
}

func (a Asks) has(d Duty) bool {
	switch d {
	case DutyRenews:
		return a.Renews
	case DutyTries:
		return a.Tries
	case DutyTells:
		return !a.Held
	case DutyWakes:
		return a.Notifies
	}
	return true
}

// Unasked lists in words what is not asked of a lock with the promise, and is of others, such as "whether a waiter that
// gives up says why". Of the faults it has the power loss of a client, with the settings on which it depends.
func (p Promise) Unasked(a Asks) []string {
	var out []string
	for _, d := range duties {
		if a.has(d.duty) && !slices.Contains(p.Duties, d.duty) {
			out = append(out, d.question)
		}
	}
	if p.SelfExcludes {
		out = append(out, "whether its own key keeps a client out")
	}
	if len(p.Exclusion) > 0 && !slices.Contains(p.Exclusion, Power) {
		power := "what happens when the machine of a client loses its power"
		if a.Held {
			power += " (its session lasts until the server notices: TCP keepalive, idle_session_timeout)"
		}
		out = append(out, power)
	}
	return out
}
