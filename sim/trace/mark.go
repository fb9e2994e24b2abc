package trace

import (
	"fmt"
	"strings"

	"locksim/internal/prose"
)

// Mark is a moment in the work of a client: a step of the workload's driver, or
// a named point of the code under test. A fault may begin at it, although no
// virtual time passes there.
type Mark struct {
	// Step is the moment. It determines which of the other fields are used.
	Step Step
	// Label is the name of a [Point].
	Label string
	// Resource is what a client acquires, is granted, or releases, or the
	// resource of a lease that has ended; Token is the fencing token of a
	// grant, 0 for none.
	Resource string
	Token    uint64
	// Op is the operation on the store of a read or write step, Saw the value
	// that a [Read] has found.
	Op, Saw string
	// Outcome is the outcome of an operation that was not acknowledged, one of
	// checker.Outcome: "refused", "unknown", "not-sent". It is empty otherwise.
	Outcome string
	// Problem is the error of an Acquire, an operation or a Release. It is
	// empty on success.
	Problem string
}

// Step is a moment in the work of a client.
type Step uint8

// The steps of a round, in order, and a client's other observations.
const (
	Point      Step = iota + 1 // the code under test, or the workload, passes a named point
	Acquire                    // it is about to ask for the lock
	Granted                    // it has been granted the lock
	NotGranted                 // Acquire has returned without a grant
	Reading                    // it is about to read
	Read                       // its read has returned
	Write                      // it is about to write
	Written                    // its write has returned
	Release                    // it is about to release
	Released                   // the release has returned
	Until                      // the validity of its lease ends, by its own clock
	UntilSeen                  // it has observed that
	Lost                       // the lock reports that the lease is lost
	LostSeen                   // it has observed that
	// The steps of a nested section, under a lease of its own.
	Reenter
	Reentered
	InnerReading
	InnerRead
	InnerWrite
	InnerWritten
	Leave
	Left
	// Revived says that its lease holds again, which had ended: see [Until].
	Revived
	steps // their number
)

// The labels of the points that an extension of a lease passes.
const (
	PointExtend      = "extend"
	PointExtended    = "extended"
	PointNotExtended = "not-extended"
)

// The labels of the points that a release passes which is called again, after one of the same lease has failed.
const (
	PointReleaseAgain     = "release-again"
	PointReleasedAgain    = "released-again"
	PointNotReleasedAgain = "not-released-again"
)

// PointGaveUp is the label of the point that a client without a lock passes when it does a section no more, each write
// of which the store has refused.
const PointGaveUp = "gave-up"

// Steps lists all steps. The caller owns the slice.
func Steps() []Step {
	all := make([]Step, 0, steps-1)
	for s := Point; s < steps; s++ {
		all = append(all, s)
	}
	return all
}

// String is the step's name in files and documents: "acquire".
func (s Step) String() string {
	switch s {
	case Point:
		return "point"
	case Acquire:
		return "acquire"
	case Granted:
		return "granted"
	case NotGranted:
		return "not-granted"
	case Reading:
		return "reading"
	case Read:
		return "read"
	case Write:
		return "write"
	case Written:
		return "written"
	case Release:
		return "release"
	case Released:
		return "released"
	case Until:
		return "until"
	case UntilSeen:
		return "until-seen"
	case Lost:
		return "lost"
	case LostSeen:
		return "lost-seen"
	case Reenter:
		return "reenter"
	case Reentered:
		return "reentered"
	case InnerReading:
		return "inner-reading"
	case InnerRead:
		return "inner-read"
	case InnerWrite:
		return "inner-write"
	case InnerWritten:
		return "inner-written"
	case Leave:
		return "leave"
	case Left:
		return "left"
	case Revived:
		return "revived"
	}
	return fmt.Sprintf("step(%d)", uint8(s))
}

// Name is the moment's name in a scenario file: the label of a point, the name
// of any other step.
func (m Mark) Name() string {
	if m.Step == Point {
		return m.Label
	}
	return m.Step.String()
}

// Kind is the step's name.
func (m Mark) Kind() string { return m.Step.String() }

// Fields implements [What].
func (m Mark) Fields(f Fields) Fields {
	return f.Code(uint8(m.Step)).Uint("token", m.Token).Texts("label", m.Label, "resource", m.Resource,
		"op", m.Op, "saw", m.Saw, "outcome", m.Outcome, "problem", m.Problem)
}

// AppendText appends the details of the step.
func (m Mark) AppendText(b []byte) []byte {
	switch m.Step {
	case Point:
		return append(b, m.Label...)
	case Granted, Reentered:
		b = append(b, Name(m.Resource)...)
		if m.Token != 0 {
			b = fmt.Appendf(b, " token=%d", m.Token)
		}
		return b
	case NotGranted:
		return append(b, m.Problem...)
	case Reading, Write, InnerReading, InnerWrite:
		return append(b, m.Op...)
	case Read, Written, InnerRead, InnerWritten:
		return m.appendOp(b)
	case Released, Left:
		if m.Problem != "" {
			return append(b, m.Problem...)
		}
	case UntilSeen:
		return append(b, "the lease has ended"...)
	}
	return append(b, Name(m.Resource)...)
}

// Name is the name of a resource in texts: quoted unless it is one plain word.
func Name(resource string) string { return prose.Name(resource) }

func (m Mark) appendOp(b []byte) []byte {
	switch {
	case m.Problem != "":
		return fmt.Appendf(b, "%s %s: %s", m.Op, m.Outcome, m.Problem)
	case m.Step == Written, m.Step == InnerWritten:
		return append(b, m.Op...)
	case m.Saw == "":
		return append(append(b, m.Op...), " found nothing"...)
	}
	return append(append(append(b, m.Op...), " found "...), m.Saw...)
}

// Words implements [What].
func (m Mark) Words(v View) Words {
	switch m.Step {
	case Point:
		return Words{Story: m.passes()}
	case Acquire:
		if v.Several {
			return Words{Story: "asks for " + m.text()}
		}
		return Words{Story: "asks for the lock"}
	case Granted:
		return Words{Story: "is granted " + m.text()}
	case NotGranted:
		if v.Several {
			return Words{Story: "gives up " + Name(m.Resource) + ": " + m.Problem}
		}
		return Words{Story: "gives up: " + m.Problem}
	case Reading, InnerReading, InnerRead, InnerWritten, Release, Leave:
		return Words{Untold: ofStep}
	case Read:
		return Words{Story: "read " + m.text()}
	case Write:
		return Words{Story: "writes " + m.Op}
	case Written:
		return m.written()
	case Released:
		switch {
		case m.Problem == "" && v.Several:
			return Words{Story: "has released " + m.text()}
		case m.Problem == "":
			return Words{Story: "has released"}
		case v.Several:
			return Words{Story: "fails to release " + Name(m.Resource) + ": " + strings.TrimPrefix(m.Problem, "release "+
				m.Resource+": ")}
		}
		return Words{Story: "fails to release: " + strings.TrimPrefix(m.Problem, "release "+m.Resource+": ")}
	case Until:
		return Words{Story: "reaches the end of its lease, by its own clock",
			Lane: "is past the end of its lease, by its own clock"}
	case UntilSeen:
		return Words{Story: "sees that its lease has ended, and stops"}
	case Revived:
		return Words{Story: "has a lease that holds again, although it had ended"}
	case Lost:
		return Words{Untold: ofNotice}
	case LostSeen:
		if v.Deaf {
			return Words{Story: "is told by the lock that its lease has ended, but does not look before it writes"}
		}
		return Words{Story: "learns that it has lost the lock"}
	case Reenter:
		return Words{Story: "asks for " + m.text() + " inside its section"}
	case Left:
		if m.Problem != "" {
			return Words{Story: "fails to release " + Name(m.Resource) + " inside its section: " + m.Problem}
		}
		return Words{Story: "has released " + m.text() + " inside its section"}
	case Reentered:
		return Words{Story: "is granted " + m.text() + " inside its section"}
	case InnerWrite:
		return Words{Story: "writes inside " + m.Op}
	}
	return Words{}
}

func (m Mark) text() string { return string(m.AppendText(nil)) }

func (m Mark) passes() string {
	switch m.Label {
	case PointExtend:
		return "asks to extend its lease"
	case PointExtended:
		return "has extended its lease"
	case PointNotExtended:
		return "fails to extend its lease: " + m.Problem
	case PointGaveUp:
		return "gives up its section, since its writes were refused"
	case PointReleaseAgain:
		return "calls Release again for an earlier lease"
	case PointReleasedAgain:
		return "has released the earlier lease"
	case PointNotReleasedAgain:
		return "fails again to release the earlier lease: " + m.Problem
	}
	return "passes " + m.Label
}

// The outcomes of an operation that have words of their own: those of package
// checker.
const (
	outcomeUnknown = "unknown"
	outcomeNotSent = "not-sent"
)

func (m Mark) written() Words {
	switch m.Outcome {
	case "":
		return Words{Untold: ofStore}
	case outcomeUnknown:
		return Words{Story: "has no answer to its write"}
	case outcomeNotSent:
		return Words{Story: "cannot send its write"}
	}
	return Words{Story: "has its write " + m.Outcome}
}
