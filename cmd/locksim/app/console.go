// Package console is what the command has of the outside, except for its arguments and files: its streams, its
// environment and its name. It has the exit codes, and the errors that decide them.
package app

import (
	"io"
	"os"
)

// console holds the streams, the environment and the name of the command.
type console struct {
	// program is the name of the program, and called the command line that starts it, where that is not its name.
	program, called string
	// in, out and err are the standard streams.
	in       io.Reader
	out, err io.Writer
	// getenv returns the value of a variable of the environment.
	getenv func(string) string
}

// ofProcess is the console of the process.
func ofProcess() *console {
	pkg, module := mainPackage()
	return &console{
		program: programName(os.Args[0]),
		called:  calledAs(os.Args[0], pkg, module, moduleHere()),
		in:      os.Stdin,
		out:     os.Stdout,
		err:     os.Stderr,
		getenv:  os.Getenv,
	}
}
