package scenarios

import (
	"locksim/lock"
	"locksim/lock/fence"
)

// judgedBy is the promise that a lock is judged by: its own or, where it
// promises nothing, that all goes well under every fault, the data without a
// fence for a lock that mints no tokens, and behind one that seals for a lock
// that does.
func (l Lock) judgedBy() lock.Promise {
	if l.promisesNothing() {
		return lock.Promise{Data: string(l.judgedMode())}
	}
	return l.Promise
}

func (l Lock) promisesNothing() bool { return len(l.Promise.Exclusion) == 0 && l.Promise.Data == "" }

// judgedMode is the fencing mode in which a lock is judged.
func (l Lock) judgedMode() fence.Mode {
	if mode, ok := l.DataMode(); ok {
		return mode
	}
	if l.Tokens {
		return fence.Seal
	}
	return fence.None
}

// try plays a drawn scenario once with a lock, in the mode in which it is
// judged, and says what it did that it must not.
func (l Lock) try(sc *Scenario, seed uint64) (*Outcome, []Violation, error) {
	o, err := Run(sc, l, RunOptions{Seed: seed, Modes: []fence.Mode{l.judgedMode()}, Alone: true})
	if err != nil {
		return nil, nil, err
	}
	return o, Violations(o, l.judgedBy()), nil
}
