//go:build linux

package server

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"locksim/internal/live/guard"
)

//go:embed shim/clock.c
var clockSource []byte

// compiling is held while the library is made, which groups with the same guard share.
var compiling sync.Mutex

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
	library string

	mu      sync.Mutex
	file    *os.File
	count   uint64
	current setting
}

// newClock makes clocks, in the private folder of a server. They show the time of the machine. The library is in a folder
// that servers share. Without a C compiler there are none.
func newClock(shared, dir string) (*clock, error) {
	compiler, err := exec.LookPath("cc")
	if err != nil {
		return nil, nil //nolint:nilerr // the methods of no clock say so
	}
	c := &clock{library: filepath.Join(shared, "clock.so")}
	if err := c.compile(compiler); err != nil {
		return nil, err
	}
	if c.file, err = os.OpenFile(filepath.Join(dir, "clock"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, err
	}
	now := machine()
	return c, errors.Join(guard.Own(c.file.Name()), c.file.Truncate(clockSize), c.set(setting{now, time.Now().UnixNano(), now, 0}))
}

// compile makes the library if there is none yet.
func (c *clock) compile(compiler string) error {
	compiling.Lock()
	defer compiling.Unlock()
	if _, err := os.Stat(c.library); err == nil {
		return nil
	}
	source := c.library + ".c"
	if err := os.WriteFile(source, clockSource, 0o600); err != nil {
		return err
	}
	cmd := exec.Command(compiler, "-shared", "-fPIC", "-O2", "-Wall", "-o", c.library+".new", source)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compile the clock of servers: %w\n%s", err, out)
	}
	return errors.Join(os.Chmod(c.library+".new", 0o644), os.Rename(c.library+".new", c.library))
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
	env := []string{"LD_PRELOAD=" + c.library, "LOCKSIM_CLOCK=" + c.file.Name()}
	if m != trueMonotonic {
		env = append(env, string(m))
	}
	return env
}

// machine is the machine's monotonic clock.
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

// change changes how the clocks run from now on.
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
