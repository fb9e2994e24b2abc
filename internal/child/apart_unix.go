//go:build unix

package child

import (
	"os"

	"golang.org/x/sys/unix"
)

// apart is the standard output under another descriptor, and its own becomes that of standard error: a library may have
// kept the file when its package was initialized. Where that cannot be, it is the file itself.
func apart(stdout *os.File) *os.File {
	fd, err := unix.FcntlInt(stdout.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return stdout
	}
	if err := unix.Dup2(2, 1); err != nil {
		_ = unix.Close(fd)
		return stdout
	}
	return os.NewFile(uintptr(fd), "answers")
}
