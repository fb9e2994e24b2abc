//go:build linux

package guard

import (
	"os"
	"os/exec"
	"syscall"
)

// unprivileged is the id of the user that runs servers where this program runs as root; it owns no files.
const unprivileged = 65534

// Prepare makes a command run in a session of its own, so that the signals of a terminal do not reach it, and, where
// this program runs as root, as an unprivileged user.
func Prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: unprivileged, Gid: unprivileged}
	}
}

// Own gives a file or a folder to the user of commands that [Prepare] has prepared.
func Own(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(path, unprivileged, unprivileged)
}
