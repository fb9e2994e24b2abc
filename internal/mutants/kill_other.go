//go:build !unix

package main

import "os/exec"

// killWhole does nothing: on this system only the command itself can be killed.
func killWhole(*exec.Cmd) {}
