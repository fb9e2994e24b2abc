//go:build linux

package mariadbserver

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"locksim/internal/live/shim"
)

//go:embed shim/turns.c
var turnsSource []byte

// threads is the number of entries in the file.
const threads = 1024

// The layout of the file: shim/turns.c has it too.
type (
	entry struct {
		state int32
		tid   int32
		wait  Wait
		fd    int32
		what  int64
		order int64
		due   int64
		clock int32
		late  int32
		turn  uint32
		_     int32
		_     int64
		born  int64
	}
	layout struct {
		now     [2]int64
		taken   int32
		running int32
		quiet   uint32
		used    int32
		order   int64
		entries [threads]entry
	}
)

// What a thread does.
const (
	free int32 = iota
	runs
	waits
	ready
)

// Wait is what a thread waits for.
type Wait int32

// The waits.
const (
	_ Wait = iota
	ForCondition
	ForMessage
	ForTime
	ForThread
	ForSignal
	ForOthers // it is ready, and asks another one for something again and again
)

const (
	wall = iota
	since
)

// Thread is a thread of the server, when none runs.
type Thread struct {
	// Entry is the number of its entry, and Born a number that no other thread has.
	Entry int
	Born  int64
	// Wait is what it waits for, and FD, of ForMessage, the file descriptor in the server. Wait is 0 when it need not wait
	// any more, and goes on when it has the turn.
	Wait Wait
	FD   int
	// Due is when the wait is over, by the wall clock, in nanoseconds since 1970, or by the other one, if Since is true.
	// [Never] is for a wait without end.
	Due   int64
	Since bool
	// Main is the thread that accepts connections.
	Main bool
}

// Never is the end of a wait without end.
const Never = math.MaxInt64

// turns is the file by which the threads of a server have their turns.
type turns struct {
	file      *shim.File
	shared    *layout
	outOfTurn int // how often a thread went on although the one that had the turn was at work
}

func newTurns(dir string) (*turns, error) {
	file, err := shim.New(dir, dir, turnsSource, int64(unsafe.Sizeof(layout{})))
	if err != nil {
		return nil, err
	}
	mem, err := unix.Mmap(int(file.Fd()), 0, int(unsafe.Sizeof(layout{})), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &turns{file: file, shared: (*layout)(unsafe.Pointer(&mem[0]))}, nil
}

// forget forgets the threads of a server that was killed.
func (t *turns) forget() {
	now := t.shared.now
	*t.shared = layout{now: now}
}

func (t *turns) lock() {
	for !atomic.CompareAndSwapInt32(&t.shared.taken, 0, 1) {
		_, _, _ = syscall.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	}
}

func (t *turns) unlock() { atomic.StoreInt32(&t.shared.taken, 0) }

func (t *turns) set(now time.Time, elapsed time.Duration) {
	atomic.StoreInt64(&t.shared.now[wall], now.UnixNano())
	atomic.StoreInt64(&t.shared.now[since], int64(elapsed))
}

func futex(word *uint32, op int, value uint32, timeout *unix.Timespec) {
	_, _, _ = syscall.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), uintptr(op), uintptr(value),
		uintptr(unsafe.Pointer(timeout)), 0, 0)
}

const (
	futexWait = 0
	futexWake = 1
)

// hand gives the turn to the thread that was chosen, if it is ready and does not wait for others, and otherwise to the
// one that has been ready longest. It reports whether there is one. The caller has the lock.
func (t *turns) hand(chosen int) bool {
	var next *entry
	for i := range t.shared.entries[:t.shared.used] {
		e := &t.shared.entries[i]
		if e.state != ready {
			continue
		}
		if i == chosen && e.wait != ForOthers {
			next = e
			break
		}
		if next == nil || e.order < next.order {
			next = e
		}
	}
	if next == nil {
		return false
	}
	next.state = runs
	t.shared.running++
	atomic.StoreUint32(&next.turn, 1)
	futex(&next.turn, futexWake, math.MaxInt32, nil)
	return true
}

// wake makes threads ready that wait, in this order: those whose time has come, or else those that wait for a message.
func (t *turns) wake(late bool, entries ...int) {
	t.lock()
	defer t.unlock()
	for _, i := range entries {
		e := &t.shared.entries[i]
		if e.state != waits || !late && e.wait != ForMessage {
			continue
		}
		t.shared.order++
		e.state, e.order, e.late = ready, t.shared.order, 0
		if late {
			e.late = 1
		}
	}
}

// The real times after which a thread that has the turn is looked at, after which another one gets a turn although it
// is at work, and then one more, and after which it is at work for too long. A run without an event for ten seconds, or
// for a minute while it is at work, is ended as frozen, which says less.
const (
	look    = 2 * time.Millisecond
	given   = 5 * time.Second
	again   = 100 * time.Millisecond
	tooLong = 30 * time.Second
	// sure is how many looks in a row must find that it sleeps.
	sure = 3
)

// turn gives a thread the turn, the chosen one if it is ready, and waits until it waits again. It reports false if none
// was ready. Meanwhile it calls a function now and then.
func (t *turns) turn(chosen, pid int, gone func() bool, meanwhile func()) (bool, error) {
	t.lock()
	begun := atomic.LoadUint32(&t.shared.quiet) > 0 // before it is quiet for the first time all begins by itself
	if begun && t.shared.running == 0 && !t.hand(chosen) {
		t.unlock()
		return false, nil
	}
	t.unlock()
	at, all, sleeps := time.Duration(0), time.Duration(0), 0
	for {
		quiet := atomic.LoadUint32(&t.shared.quiet)
		if quiet > 0 && atomic.LoadInt32(&t.shared.running) == 0 {
			return true, nil
		}
		ts := unix.NsecToTimespec(int64(look))
		futex(&t.shared.quiet, futexWait, quiet, &ts)
		if atomic.LoadUint32(&t.shared.quiet) != quiet {
			continue
		}
		if meanwhile != nil {
			meanwhile()
		}
		if gone() {
			return false, ErrExited
		}
		if at, all = at+look, all+look; all > tooLong {
			return false, fmt.Errorf("a thread of MariaDB has been at work for %v", tooLong)
		}
		if t.stuck(pid) {
			sleeps++
		} else {
			sleeps = 0
		}
		blocked := sleeps >= sure // by one that has no turn: it is always so then
		if at < given && !blocked {
			continue
		}
		t.lock()
		if quiet > 0 && t.hand(-1) {
			at, sleeps = 0, 0
			if !blocked {
				t.outOfTurn++
				at = given - again
			}
		}
		t.unlock()
	}
}

// stuck reports whether all threads that have a turn sleep, since they wait for a mutex.
func (t *turns) stuck(pid int) bool {
	some := false
	for i := range t.shared.entries[:t.shared.used] {
		e := &t.shared.entries[i]
		if atomic.LoadInt32(&e.state) != runs {
			continue
		}
		some = true
		task := fmt.Sprintf("/proc/%d/task/%d/", pid, e.tid)
		stat, err := os.ReadFile(task + "stat") // one that was woken, and has no processor yet, is R
		call, failed := os.ReadFile(task + "syscall")
		if err != nil || failed != nil || !strings.Contains(string(stat), ") S ") ||
			!strings.HasPrefix(string(call), strconv.Itoa(unix.SYS_FUTEX)+" ") {
			return false
		}
	}
	return some
}

// all are the threads, when none runs.
func (t *turns) all(pid int) (all []Thread) {
	for i := range t.shared.entries[:t.shared.used] {
		e := &t.shared.entries[i]
		switch e.state {
		case waits:
			all = append(all, Thread{Entry: i, Born: e.born, Wait: e.wait, FD: int(e.fd), Due: e.due, Since: e.clock == since,
				Main: int(e.tid) == pid})
		case ready:
			all = append(all, Thread{Entry: i, Born: e.born, Due: Never, Main: int(e.tid) == pid})
		}
	}
	return all
}

// left is the time until the end of a wait that has one.
func (t *turns) left(w Thread) time.Duration {
	by := wall
	if w.Since {
		by = since
	}
	return time.Duration(w.Due - t.shared.now[by])
}

// pass moves both clocks on.
func (t *turns) pass(d time.Duration) {
	atomic.AddInt64(&t.shared.now[wall], int64(d))
	atomic.AddInt64(&t.shared.now[since], int64(d))
}
