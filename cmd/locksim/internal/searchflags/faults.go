package searchflags

import (
	"cmp"
	"fmt"
	"strings"

	"locksim/cmd/locksim/internal/roster"
	"locksim/lock"
	"locksim/scenarios/spaces"
)

// FaultsUsage is the help of --faults, where none of them is an answer too.
const FaultsUsage = "only faults of these `CLASSES` or kinds, with commas; none for no faults"

// NamedFaults are the names that --faults has, nil without the flag. It refuses those
// that are unknown.
func NamedFaults(lists []string) ([]lock.Fault, error) {
	var names []lock.Fault
	for _, name := range roster.SplitList(lists) {
		names = append(names, lock.Fault(name))
	}
	if _, _, err := spaces.NamedFaults(names); err != nil {
		return nil, fmt.Errorf("--faults: %w", err)
	}
	return names, nil
}

// FaultWords are classes and kinds of fault as --faults takes them.
func FaultWords(classes []lock.Fault, kinds []string) string {
	var names []string
	for _, class := range classes {
		names = append(names, string(class))
	}
	return cmp.Or(strings.Join(append(names, kinds...), ","), spaces.NoFaults)
}
