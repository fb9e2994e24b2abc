package sim

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// ownDeadlock says in a sentence why code under test waits for itself for ever; "" if that is not certain. A goroutine
// of a process waits for a mutex, and every other one of the process that runs code of the same packages waits for a
// mutex too, or for a channel or a group that only such code serves. One that waits for the simulated world, for time,
// or in a select, which may have a timer, goes on in a real process, and may then give the mutex back.
func ownDeadlock(all []goroutine) string {
	var found []string
	for _, waiter := range all {
		if !waitsForMutex(waiter) || waiter.process == "" {
			continue
		}
		if says := deadlockOf(all, waiter); says != "" {
			found = append(found, says)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return slices.Min(found)
}

func deadlockOf(all []goroutine, waiter goroutine) string {
	at := callerOf(waiter, "sync.", "internal/sync.")
	with := involved(all, waiter)
	if with == nil || goesOnElsewhere(all, waiter, packageOf(at), len(with) == 1) {
		return ""
	}
	var holders []string
	for _, g := range with {
		f := frameOf(g, packageOf(at))
		switch {
		case g.id == waiter.id || f == "":
		case !waitsForMutex(g):
			holders = append(holders, "one in "+f+" waits for a channel meanwhile ("+strings.TrimSuffix(g.state, " (durable)")+
				")")
		case mutexOf(g) != mutexOf(waiter):
			holders = append(holders, "one in "+f+" waits for another mutex meanwhile")
		}
	}
	why := "a call that has returned has left it locked, or this one locks it twice"
	if len(holders) > 0 {
		why = slices.Min(holders)
	} else if len(with) > 1 {
		return ""
	}
	return fmt.Sprintf("%s is in a deadlock of the lock's own: a goroutine waits for ever for a mutex in %s, and %s. "+
		"A real process waits for ever too.", waiter.process, at, why)
}

// involved are the goroutines of a waiter's process that run code of its packages, and of those of each other: nil if
// one of them may go on.
func involved(all []goroutine, waiter goroutine) []goroutine {
	with, packages := []goroutine{waiter}, codeOf(waiter)
	for grown := true; grown; {
		grown = false
		for _, g := range all {
			known := slices.ContainsFunc(with, func(o goroutine) bool { return o.id == g.id })
			of := func(p string) bool { return slices.Contains(packages, p) }
			if known || g.process != waiter.process || g.life != waiter.life || !slices.ContainsFunc(codeOf(g), of) {
				continue
			}
			if !waitsForCode(g) {
				return nil
			}
			with, packages, grown = append(with, g), append(packages, codeOf(g)...), true
		}
	}
	return with
}

// goesOnElsewhere reports whether a goroutine of another process may have the mutex: it is a variable of the program,
// or, where no goroutine of the waiter's own process may have it, one of another process runs code of the package and
// may go on.
func goesOnElsewhere(all []goroutine, waiter goroutine, pkg string, alone bool) bool {
	return inImage(mutexOf(waiter)) || (alone || mutexOf(waiter) == "") &&
		slices.ContainsFunc(all, func(g goroutine) bool {
			return (g.process != waiter.process || g.life != waiter.life) && frameOf(g, pkg) != "" && !waitsForCode(g) &&
				!slices.Contains(frames(g), worldFrame)
		})
}

// waitsForCode reports whether a goroutine waits for a mutex, a channel or a group, and not for the simulated world.
func waitsForCode(g goroutine) bool {
	state := strings.TrimSuffix(g.state, " (durable)")
	if !waitsForMutex(g) && state != "chan receive" && state != "chan send" && state != "sync.WaitGroup.Wait" {
		return false
	}
	if fs := frames(g); len(fs) > 0 { // below the calls of the runtime and of sync
		return !ofHarness(callerOf(g, "sync.", "internal/sync."))
	}
	return false
}

// codeOf are the packages of the code under test in a stack, and of what has started the goroutine.
func codeOf(g goroutine) []string {
	var out []string
	for _, f := range append(frames(g), startedBy(g)) {
		pkg := packageOf(f)
		std := slices.Contains([]string{"runtime", "sync", "internal/sync", "runtime/pprof", "testing"}, pkg)
		if pkg != "" && !ofHarness(f) && !std {
			out = append(out, pkg)
		}
	}
	return out
}

// ofHarness reports whether a function is of the harness, and no code under test.
func ofHarness(function string) bool {
	pkg := packageOf(function)
	return pkg == "locksim/sim" || pkg == "locksim/faults" || pkg == "locksim/scenarios" ||
		pkg == "locksim/scenarios/play" ||
		strings.HasPrefix(pkg, "locksim/sim/") && !strings.HasSuffix(pkg, "_test")
}

// startedBy is the function that has started a goroutine.
func startedBy(g goroutine) string {
	_, line, _ := strings.Cut(g.text, "\ncreated by ")
	line, _, _ = strings.Cut(line, "\n")
	function, _, _ := strings.Cut(line, " in goroutine ")
	return function
}

// inImage reports whether an address, as a stack has it, is that of a variable of the program.
func inImage(address string) bool {
	const around = 1 << 28 // more than the variables of a program take
	at, err := strconv.ParseInt(address, 0, 64)
	here := int64(reflect.ValueOf(&frozenRuns).Pointer())
	return err == nil && max(at-here, here-at) < around
}
