package spaces

import (
	"fmt"
	"slices"
	"strings"

	"locksim/faults"
	"locksim/internal/prose"
	"locksim/lock/promise"
)

// NoFaults is the name that stands for no fault at all.
const NoFaults = "none"

// FaultNames are the names by which searches are told which faults to use, and by
// which their reports call them: the classes of promises, then the kinds of scenario
// files. A word that is both is listed once, and means the class: see [NamedFaults].
// The caller owns the slice.
func FaultNames() []string {
	var names []string
	for _, class := range promise.Faults() {
		names = append(names, string(class))
	}
	for _, k := range faults.Kinds() {
		if _, ok := classCalled(k.Name); !ok {
			names = append(names, k.Name)
		}
	}
	return names
}

// NamedFaults are the classes and the kinds of fault that some names mean. Both are
// nil for nil, which leaves the choice to the search. "none" alone, or an empty list,
// means no fault: classes is empty then, and not nil.
//
// Hyphens and underscores are one letter in a name, so that no user has to remember
// that classes are words with hyphens, as labels and scenarios are, and kinds the
// keys of a file, with underscores. A name that is that of a class and of a kind
// means the class: promises are made, and evidence is counted, by classes.
func NamedFaults[S ~string](names []S) (classes []promise.Fault, kinds []string, err error) {
	if names == nil {
		return nil, nil, nil
	}
	classes = []promise.Fault{}
	for _, name := range names {
		class, isClass := classCalled(string(name))
		kind := strings.ReplaceAll(string(name), "-", "_")
		switch {
		case isClass && !slices.Contains(classes, class):
			classes = append(classes, class)
		case isClass, slices.Contains(kinds, kind):
		case slices.Contains(kindNames(), kind):
			kinds = append(kinds, kind)
		case name == NoFaults && len(names) == 1:
		case name == NoFaults:
			return nil, nil, fmt.Errorf("%s stands alone: leave it or the other faults out", NoFaults)
		default:
			return nil, nil, fmt.Errorf("there is no class or kind of fault %q: %s", name,
				prose.Choose(string(name), FaultNames()))
		}
	}
	return classes, kinds, nil
}

// FaultName is the name of an action of a schedule among [FaultNames]: its kind or,
// if a class has the name of the kind, its class.
func FaultName(schedule []faults.Fault, a faults.Action) string {
	if _, ok := classCalled(a.Kind()); ok {
		return string(faults.ClassIn(schedule, a))
	}
	return a.Kind()
}

// classCalled is the class of a name, with hyphens or underscores.
func classCalled(name string) (class promise.Fault, ok bool) {
	class = promise.Fault(strings.ReplaceAll(name, "_", "-"))
	return class, slices.Contains(promise.Faults(), class)
}
