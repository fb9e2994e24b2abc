// Package roster has the locks and the scenarios that the program offers, by the names that its users write.
package app

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
	"locksim/scenarios/play"
)

// roster has the locks and the scenarios that the program offers.
type roster struct {
	// extra are the program's own locks.
	extra []play.Lock
}

// lockNames are the names of all locks but the specimens.
func (r roster) lockNames() []string {
	names := kinds.Names()
	for _, l := range r.extra {
		if !strings.HasPrefix(l.Name, kinds.BrokenPrefix) {
			names = append(names, l.Name)
		}
	}
	return names
}

// specimens are the names of the locks that are wrong on purpose.
func (r roster) specimens() []string {
	names := kinds.Specimens()
	for _, l := range r.extra {
		if strings.HasPrefix(l.Name, kinds.BrokenPrefix) {
			names = append(names, l.Name)
		}
	}
	return names
}

// playable are the names of all locks but the specimens, without those whose servers cannot be made here, of which it
// writes a line for each reason.
func (r roster) playable(c *console.Console) []string {
	left := map[string][]string{}
	names := slices.DeleteFunc(r.lockNames(), func(name string) bool {
		_, err := play.FindLock(name, r.extra)
		missing, ok := errors.AsType[*play.MissingError](err)
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

// chooseLock is the end of an error about a lock that does not exist: the nearest name, also
// of a specimen and without its prefix, and all locks but the specimens.
func (r roster) chooseLock(name string) string {
	specimens := r.specimens()
	near := cmp.Or(prose.Nearest(name, r.lockNames()), prose.Nearest(name, specimens),
		prose.Nearest(kinds.BrokenPrefix+name, specimens))
	list := "choose one of " + prose.Commas(r.lockNames()) + ", or a specimen of locksim list"
	if near == "" {
		return list
	}
	return "did you mean " + near + "? Or " + list
}

// noLock is the error for a name that finds no lock: the reason if the lock exists, or else otherwise.
func noLock(err, otherwise error) error {
	if missing, ok := errors.AsType[*play.MissingError](err); ok {
		return missing
	}
	return otherwise
}

// everyLock are the names of all locks and specimens.
func (r roster) everyLock() []string { return append(r.lockNames(), r.specimens()...) }
