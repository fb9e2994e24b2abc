package play

import (
	"cmp"
	"fmt"
	"slices"

	"locksim/faults"
	"locksim/internal/prose"
	"locksim/lock"
	"locksim/lock/fence"
)

// Promises reports whether the lock promises that claims exclude each other
// under every fault of a schedule. A lock without a promise promises nothing.
func (l Lock) Promises(schedule []faults.Fault) bool {
	return len(l.Promise.Exclusion) > 0 && len(l.Unpromised(schedule)) == 0
}

// Unpromised are the faults of a schedule under which the lock does not promise
// that claims exclude each other: by the names of their classes, or of their
// kinds where no promise speaks of them, each once, in the order of the schedule.
func (l Lock) Unpromised(schedule []faults.Fault) []string {
	var out []string
	for _, f := range schedule {
		class := faults.ClassIn(schedule, f.Action)
		name := cmp.Or(string(class), f.Action.Kind())
		if !slices.Contains(l.Promise.Exclusion, class) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// DataMode is the fencing mode under which the lock promises that the data is
// right; ok is false where it promises nothing about it.
func (l Lock) DataMode() (mode fence.Mode, ok bool) {
	mode, err := fence.ParseMode(l.Promise.Data)
	return mode, err == nil
}

// validatePromise refuses words that nobody here understands.
func validatePromise(p lock.Promise) error {
	for _, f := range p.Exclusion {
		if !slices.Contains(lock.Faults(), f) {
			return fmt.Errorf("the promise speaks of the fault %q: choose from %s", f, prose.Commas(lock.Faults()))
		}
	}
	if p.Data != "" {
		if _, err := fence.ParseMode(p.Data); err != nil {
			return fmt.Errorf("the promise about data: %w", err)
		}
	}
	if p.FreeWithin != "" && !slices.Contains(lock.Terms(), p.FreeWithin) {
		return fmt.Errorf("the promise is free again within %q: choose from %s", p.FreeWithin, prose.Commas(lock.Terms()))
	}
	return nil
}

// DescribePromise is a promise in a sentence.
func DescribePromise(p lock.Promise) string {
	if len(p.Exclusion) == 0 {
		return "promises nothing"
	}
	text := "claims exclude each other under " + prose.Commas(p.Exclusion)
	if p.Data != "" {
		text += "; data right in mode " + p.Data
	}
	if p.FreeWithin != "" {
		text += "; free again within " + string(p.FreeWithin)
	}
	return text
}
