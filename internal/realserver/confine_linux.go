package realserver

import (
	"os"
	"os/exec"
	"syscall"
)

// confine makes the kernel kill the server with the test program, and runs it as an
// unprivileged user where the tests run as root.
func confine(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: unprivileged, Gid: unprivileged}
	}
}
