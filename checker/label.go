package checker

import (
	"fmt"
	"slices"
)

// Label is the verdict in one word. Of those that hold, the worst is given. The
// label n/a stands for a run that was not made.
type Label string

// The labels, worst first.
const (
	// Corrupted means that the data is wrong, with or without an overlap.
	Corrupted Label = "corrupted"
	// Unknown means that a budget was exhausted before the data was decided, or
	// that the order of events is not known and matters: see [History.Within].
	Unknown Label = "unknown"
	// Panicked means that the lock's code panicked, which ended the process of a client.
	Panicked Label = "panicked"
	// Stuck means that the lock could not be taken again, or left a key behind.
	Stuck Label = "stuck"
	// Hung means that a call other than an Acquire had not returned in time, although most of the servers of the lock
	// answered: see [Facts.HungCalls].
	Hung Label = "hung"
	// FalseReject means that the fence refused a rightful holder.
	FalseReject Label = "false-reject"
	// Rescued means that the fence refused a stale operation and the data is
	// right, while without a fence the same seed's data was corrupted.
	Rescued Label = "rescued"
	// Void means that a grant promised nothing: its lease had ended before Acquire
	// was called, or was known to be lost before it returned or, in a run without
	// faults, had ended before its holder released it.
	Void Label = "void"
	// Revived means that a lock moved the end of a lease into the future after it
	// had passed and another client had been granted the lock.
	Revived Label = "revived"
	// Misconduct means that a call failed although nothing was wrong, or did not end as the lock promises: see
	// [Facts.FailedCalls] and [promise.Duty].
	Misconduct Label = "misconduct"
	// Overtaken means that a lock whose waiters queue granted a later request first.
	Overtaken Label = "overtaken"
	// Repeated means that the work for a value was done twice: see [History.Fill].
	Repeated Label = "repeated"
	// Regressed means that a token was not above those of the grants before it.
	Regressed Label = "regressed"
	// Overlap means that claims or beliefs overlapped and did no harm; with [History.Fence] claims alone.
	Overlap Label = "overlap"
	// Untested means that none of the above was seen, and that no client was ever granted the lock.
	Untested Label = "untested"
	// Safe means that none of the above was seen.
	Safe Label = "safe"
	// NotApplicable stands for a run that was not made, since the mode needs
	// tokens and the lock mints none.
	NotApplicable Label = "n/a"
)

// Labels returns all labels, worst first.
func Labels() []Label {
	return []Label{Corrupted, Unknown, Panicked, Stuck, Hung, FalseReject, Rescued, Void, Revived, Misconduct, Overtaken,
		Repeated, Regressed,
		Overlap, Untested, Safe, NotApplicable}
}

// ParseLabel returns the label with the name s. The error lists the labels.
func ParseLabel(s string) (Label, error) {
	if slices.Contains(Labels(), Label(s)) {
		return Label(s), nil
	}
	return "", fmt.Errorf("parse label %q: want one of %q", s, Labels())
}

// Severity orders the labels: from 17 for [Corrupted] down to 1 for
// [NotApplicable]. Any other value, such as the zero value, has 0, so that a
// fold with [Worse] may start from an empty label.
func (l Label) Severity() int {
	i := slices.Index(Labels(), l)
	if i < 0 {
		return 0
	}
	return len(Labels()) - i
}

// Clean reports whether nothing went wrong: the label is [Safe], or [Untested].
func (l Label) Clean() bool { return l == Safe || l == Untested }

// Worse returns the more severe of two labels, a if they are equal.
func Worse(a, b Label) Label {
	if b.Severity() > a.Severity() {
		return b
	}
	return a
}
