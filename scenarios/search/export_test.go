package search

import (
	"slices"

	"locksim/faults"
)

// ByHand reports whether a kind of fault is drawn, in a world without Sentinels and clusters, unless the space excludes
// it.
func ByHand(kind string) bool {
	all := faults.Kinds()
	i := slices.IndexFunc(all, func(f faults.Form) bool { return f.Name == kind })
	return byHand(kind) && (i < 0 || all[i].Needs() == 0)
}
