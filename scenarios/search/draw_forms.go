package search

import (
	"slices"

	"locksim/faults"
	"locksim/lock/promise"
	"locksim/scenarios/file"
	"locksim/scenarios/spaces"
)

// byHand reports whether one of the troubles above has faults of a kind. All other
// kinds are drawn by their forms.
func byHand(kind string) bool {
	return slices.ContainsFunc(slices.Concat(processTroubles, clockTroubles, networkTroubles, nodeTroubles,
		replicaTroubles, watchedTroubles, clusterTroubles, quorumTroubles),
		func(t trouble) bool { return slices.Contains(t.kinds(), kind) })
}

// formTroubles are troubles of one action each, of the kinds that the space names
// and that no other trouble has.
//
// They are drawn only if the space names them. If each struck wherever its class
// may, a new kind would change what every seed draws, and with it each stored seed
// and each measured figure.
func (d *drawer) formTroubles() []trouble {
	var out []trouble
	for _, k := range faults.Kinds() {
		lacked := d.sc.World.Redis == 0 &&
			slices.ContainsFunc(d.sc.World.Servers, func(s file.ServerCount) bool { return slices.Contains(s.Lacks, k.Name) })
		if k.Needs() == faults.Members {
			lacked = !slices.ContainsFunc(d.sc.World.Servers, func(s file.ServerCount) bool {
				return s.Leader != "" && !slices.Contains(s.Lacks, k.Name)
			})
		}
		if (slices.Contains(d.space.Kinds, k.Name) || d.namesClass(k)) && !byHand(k.Name) && !lacked {
			out = append(out, trouble{k.Name, []faults.Action{k.Action()}, func(d *drawer) []step { return d.fillIn(k.Name) },
				often})
		}
	}
	return out
}

// namesClass reports whether the space names a class that kinds like this one are drawn for.
func (d *drawer) namesClass(k faults.Form) bool {
	return slices.ContainsFunc(k.Classes(), func(class promise.Fault) bool {
		return spaces.OnlyNamed(class) && slices.Contains(d.space.Faults, class)
	})
}

// fillIn draws a value for each field of a form.
func (d *drawer) fillIn(kind string) []step {
	all := faults.Kinds()
	form := all[slices.IndexFunc(all, func(f faults.Form) bool { return f.Name == kind })]
	for i := range form.Fields {
		form, _ = faults.Open(form.Action()) // what a field may hold depends on those before it
		field := form.Fields[i]
		switch h := field.Holds.(type) {
		case faults.Name:
			*h.To = d.participant(h.Role)
		case faults.Names:
			switch {
			case h.Side == faults.Near:
				*h.To, _, _ = d.wire()
			case h.Side == faults.Far && field.Needed():
				*h.To = []string{d.host()}
			case h.Side == faults.Far:
				*h.To = d.others()
			case d.once(3) || field.Needed():
				*h.To = some(d, file.Numbered("c", d.sc.World.Clients))
			}
		case faults.Word:
			*h.To = pick(d, h.Words...)
		case faults.Count:
			usual := max(h.Such, h.Default)
			*h.To = min(pick(d, usual, 1, 2*usual, 10*usual), h.Most)
		case faults.Deviation:
			*h.To = pick(d, min(h.Such, h.Most), max(-h.Such, h.Least))
		case faults.Length:
			*h.To = d.spell()
		case faults.Offset:
			*h.To = d.spell()
			if h.EitherWay && d.once(2) {
				*h.To = -*h.To
			}
		}
	}
	s := step{action: form.Action()}
	if l, ok := form.Length(); ok {
		s.lasts = *l.To
	}
	return []step{s}
}

func (d *drawer) participant(role faults.Role) string {
	switch {
	case role.Has(faults.Clients) && (!role.Has(faults.Servers) || !d.once(2)):
		return d.client()
	case role.Has(faults.Store):
		return d.host()
	case role.Has(faults.Watchers | faults.ClusterNodes):
		for _, s := range d.sc.World.Servers {
			if role.Has(faults.Watchers) && s.Watches || role.Has(faults.ClusterNodes) && s.Cluster {
				return pick(d, file.Numbered(s.Prefix, s.Count)...)
			}
		}
	case role.Has(faults.Members):
		for _, s := range d.sc.World.Servers {
			if s.Leader != "" {
				return pick(d, file.Numbered(s.Prefix, s.Count)...)
			}
		}
	case role.Has(faults.Family) && d.sc.World.Replicas > 0:
		return d.replica()
	}
	return d.node()
}
