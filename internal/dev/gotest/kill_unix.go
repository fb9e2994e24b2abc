//go:build unix

package gotest

import (
	"os/exec"
	"syscall"
)

// killWhole makes the end of a command's context also kill the processes that the command
// has started: compilers and tests.
func killWhole(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
