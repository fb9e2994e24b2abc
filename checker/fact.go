package checker

import (
	"slices"
	"strconv"
	"time"

	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/lock/promise"
)

// Fact is a row of [FactList]: all that the judge, reports and the documentation say of one field of [Facts]. The field
// itself has the exact definition.
type Fact struct {
	// Name is that of the field, as JSON has it.
	Name string
	// Means says what it is, for a person, in Markdown.
	Means string
	// Of says of which histories alone it is a fact.
	Of FactsOf
	// Label is that of a history which has the fact, unless it has a worse one; "" for a fact that decides no label.
	Label Label
	// IgnoredOnTrial says that it counts for no label of a store under test ([History.Fence]), and is not told there.
	IgnoredOnTrial bool
	// Besides says that it is told only of a history with something wrong.
	Besides bool
	// Title names it in a table of facts, and Note says more; without a title it has no line of its own there.
	Title, Note string
	// Remedy is what to change, as a sentence; "" where the label, the duty, or what the lock did with its keys says it.
	Remedy string

	// The field is a count, or a time, or something else, which set sets. Two of the three are nil.
	count   func(*Facts) *int
	seconds func(*Facts) *float64
	set     func(*examined, *Facts)
	// find finds what there is of it, with the sentences; nil for a field that set sets, if it has none.
	find func(*examined) finding
	// has reports whether a history has the fact; nil for a number that is not 0.
	has func(*Facts) bool
	// shown is its value as a table has it; nil for the number.
	shown func(*Facts) string
	// breaks reports whether a history that has the fact breaks a promise; nil for a fact that breaks none.
	breaks func(*Facts, Asked) bool
	// ending describes a run that ended so, as the end of a sentence; nil for the words of the label.
	ending func(*Facts) string
}

// FactsOf are the histories that a fact is about.
type FactsOf string

// The histories that facts are about.
const (
	OfAll     FactsOf = ""
	OfLeaders FactsOf = "leaders" // with [History.Leads]
	OfFence   FactsOf = "fence"   // with [History.Fence]
)

// FactList has each field of [Facts] in one row, in the order in which their sentences explain a verdict. The caller
// owns the slice.
func FactList() []Fact { return slices.Clone(factRows) }

// FactNamed is the row of a fact. It panics if there is none: only code names facts.
func FactNamed(name string) Fact {
	i := slices.IndexFunc(factRows, func(f Fact) bool { return f.Name == name })
	if i < 0 {
		panic("checker: there is no fact " + strconv.Quote(name))
	}
	return factRows[i]
}

// In reports whether a history with these facts has the fact.
func (f *Fact) In(facts *Facts) bool {
	switch {
	case f.has != nil:
		return f.has(facts)
	case f.count != nil:
		return *f.count(facts) > 0
	}
	return *f.seconds(facts) > 0
}

// Value is the fact as a person reads it.
func (f *Fact) Value(facts *Facts) string {
	switch {
	case f.shown != nil:
		return f.shown(facts)
	case f.count != nil:
		return strconv.Itoa(*f.count(facts))
	}
	return secondsText(*f.seconds(facts))
}

// decides reports whether the fact leads to its label.
func (f *Fact) decides(facts *Facts, onTrial bool) bool {
	return f.Label != "" && !(onTrial && f.IgnoredOnTrial) && f.In(facts)
}

// finding is what there is of a fact: a count or a time, and sentences.
type finding struct {
	count   int
	time    time.Duration
	reasons []Reason
}

// finding is what a tally has counted, with all of its sentences.
func (t *tally) finding() finding { return finding{count: t.count, reasons: t.sentences()} }

// and is both.
func (f finding) and(more finding) finding {
	return finding{count: f.count + more.count, reasons: slices.Concat(f.reasons, more.reasons)}
}

// measure sets the field, and returns the sentences.
func (f *Fact) measure(e *examined, facts *Facts) []Reason {
	var of finding
	if f.find != nil {
		of = f.find(e)
	}
	switch {
	case f.count != nil:
		*f.count(facts) = of.count
	case f.seconds != nil:
		*f.seconds(facts) = of.time.Seconds()
	default:
		f.set(e, facts)
	}
	return of.reasons
}

// Asked is by what a run is judged: whether a fact breaks a promise depends on it.
type Asked struct {
	Promise promise.Promise
	// Mode is the fencing mode of the run.
	Mode fence.Mode
	// Ownerless says that clients entered a lock again that has no owners: see [EntryOwnerless]. It promises nothing of
	// what comes of that, but for a panic.
	Ownerless bool
	// Calm says that the history is calm, Hung that a client waited or looped for ever although the network was whole.
	Calm, Hung bool
}

// Broken are the labels of what breaks a promise, worst first. Beliefs that overlap break none.
func (f *Facts) Broken(by Asked) []Label {
	var out []Label
	for _, l := range labels {
		if by.Ownerless && l.Label != Panicked {
			continue
		}
		if slices.ContainsFunc(factRows, func(row Fact) bool {
			return row.Label == l.Label && row.breaks != nil && row.In(f) && row.breaks(f, by)
		}) {
			out = append(out, l.Label)
		}
	}
	return out
}

// always is what breaks every promise.
func always(*Facts, Asked) bool { return true }

// mustBeRight reports whether the data must be right: in the mode of the promise, and in a calm run.
func mustBeRight(_ *Facts, a Asked) bool { return string(a.Mode) == a.Promise.Data || a.Calm }

// mustBeFree reports whether the lock must be free again after some time.
func mustBeFree(_ *Facts, a Asked) bool { return a.Promise.FreeWithin != promise.TermAnyTime }

func mustReturn(_ *Facts, a Asked) bool {
	return a.Promise.ReturnsWithin != "" || slices.Contains(a.Promise.Duties, promise.DutyReturns)
}

func mustGrow(_ *Facts, a Asked) bool { return !a.Promise.TokensUnordered }

// Ending is what the verdict says, as the end of a sentence about the run: by the first fact that decides the label,
// since stuck is several things.
func (v *Verdict) Ending() string {
	for i := range factRows {
		if f := &factRows[i]; f.Label == v.Label && f.In(&v.Facts) {
			if f.ending != nil && f.ending(&v.Facts) != "" {
				return f.ending(&v.Facts)
			}
			break
		}
	}
	return v.Label.ending()
}

// Remedy is what to change, by the first fact that decides the label; "" where no row says it.
func (v *Verdict) Remedy() string {
	for i := range factRows {
		if f := &factRows[i]; f.Label == v.Label && f.In(&v.Facts) {
			return f.Remedy
		}
	}
	return ""
}

// ends are the words of every history that has a fact.
func ends(text string) func(*Facts) string { return func(*Facts) string { return text } }

// secondsText is a time in seconds, as a person reads it.
func secondsText(of float64) string { return prose.Seconds(time.Duration(of * float64(time.Second))) }
