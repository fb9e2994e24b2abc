//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// killWhole lets the end of a command's context kill what the command has started
// as well: compilers and tests.
func killWhole(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
