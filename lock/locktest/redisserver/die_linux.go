package redisserver

import (
	"os/exec"
	"syscall"
)

// dieWithUs lets the kernel kill the server when the test program dies without stopping it, as after a
// panic or a timeout of go test.
func dieWithUs(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
