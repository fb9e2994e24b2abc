package redisserver

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes the kernel kill the server when the test program ends without stopping it, as after a panic or a
// timeout of go test.
func dieWithParent(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
