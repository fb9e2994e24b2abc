//go:build linux

package dbworld

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Socket is a Unix socket that the network poller of Go does not know: a goroutine of a bubble never parks in it.
type Socket int

// ErrIdle is returned by a read when there is nothing to read.
var ErrIdle = errors.New("nothing to read")

// ErrEnded is returned by a read when the other end has gone.
var ErrEnded = errors.New("the other end has gone")

// Dial connects to the socket of a server.
func Dial(path string) (Socket, error) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		_ = syscall.Close(fd)
		return -1, err
	}
	return Socket(fd), syscall.SetNonblock(fd, true)
}

// Read reads what there is. Its error is [ErrIdle] if there is nothing, and another one at the end.
func (s Socket) Read(b []byte) (n int, err error) {
	for {
		switch n, err := syscall.Read(int(s), b); {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			return 0, ErrIdle
		case err != nil:
			return 0, err
		case n == 0:
			return 0, ErrEnded
		default:
			return n, nil
		}
	}
}

// Write writes all of b.
func (s Socket) Write(b []byte) error {
	for len(b) > 0 {
		switch n, err := syscall.Write(int(s), b); {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			Pass(20 * time.Microsecond)
		case err != nil:
			return err
		default:
			b = b[n:]
		}
	}
	return nil
}

// Wait waits for d of real time at most until there is something to read, or the other end has gone.
func (s Socket) Wait(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_, _ = unix.Ppoll([]unix.PollFd{{Fd: int32(s), Events: unix.POLLIN}}, &ts, nil) // a signal may end it early
}

// Close closes it.
func (s Socket) Close() { _ = syscall.Close(int(s)) }

// Pass passes real time: in a bubble time.Sleep would pass virtual time.
func Pass(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil)
}
