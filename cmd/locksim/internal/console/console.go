// Package console is what the command has of the outside, except for its arguments and files: its streams, its
// environment and its name. It has the exit codes, and the errors that decide them.
package console

import (
	"io"
	"os"
)

// Console holds the streams, the environment and the name of the command.
type Console struct {
	// Program is the name of the program, and called the command line that starts it, where that is not its name.
	Program, called string
	// In, Out and Err are the standard streams.
	In       io.Reader
	Out, Err io.Writer
	// Getenv returns the value of a variable of the environment.
	Getenv func(string) string
}

// OfProcess is the console of the process.
func OfProcess() *Console {
	pkg, module := mainPackage()
	return &Console{
		Program: programName(os.Args[0]),
		called:  calledAs(os.Args[0], pkg, module, ModuleHere()),
		In:      os.Stdin,
		Out:     os.Stdout,
		Err:     os.Stderr,
		Getenv:  os.Getenv,
	}
}
