package sim

import (
	"os"
	"syscall"
)

// errno is an error of the network. It wraps the number that a program looks for, and has a text of its own: the text
// of the number differs between operating systems, and what a client says about an error is in the trace.
type errno struct {
	syscall.Errno
	text string
}

// The errors of the network, in the words of Linux.
var (
	connRefused = errno{syscall.ECONNREFUSED, "connection refused"}
	connReset   = errno{syscall.ECONNRESET, "connection reset by peer"}
	brokenPipe  = errno{syscall.EPIPE, "broken pipe"}
)

func (e errno) Error() string { return e.text }

func (e errno) Unwrap() error { return e.Errno }

// of is the error as the net package returns it, with the name of the system call.
func (e errno) of(call string) error { return os.NewSyscallError(call, e) }
