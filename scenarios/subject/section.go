package subject

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"locksim/lock"
	"locksim/scenarios/file"
)

// Section is what the user of a lock does under it: code of their own in place of the
// section of each scenario. The clients of every run do it in each round, under all
// faults, and the data is judged as that of any section.
type Section struct {
	// Writes are the registers that Run writes, in any order: all of them, or none.
	// They take effect together or the section is torn. Nil means that it only reads.
	Writes []string
	// Run does the section by the steps of the holder. ctx ends when the process crashes
	// or is asked to end, or the run is over, but not with the lease. An error ends the section, and
	// the client releases the lock, as it does after nil. Run must return then, or when a
	// step returns an error: a run waits for it as long as its virtual time lasts.
	Run func(ctx context.Context, h Holder) error
}

func (s Section) validate() error {
	if s.Run == nil && s.Writes != nil {
		return errors.New("the Section has Writes and no Run: Run does the section")
	}
	for i, register := range s.Writes {
		switch {
		case !file.IsRegister(register):
			return fmt.Errorf("the Section writes %q, which cannot be a register: write a word of up to 32 of a-z, 0-9 and -, "+
				"such as stock", register)
		case slices.Contains(s.Writes[:i], register):
			return fmt.Errorf("the Section has %s twice in its Writes: it writes a register once", register)
		}
	}
	return nil
}

// Holder is a client that has the lock, in its section. Each step is an event at which
// faults may strike, as in the section of any scenario. After the first step that returns
// an error all others return the same error. The methods are for the goroutine of
// [Section.Run] alone.
//
// The store keeps a value in each register: the id of the last write, which the harness
// makes. A section reads a register before it writes it, reads it once and writes it once,
// writes none but [Section.Writes], and reads nothing after the last of them. A section
// that does otherwise is an error of the run, since its data could not be judged.
type Holder interface {
	// Read reads a register: the id of the write that it finds, or "" for the initial value.
	Read(register string) (value string, err error)
	// Write writes a register that the section has read, with a new value of the harness.
	Write(register string) error
	// Hold is how long a section of the scenario works. Searches draw it in proportion to the
	// lease.
	Hold() time.Duration
	// Work works for some time, and extends the lease meanwhile if the scenario says so. Its error is [ErrSectionOver] if
	// the process is asked to end meanwhile. A client of a scenario that checks its lease does so afterwards.
	Work(d time.Duration) error
	// Check looks whether the lease has ended by the clock of the process, or the lock has
	// reported its loss. Its error is [ErrSectionOver] then, and that is where the client
	// ceases to believe in its lock. A section that looks at Lease().Until() by itself and
	// stops is taken to believe until it has returned. Faults may strike at the points check,
	// before the look, and checked, after one that found the lease to stand.
	Check() error
	// Lease is the lease under which the section runs.
	Lease() lock.Lease
	// Env is the environment of the process, as the lock has it.
	Env() Env
}

// ErrSectionOver is returned by a step of a section that must end: a read or a write was
// not acknowledged, or the lease has ended.
var ErrSectionOver = errors.New("the section is over")
