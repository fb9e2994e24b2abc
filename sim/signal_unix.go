//go:build unix

package sim

import "syscall"

// ignored is a signal that does nothing to a program unless it asks for it.
const ignored = syscall.SIGCHLD
