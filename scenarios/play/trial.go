package play

import (
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
)

// JudgedBy is the promise that a lock is judged by: its own or, where it
// promises nothing, that all goes well under every fault, the data without a
// fence for a lock that mints no tokens, and behind one that seals for a lock
// that does.
func (l Lock) JudgedBy() lock.Promise {
	if l.PromisesNothing() {
		return lock.Promise{Data: string(l.JudgedMode())}
	}
	return l.Promise
}

func (l Lock) PromisesNothing() bool { return len(l.Promise.Exclusion) == 0 && l.Promise.Data == "" }

// JudgedMode is the fencing mode in which a lock is judged: the one in which it
// promises that the data stays right, or else the best that it has a token for.
func (l Lock) JudgedMode() fence.Mode {
	if mode, ok := l.DataMode(); ok {
		return mode
	}
	if l.Tokens {
		return fence.Seal
	}
	return fence.None
}

// Try plays a scenario once with the lock, in the mode in which it is judged, and
// says what it did that it must not. Errors are those of [Run].
func (l Lock) Try(sc *file.Scenario, seed uint64) (*Outcome, []Violation, error) {
	o, err := Run(sc, l, RunOptions{Seed: seed, Modes: []fence.Mode{l.JudgedMode()}, Alone: true})
	if err != nil {
		return nil, nil, err
	}
	return o, Violations(o, l.JudgedBy()), nil
}
