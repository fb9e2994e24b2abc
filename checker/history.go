package checker

import "fmt"

// Pos is a position in the trace: the number of an event, counted from 1.
// The zero Pos means that the thing did not happen.
type Pos int

// Care says how careful a client is about losing its lock.
type Care string

// The degrees of care. The zero value of [Care] counts as CareNever.
const (
	// CareNever ignores the lease: only Release or a crash ends a belief.
	CareNever Care = "never"
	// CareLost heeds the lock's notice of a loss once it has been observed.
	CareLost Care = "lost"
	// CareSteps does that, and reads the lease's end before each step.
	CareSteps Care = "steps"
)

// ParseCare returns the care that is written s. The error names the words that
// are allowed.
func ParseCare(s string) (Care, error) {
	switch c := Care(s); c {
	case CareNever, CareLost, CareSteps:
		return c, nil
	}
	return "", fmt.Errorf("parse care %q: want never, lost or steps", s)
}

// Grant is one successful Acquire and what became of it.
type Grant struct {
	// ID is unique in a history, counted from 1.
	ID int
	// Client holds the grant: c0, c1, …
	Client string
	// Resource is what the grant locks.
	Resource string
	// Token is the fencing token; 0 when the lock mints none.
	Token uint64

	// Invoked is where Acquire was called, Granted where it returned.
	Invoked, Granted Pos
	// Released is where Release was called, ReleaseReturned where it returned.
	Released, ReleaseReturned Pos
	// Until is where the validity ended on the holder's own clock. It may lie
	// before Granted: an answer can arrive too late to be worth anything.
	Until Pos
	// Lost is where the lock announced the loss, LostSeen where the client
	// observed that.
	Lost, LostSeen Pos
	// UntilSeen is where the client read its clock and saw that Until had passed.
	UntilSeen Pos
	// Crashed is where the client's process ended.
	Crashed Pos
	// Enqueued is where, by the node's record, the request first joined the queue
	// of a fair lock; 0 when that is not known, or when it never had to wait.
	Enqueued Pos
}

// Attempt is an Acquire that brought no grant.
type Attempt struct {
	// Client and Resource say who wanted what.
	Client, Resource string
	// Invoked is where Acquire was called, Returned where it gave up; 0 when it
	// never returned.
	Invoked, Returned Pos
	// Outcome is anything but OutcomeOK. OutcomeUnknown: the grant may have been
	// made although the client cannot know.
	Outcome Outcome
	// Enqueued is where, by the node's record, the request first joined the queue
	// of a fair lock, Left where it was in the queue no longer; 0 when that is not
	// known. A place can be taken after Returned, by a request that came late, and
	// can outlast it.
	Enqueued, Left Pos
}

// Outcome is how a request ended, as far as its sender can know.
type Outcome string

// The outcomes. There is no default: a history names one for each request.
const (
	// OutcomeOK means that the request was answered with success.
	OutcomeOK Outcome = "ok"
	// OutcomeRefused means that the fence turned the operation away.
	OutcomeRefused Outcome = "refused"
	// OutcomeUnknown means that it was sent and not answered: it may have taken
	// effect, may do so later, or never.
	OutcomeUnknown Outcome = "unknown"
	// OutcomeNotSent means that it never left the client.
	OutcomeNotSent Outcome = "not-sent"
	// OutcomeFailed means that it certainly had no effect.
	OutcomeFailed Outcome = "failed"
)

// OpKind is what an operation does to the store.
type OpKind string

// The kinds of operation.
const (
	// Read returns the id of the last write.
	Read OpKind = "read"
	// Write stores the operation's own id.
	Write OpKind = "write"
)

// Op is one operation on the protected store, done under a grant.
type Op struct {
	// ID is unique in a history and never empty. It is what a write stores.
	ID string
	// Client did it, under the grant with the id Grant.
	Client string
	Grant  int
	// Resource and Register name the cell.
	Resource, Register string
	Kind               OpKind
	// Token is the fencing token that was sent along; 0 for none.
	Token uint64

	// Invoked is where the client called, Returned where it was answered; 0 when
	// no answer came.
	Invoked, Returned Pos
	// Applied is where the store decided, 0 when the operation never arrived.
	// Accepted is that decision. Both are ground truth that a client cannot see:
	// the facts about fencing use them, the check of the data does not.
	Applied  Pos
	Accepted bool
	// Outcome is the end of it as the client saw it.
	Outcome Outcome
	// Saw is the id that a read found, or that a write is based on: the id that
	// its section had read. "" is the initial value.
	Saw string
}

// Cell names one register of one resource.
type Cell struct {
	Resource, Register string
}

// cell returns the cell that the operation works on.
func (o Op) cell() Cell { return Cell{Resource: o.Resource, Register: o.Register} }

// String returns resource/register, or the resource alone when the register has
// no name.
func (c Cell) String() string {
	if c.Register == "" {
		return c.Resource
	}
	return c.Resource + "/" + c.Register
}

// Liveness says whether the lock could be taken again when all was over.
type Liveness string

// The states of liveness. There is no default: a history names one.
const (
	// LivenessOK means that a lone client could acquire in time.
	LivenessOK Liveness = "ok"
	// LivenessStuck means that it could not.
	LivenessStuck Liveness = "stuck"
	// LivenessLeaked means that a key of the lock outlived its use.
	LivenessLeaked Liveness = "leaked"
)

// History is what the clients of one run saw, and what the nodes' own record adds
// to it. Order within the slices has no meaning: the positions say what came when.
type History struct {
	// Within says in which interval of time each position happened, that of
	// position 1 first, where no instants are known: marks of processes on real
	// machines. Positions whose intervals overlap may have come in either order;
	// where that matters the label is [Unknown]. Nil means that the positions are
	// in the order in which everything happened.
	Within []Span
	// Care is how careful all clients of the run were.
	Care Care
	// Entry and Queue say what the lock promises besides exclusion.
	Entry Entry
	Queue Queue
	// Grants are the Acquires that succeeded, Attempts those that did not.
	Grants   []Grant
	Attempts []Attempt
	// Ops are the operations on the protected store.
	Ops []Op
	// SectionWrites is how many writes a whole section makes, the same for all
	// sections of the run: 1, or 2 in a transfer. 0 counts as 1. Above 1, a section
	// of which only a part took effect is torn (F73).
	SectionWrites int
	// Final is what an epilogue read found in each cell after everything had
	// drained. Each cell that an operation names must be there.
	Final map[Cell]string
	// Liveness was found by the harness, LivenessWhy is its sentence on it.
	Liveness    Liveness
	LivenessWhy string
	// Deletions and Holdings are ground truth, which no client can see. Both may
	// be left out: then there are no foreign releases, and only the claims tell
	// who is a rightful holder.
	Deletions []Deletion
	Holdings  []Holding
}
