//go:build linux

package pgserver

import (
	_ "embed"
	"encoding/binary"
	"syscall"
	"time"

	"locksim/internal/live/shim"
)

//go:embed shim/clock.c
var clockSource []byte

// The layout of the file of a clock: shim/clock.c has it too.
const (
	slots     = 1024 // of timers
	slotSize  = 16
	clockSize = 8 + slots*slotSize
)

// clock is a file that a server has for a clock.
type clock struct{ *shim.File }

// newClock makes a clock in a folder. Its time is that of the machine.
func newClock(dir string) (*clock, error) {
	file, err := shim.New(dir, dir, clockSource, clockSize)
	if err != nil {
		return nil, err
	}
	c := &clock{file}
	return c, c.set(time.Now())
}

func (c *clock) set(t time.Time) error {
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], uint64(t.UnixNano()))
	_, err := c.WriteAt(b[:], 0)
	return err
}

// forget forgets the timers of processes that have been killed.
func (c *clock) forget() error {
	_, err := c.WriteAt(make([]byte, clockSize-8), 8)
	return err
}

// SetTime sets the wall clock of a server with a clock of its own. It stands still until the next call. Timers that are
// due by then do not fire by themselves: see [Server.Timers].
func (s *Server) SetTime(t time.Time) error { return s.clock.set(t) }

// Timers are those that the processes of a server with a clock of its own have set. When one is due the caller calls
// [Server.Fire].
func (s *Server) Timers() (all []Timer, err error) {
	b := make([]byte, clockSize-8)
	if _, err := s.clock.ReadAt(b, 8); err != nil {
		return nil, err
	}
	for at := 0; at < len(b); at += slotSize {
		pid, due := binary.NativeEndian.Uint64(b[at:]), int64(binary.NativeEndian.Uint64(b[at+8:]))
		if pid != 0 && due != 0 {
			all = append(all, Timer{int(pid), time.Unix(0, due).UTC(), int64(8 + at + 8)})
		}
	}
	return all, nil
}

// Fire lets a timer fire. If it is not due by the server's wall clock, its process sets it anew. The process must not
// be at work: it may set a timer at the same time.
func (s *Server) Fire(t Timer) error {
	if _, err := s.clock.WriteAt(make([]byte, 8), t.at); err != nil { // it is set once
		return err
	}
	return syscall.Kill(t.PID, syscall.SIGALRM)
}
