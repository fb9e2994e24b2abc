package runfiles

import (
	"bytes"
	"fmt"
	"strings"

	"locksim/cmd/locksim/internal/console"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
)

// Again makes the commands that repeat runs of a matrix. That of locksim itself does not depend on how it was started:
// it is in documents that are compared.
func Again(c *console.Console) func(scenario, lock string, seed uint64, modes ...fence.Mode) string {
	program := c.Program
	if program != console.OwnProgram {
		program = c.Command()
	}
	return func(scenario, lock string, seed uint64, modes ...fence.Mode) string {
		return fmt.Sprintf("%s run %s --lock %s --seed %d --fencing %s",
			program, console.Quote(scenario), console.Quote(lock), seed, JoinModes(modes))
	}
}

// publicCommand is the command that repeats a run in any clone of locksim, or in a
// program with its own locks. It names a scenario that is not in the library by its file.
func publicCommand(c *console.Console, o *outcome.Outcome) string {
	name := o.Scenario.File
	if bundled(o.Scenario) {
		name = o.Scenario.Name
	}
	var modes []fence.Mode
	for _, m := range o.Modes {
		modes = append(modes, m.Mode)
	}
	return fmt.Sprintf("%s run %s --lock %s --seed %d --fencing %s%s",
		c.PublicName(), console.Quote(name), console.Quote(o.Lock), o.Seed, JoinModes(modes), LiveFlags(o.Live))
}

// bundled reports whether a scenario is the same as the one of its name in the library.
func bundled(sc *file.Scenario) bool {
	own, err := file.Load(sc.Name)
	return err == nil && bytes.Equal(own.Source, sc.Source)
}

// LiveFlags are the flags that make a live run again, or nothing for a simulated one.
func LiveFlags(l *outcome.Live) string {
	if l == nil {
		return ""
	}
	return fmt.Sprintf(" --live --scale %v", l.Scale)
}

// JoinModes writes fencing modes as --fencing takes them.
func JoinModes(modes []fence.Mode) string {
	var names []string
	for _, m := range modes {
		names = append(names, string(m))
	}
	return strings.Join(names, ",")
}
