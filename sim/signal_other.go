//go:build !unix

package sim

import "syscall"

// ignored is no signal: here only the goroutine of package os/signal has to be started.
const ignored = syscall.Signal(0)
