package evidence

import (
	"slices"

	"locksim/faults"
	"locksim/scenarios/file"
)

// Strikes are a scenario and its record in which each strike is a fault of its own, which strikes once, and names the
// client that was the holder: those of a fault that struck again stand one after another, in its place. Nothing of the
// arguments is modified.
func Strikes(sc *file.Scenario, rec *Record) (*file.Scenario, *Record) {
	if !slices.ContainsFunc(rec.Faults, func(f Fault) bool { return len(f.Again) > 0 || f.Holder != "" }) {
		return sc, rec
	}
	one, each := *sc, *rec
	one.Faults, each.Faults = nil, nil
	for i, f := range rec.Faults {
		for _, s := range append([]Strike{f.Strike}, f.Again...) {
			plain := faults.Fault{At: s.Struck, Action: sc.Faults[i].Action, Pos: sc.Faults[i].Pos}
			if s.Holder != "" {
				plain.Action = faults.Aim(plain.Action, s.Holder)
			}
			one.Faults = append(one.Faults, plain)
			each.Faults = append(each.Faults, Fault{Fired: f.Fired, Strike: s, Unable: f.Unable})
		}
	}
	return &one, &each
}
