// Package guard ends what a program has started, however the program ends: by return, by a signal, by SIGKILL, or with
// its whole process group.
//
//	g, err := guard.Start("locksim-live-")
//	...
//	defer g.End()
//	cmd.Dir = g.Dir() // or a folder in it
//	err = cmd.Start()
//
// A guard is a process: the program once more, in a session of its own. It makes a folder, and waits until the program
// has ended. Then it kills every process that works in the folder, stopped ones too, and every process that was
// registered with [Guard.Register]; it removes the System V shared memory of a PostgreSQL there, and the folder. All of
// that takes less than five seconds. A process that has the id of one that has ended is left alone.
//
// A program that imports this package is a guard if the environment says so, and then does nothing else. It needs
// Linux.
package guard
