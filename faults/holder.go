package faults

import "slices"

// Holder stands for a client in a fault: the one that has the lock when the fault strikes, as it believes, and that
// still runs. Where several locks are held it is the one whose grant is the latest, and where none is it is the next
// that is granted one. A restart of that name is that of the client that has crashed under it last.
const Holder = "holder"

// Aims reports whether an action names the holder.
func Aims(a Action) bool {
	_, aims := aim(a, Holder)
	return aims
}

// Aim is an action with the name of a client in place of the holder's.
func Aim(a Action, client string) Action {
	aimed, _ := aim(a, client)
	return aimed
}

func aim(a Action, client string) (_ Action, aims bool) {
	form, ok := Open(a)
	if !ok {
		return a, false
	}
	for _, field := range form.Fields {
		switch h := field.Holds.(type) {
		case Name:
			if *h.To == Holder {
				*h.To, aims = client, true
			}
		case Names:
			if i := slices.Index(*h.To, Holder); i >= 0 {
				rest := slices.DeleteFunc(slices.Clone(*h.To), func(name string) bool { return name == Holder || name == client })
				*h.To, aims = slices.Insert(rest, min(i, len(rest)), client), true
			}
		}
	}
	if !aims {
		return a, false
	}
	return form.Action(), true
}
