//go:build linux

package server

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"locksim/internal/live/shim"

	"golang.org/x/sys/unix"
)

//go:embed shim/clock.c
var clockSource []byte

// The layout of the file: shim/clock.c has it too.
const (
	settings    = 256
	settingSize = 4 * 8
	clockSize   = 8 + settings*settingSize
)

// setting is how clocks run from one moment on.
type setting struct {
	at        int64 // the machine's monotonic clock at that moment, as the others in nanoseconds
	wall      int64 // the wall clock then, since 1970
	monotonic int64
	ppm       int64 // by how many millionths both are too fast
}

// on is the wall clock and the monotonic one at a time of the machine.
func (s setting) on(at int64) setting {
	d := at - s.at
	d += d/1e6*s.ppm + d%1e6*s.ppm/1e6
	return setting{at, s.wall + d, s.monotonic + d, s.ppm}
}

// clock is the clocks of a server.
type clock struct {
	mu      sync.Mutex
	file    *shim.File
	count   uint64
	current setting
}

// newClock makes clocks, in the private folder of a server. They show the time of the machine. Without a C compiler
// there are none.
func newClock(shared, dir string) (*clock, error) {
	file, err := shim.New(shared, dir, clockSource, clockSize)
	switch {
	case errors.Is(err, shim.ErrNoCompiler):
		return nil, nil // the methods of no clock say so
	case err != nil:
		return nil, err
	}
	c, now := &clock{file: file}, machine()
	return c, c.set(setting{now, time.Now().UnixNano(), now, 0})
}

// monotonic says whether a server has a monotonic clock of its own too.
type monotonic string

const (
	trueMonotonic    monotonic = ""
	pretendMonotonic monotonic = "LOCKSIM_CLOCK_MONOTONIC=1"
)

// env is the environment of a server with these clocks.
func (c *clock) env(m monotonic) []string {
	if c == nil {
		return nil
	}
	env := c.file.Env()
	if m != trueMonotonic {
		env = append(env, string(m))
	}
	return env
}

func machine() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // it is there
	return t.Nano()
}

// set puts a setting into force: it is written where no process reads, and then named.
func (c *clock) set(s setting) error {
	next := c.count + 1
	b := make([]byte, 0, settingSize)
	for _, v := range []int64{s.at, s.wall, s.monotonic, s.ppm} {
		b = binary.NativeEndian.AppendUint64(b, uint64(v))
	}
	if _, err := c.file.WriteAt(b, 8+int64(next%settings)*settingSize); err != nil {
		return err
	}
	if _, err := c.file.WriteAt(binary.NativeEndian.AppendUint64(nil, next), 0); err != nil {
		return err
	}
	c.count, c.current = next, s
	return nil
}

func (c *clock) change(by func(*setting)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.current.on(machine())
	by(&s)
	return c.set(s)
}

// now is the time of the wall clock.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Unix(0, c.current.on(machine()).wall)
}

func (c *clock) close() error {
	if c == nil {
		return nil
	}
	return c.file.Close()
}
