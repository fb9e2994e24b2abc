// Package console is what the command has of the outside, except for its arguments and files: its streams, its
// environment and its name. It has the exit codes, and the errors that decide them.
package console

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
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

// CommandVariable is the variable of the environment that says by which command line this program is started, where
// another program has built and started it: its own path is of no use to the user then.
const CommandVariable = "LOCKSIM_COMMAND"

// OfProcess is the console of the process.
func OfProcess() *Console {
	pkg, module := mainPackage()
	arg := slashed(os.Args[0], filepath.Separator)
	return &Console{
		Program: programName(arg),
		called:  cmp.Or(os.Getenv(CommandVariable), calledAs(arg, pkg, module, ModuleHere())),
		In:      os.Stdin,
		Out:     output{os.Stdout},
		Err:     os.Stderr,
		Getenv:  os.Getenv,
	}
}

// output is standard output. What is written to a pipe after its reader has closed it, as head does, is dropped without
// an error: the reader has what it wanted, and the exit code still says what was found.
type output struct{ file *os.File }

func (o output) Write(b []byte) (int, error) {
	n, err := o.file.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		return len(b), nil
	}
	return n, err
}

// Stat lets IsTerminal ask what it is.
func (o output) Stat() (os.FileInfo, error) { return o.file.Stat() }
