//go:build !unix

package gotest

import "os/exec"

// killWhole does nothing: on this system only the command itself can be killed.
func killWhole(*exec.Cmd) {}
