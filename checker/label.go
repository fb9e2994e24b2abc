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

// labelRow is what there is of a label.
type labelRow struct {
	Label Label
	// Means says what a run with the label is, in Markdown.
	Means string
	// Ending describes such a run, as the end of a sentence.
	Ending string
	// holds reports whether a history has the label, unless it has a worse one. none has the facts of the same run without
	// a fence, or is nil. A label without it holds if one of its facts does.
	holds func(f, none *Facts) bool
	// says is the first sentence; nil where the facts say it.
	says func(h History, none *Facts) []Reason
}

// labels are the labels, worst first.
var labels = []labelRow{
	{Label: Corrupted, Ending: "the data ended corrupted",
		Means: "The data is wrong: an acknowledged write was lost, or a section is torn.",
		holds: func(f, _ *Facts) bool { return f.Data == DataCorrupted }},
	{Label: Unknown, Ending: "the data was not decided",
		Means: "The data was not decided, since the run has too many operations; or the order of events matters " +
			"and is not known.",
		holds: func(f, _ *Facts) bool { return f.Data == DataUndecided }},
	{Label: Panicked, Ending: "the lock panicked",
		Means: "The code of the lock panicked, or called `runtime.Goexit`, and ended the process of a client."},
	{Label: Stuck, Ending: "the lock could not be taken again",
		Means: "No client could acquire the lock at the end, a client asks for it or loops for ever, a key of it " +
			"remained, it was not granted although it should have been free, or a client waited for itself."},
	{Label: Hung, Ending: "a call did not return",
		Means: "A call other than an Acquire had not returned in time, although most of the servers of the lock " +
			"answered, or never returned."},
	{Label: FalseReject, Ending: "a rightful holder was refused",
		Means: "The fence refused a client that rightfully held the lock."},
	{Label: Rescued, Ending: "a fence saved the data",
		Means: "The fence refused a stale operation and the data is right; in the same seed without a fence it " +
			"was corrupted.",
		holds: func(f, none *Facts) bool {
			return f.StaleRejected > 0 && none != nil && none.Data == DataCorrupted
		},
		says: func(_ History, none *Facts) []Reason { return []Reason{rescueReason(*none)} }},
	{Label: Void, Ending: "a grant promised nothing",
		Means: "A grant promised nothing."},
	{Label: Revived, Ending: "a lease that had ended held again",
		Means: "A lease began to hold again after another client had been granted the lock."},
	{Label: Misconduct, Ending: "a call did not end as promised",
		Means: "A call failed although nothing was wrong, or did not end as the lock promises."},
	{Label: Overtaken, Ending: "a waiter was overtaken",
		Means: "A lock whose waiters queue granted a later request first."},
	{Label: Repeated, Ending: "the work was done twice",
		Means: "The work for a value was done twice."},
	{Label: Regressed, Ending: "a token did not grow",
		Means: "The token of a grant was not above those of the grants before it."},
	{Label: Overlap, Ending: "no harm came of it",
		Means: "Two clients held the lock at once, or believed so, or acted as leaders at once. The data is right."},
	{Label: Untested, Ending: "nobody ever had the lock",
		Means: "None of these, and no client was ever granted the lock.",
		holds: func(f, _ *Facts) bool { return f.Grants == 0 },
		says: func(History, *Facts) []Reason {
			return []Reason{{Text: "No client was granted the lock, so that the run says nothing about it."}}
		}},
	{Label: Safe, Ending: "nothing went wrong",
		Means: "None of these.",
		holds: func(_, _ *Facts) bool { return true },
		says:  func(h History, _ *Facts) []Reason { return []Reason{safeReason(h)} }},
	{Label: NotApplicable,
		Means: "Not run: the mode needs tokens, and the lock mints none."},
}

// row is what there is of a label; nothing for an unknown one.
func (l Label) row() labelRow {
	i := l.index()
	if i < 0 {
		return labelRow{}
	}
	return labels[i]
}

// index is the place of a label; negative for an unknown one.
func (l Label) index() int {
	return slices.IndexFunc(labels, func(r labelRow) bool { return r.Label == l })
}

// Means says what a run with the label is. It is "" for an unknown label.
func (l Label) Means() string { return l.row().Means }

func (l Label) ending() string { return l.row().Ending }

// Labels returns all labels, worst first.
func Labels() []Label {
	var all []Label
	for _, l := range labels {
		all = append(all, l.Label)
	}
	return all
}

// ParseLabel returns the label with the name s. The error lists the labels.
func ParseLabel(s string) (Label, error) {
	if Label(s).index() >= 0 {
		return Label(s), nil
	}
	return "", fmt.Errorf("parse label %q: want one of %q", s, Labels())
}

// Severity orders the labels: from 17 for [Corrupted] down to 1 for
// [NotApplicable]. Any other value, such as the zero value, has 0, so that a
// fold with [Worse] may start from an empty label.
func (l Label) Severity() int {
	i := l.index()
	if i < 0 {
		return 0
	}
	return len(labels) - i
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
