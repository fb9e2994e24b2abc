// Package roster has the locks and the scenarios that the program offers, by the names that its users write.
package roster

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locksim/cmd/locksim/internal/console"
	"locksim/internal/prose"
	"locksim/scenarios/kinds"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// Roster has the locks and the scenarios that the program offers.
type Roster struct {
	// Extra are the program's own locks.
	Extra []subject.Lock
}

// LockNames are the names of all locks but the specimens.
func (r Roster) LockNames() []string {
	names := kinds.Names()
	for _, l := range r.Extra {
		if !l.TestsFence() && !strings.HasPrefix(l.Name, kinds.BrokenPrefix) {
			names = append(names, l.Name)
		}
	}
	return names
}

// Specimens are the names of the locks that are wrong on purpose.
func (r Roster) Specimens() []string {
	names := kinds.Specimens()
	for _, l := range r.Extra {
		if !l.TestsFence() && strings.HasPrefix(l.Name, kinds.BrokenPrefix) {
			names = append(names, l.Name)
		}
	}
	return names
}

// Fences are the names of the stores that can be under test, those that are wrong on purpose last.
func (r Roster) Fences() []string {
	var right, wrong []string
	for _, f := range subject.Fences(r.Extra) {
		if strings.HasPrefix(f.Name, kinds.BrokenPrefix) {
			wrong = append(wrong, f.Name)
		} else {
			right = append(right, f.Name)
		}
	}
	return append(right, wrong...)
}

// EveryLock are the names of all locks and specimens.
func (r Roster) EveryLock() []string { return append(r.LockNames(), r.Specimens()...) }

// Playable are the names of all locks but the specimens, without those whose servers cannot be made here, of which it
// writes a line for each reason.
func (r Roster) Playable(c *console.Console) []string {
	left := map[string][]string{}
	names := slices.DeleteFunc(r.LockNames(), func(name string) bool {
		_, err := redislocks.Find(name, r.Extra)
		missing, ok := errors.AsType[*subject.MissingError](err)
		if ok {
			left[missing.Why.Error()] = append(left[missing.Why.Error()], name)
		}
		return ok
	})
	for _, why := range slices.Sorted(maps.Keys(left)) {
		c.Note(fmt.Sprintf("%s: left out: %s: %s", c.Program, strings.Join(left[why], ", "), why))
	}
	return names
}

// ChooseLock is the end of an error about a lock that does not exist: the nearest name, also
// of a specimen and without its prefix, and all locks but the specimens.
func (r Roster) ChooseLock(name string) string {
	specimens := r.Specimens()
	near := cmp.Or(prose.Nearest(name, r.LockNames()), prose.Nearest(name, specimens),
		prose.Nearest(kinds.BrokenPrefix+name, specimens))
	list := "choose one of " + prose.Commas(r.LockNames()) + ", or a specimen of locksim list"
	if near == "" {
		return list
	}
	return "did you mean " + near + "? Or " + list
}

// NoLock is the error for a name that finds no lock: the reason if the lock exists, or else otherwise.
func NoLock(err, otherwise error) error {
	if missing, ok := errors.AsType[*subject.MissingError](err); ok {
		return missing
	}
	return otherwise
}
