package checker

import (
	"fmt"
	"slices"
	"time"

	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/lock/promise"
)

// Pos is a position in the trace: the number of an event, counted from 1. The
// zero Pos means that it did not happen.
type Pos int

// Care says how a client notices the loss of its lock.
type Care string

// The degrees of care. The zero value of [Care] counts as CareNever.
const (
	// CareNever ignores the lease: only Release or a crash ends a belief.
	CareNever Care = "never"
	// CareLost stops at the lock's notice of a loss once it has been observed.
	CareLost Care = "lost"
	// CareSteps does that, and checks the end of the lease before each step.
	CareSteps Care = "steps"
)

// ParseCare returns the care with the name s. The error lists the names.
func ParseCare(s string) (Care, error) {
	switch c := Care(s); c {
	case CareNever, CareLost, CareSteps:
		return c, nil
	}
	return "", fmt.Errorf("parse care %q: want never, lost or steps", s)
}

// Grant is one successful Acquire and how it ended.
type Grant struct {
	// ID is unique in a history, counted from 1.
	ID int `json:"id,omitempty"`
	// Client holds the grant: c0, c1, …
	Client string `json:"client"`
	// Resource is what the grant locks.
	Resource Resource `json:"resource"`
	// Token is the fencing token; 0 if the lock mints none.
	Token uint64 `json:"token,omitempty"`

	// Invoked is when Acquire was called, Granted when it returned.
	Invoked Pos `json:"invoked,omitempty"`
	Granted Pos `json:"granted,omitempty"`
	// Released is when Release was called, ReleaseReturned when it returned.
	Released        Pos `json:"released,omitempty"`
	ReleaseReturned Pos `json:"release_returned,omitempty"`
	// ReleaseFailed says that Release returned an error after which the lock may
	// still be taken.
	ReleaseFailed bool `json:"release_failed,omitempty"`
	// Until is when the validity ended on the holder's own clock. It may be
	// before Granted: an answer can arrive after the end of the validity.
	Until Pos `json:"until,omitempty"`
	// ExpiredAtCall says that the validity ended at or before the instant, on the
	// holder's own clock, at which Acquire was called.
	ExpiredAtCall bool `json:"expired_at_call,omitempty"`
	// OverBefore says that the validity had ended, on the holder's own clock, when the last answer came, in the instant in
	// which Acquire returned. A validity that ends later, such as during a pause before the return, is no such one: the
	// lock may have looked before. A live run does not know it.
	OverBefore bool `json:"over_before,omitempty"`
	// Revived is when the lock was first seen to have moved the end of the
	// validity into the future again after it had passed.
	Revived Pos `json:"revived,omitempty"`
	// Doubted is where the claim ended because another client had the lock and the
	// holder could not be told, or not yet: see [History.HeldUntilTold]. Taken says that a request took the lock from its
	// holder instead: then it is where the time was over that the key had left, and 0 if nothing but the holder ends it.
	Doubted Pos  `json:"doubted,omitempty"`
	Taken   bool `json:"taken,omitempty"`
	// Lost is when the lock announced the loss, LostSeen when the client
	// observed that.
	Lost     Pos `json:"lost,omitempty"`
	LostSeen Pos `json:"lost_seen,omitempty"`
	// Known is when the lock received the first answer, to a request by which locks renew their leases, that had found its
	// key gone; 0 if that is not known.
	Known Pos `json:"known,omitempty"`
	// LostBefore says that the lock had announced the loss before Acquire returned: by
	// then, in the instant of the last answer, Lost was closed. A loss that comes in the
	// same instant as the return, such as that in which a paused process goes on, is no
	// such loss: the lock may have looked before. A live run knows it only of a loss that
	// an earlier lease had too.
	LostBefore bool `json:"lost_before,omitempty"`
	// UntilSeen is when the client read its clock and saw that Until had
	// passed.
	UntilSeen Pos `json:"until_seen,omitempty"`
	// Crashed is when the client's process ended.
	Crashed Pos `json:"crashed,omitempty"`
	// Enqueued is when, by the node's record, the request first joined the
	// queue of a fair lock; 0 if that is not known, if it never had to wait, or if
	// it has lost its place because its client was away.
	Enqueued Pos `json:"enqueued,omitempty"`
	// ContextEnded is the instant at which the context of Acquire ended, if that was
	// at or before Granted; 0 otherwise.
	ContextEnded time.Duration `json:"context_ended,omitempty"`
	// ReleaseSucceeded says that Release returned no error, ReleaseNotHeld that it
	// returned that the lock was not held any more.
	ReleaseSucceeded bool `json:"release_succeeded,omitempty"`
	ReleaseNotHeld   bool `json:"release_not_held,omitempty"`
	// ReleaseContextEnded says that the context of Release had ended by its return.
	ReleaseContextEnded bool `json:"release_context_ended,omitempty"`
	// ReleaseContextOver says that the context of Release had ended when it was called.
	ReleaseContextOver bool `json:"release_context_over,omitempty"`
	// LeaseEnded is the instant at which the context of the lease ended; 0 if it did
	// not.
	LeaseEnded time.Duration `json:"lease_ended,omitempty"`
	// Left is how long the validity still lasted when Acquire returned, by the holder's clock: 0 or less if it had
	// ended. Nil means that it is not known, or that the validity has no end.
	Left *time.Duration `json:"left,omitzero"`
	// Unkept is what its client saw the lease do that is not as the lock says, each as
	// the end of a sentence about the client: its context lacks the values of that of Acquire.
	Unkept []string `json:"unkept,omitzero"`
}

// Attempt is an Acquire without a grant.
type Attempt struct {
	// Client called Acquire for Resource.
	Client   string   `json:"client"`
	Resource Resource `json:"resource"`
	// Invoked is when Acquire was called, Returned when it returned; 0 if it
	// never did.
	Invoked  Pos `json:"invoked,omitempty"`
	Returned Pos `json:"returned,omitempty"`
	// Outcome is any but OutcomeOK. OutcomeUnknown means that the grant may
	// have been made although the client cannot know it.
	Outcome Outcome `json:"outcome,omitempty"`
	// Enqueued is when, by the node's record, the request first joined the
	// queue of a fair lock, Left when it was no longer in the queue; 0 if that
	// is not known. Both can be after Returned: a late request joins the queue
	// after it, and an entry in the queue can outlast it.
	Enqueued Pos `json:"enqueued,omitempty"`
	Left     Pos `json:"left,omitempty"`
	// ContextEnded is the instant at which the context of Acquire ended, if that was
	// at or before Returned; 0 otherwise.
	ContextEnded time.Duration `json:"context_ended,omitempty"`
	// Unexplained says that the context had ended, and that the error does not wrap
	// the context's error.
	Unexplained bool `json:"unexplained,omitempty"`
	// Taken says that the error is one with which the lock says that it is taken.
	Taken bool `json:"taken,omitempty"`
	// Error is the text of the error; "" if it says that the lock is taken, or is that of the context, which had ended.
	Error string `json:"error,omitempty"`
}

// Try is one call of TryAcquire. An Acquire of the history may consist of several.
type Try struct {
	// Client called it for Resource, in the Acquire that was called at Invoked.
	Client   string   `json:"client"`
	Resource Resource `json:"resource"`
	Invoked  Pos      `json:"invoked,omitempty"`
	// Called and Returned are the instants of the call and of the return.
	Called   time.Duration `json:"called,omitempty"`
	Returned time.Duration `json:"returned,omitempty"`
	// Taken says that it returned that the lock is taken.
	Taken bool `json:"taken,omitempty"`
}

// Call is a call of Release or Extend, or an Acquire that has to return by a certain time.
type Call struct {
	// Client made the call named What: Release, Extend or Acquire, for Resource. It is about the grant,
	// or the Acquire, of the position About.
	Client   string   `json:"client"`
	Resource Resource `json:"resource"`
	What     string   `json:"what"`
	About    Pos      `json:"about,omitempty"`
	// Called and Returned are the instants of the call and of the return, Due is when it
	// had to return at the latest, whatever the servers do; 0 if that is not known.
	Called   time.Duration `json:"called,omitempty"`
	Due      time.Duration `json:"due,omitempty"`
	Returned time.Duration `json:"returned,omitempty"`
	// Left is how long the validity of the lease still lasted when an Extend without an error returned, as [Grant.Left].
	Left *time.Duration `json:"left,omitzero"`
	// ContextEnded says that the context of the call had ended by its return.
	ContextEnded bool `json:"context_ended,omitempty"`
	// Result is how a Release or an Extend ended; "" if its process did not survive it, or if the lock has no such call.
	// Error is the text of the error of one that failed.
	Result Result `json:"result,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Result is how a call of Release or Extend ended.
type Result string

// The results.
const (
	// ResultDone means that it returned no error.
	ResultDone Result = "done"
	// ResultNotHeld means that it returned that the lock is not held.
	ResultNotHeld Result = "not-held"
	// ResultRefused means that an Extend returned that the lease may not be extended any more.
	ResultRefused Result = "refused"
	// ResultFailed means that it returned another error.
	ResultFailed Result = "failed"
)

// Panic is a panic of the lock's code that ended the process of a client, or a call of runtime.Goexit in it.
type Panic struct {
	Client string
	// At is the end of the process. Text is what the code panicked with, and where.
	At   Pos
	Text string
}

// Outcome is the outcome of a request, as far as its sender can know it.
type Outcome string

// The outcomes. There is no default: a history names one for each request.
const (
	// OutcomeOK means that the request was answered with success.
	OutcomeOK Outcome = "ok"
	// OutcomeRefused means that the fence refused the operation.
	OutcomeRefused Outcome = "refused"
	// OutcomeUnknown means that it was sent and not answered: it may have taken
	// effect, may do so later, or never does.
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

// Op is one operation on the protected store, under a grant.
type Op struct {
	// ID is unique in a history and never empty. A write stores it.
	ID string `json:"id"`
	// Client sent it, under the grant with the id Grant.
	Client string `json:"client"`
	Grant  int    `json:"grant,omitempty"`
	// Resource and Register name the cell.
	Resource Resource `json:"resource,omitempty"`
	Register string   `json:"register,omitempty"`
	Kind     OpKind   `json:"kind"`
	// Token is the fencing token that was sent with it; 0 for none.
	Token uint64 `json:"token,omitempty"`

	// Again is the id of the write of which it is a retry, which stores what that one stores: "" for a first try. Only a
	// store that is under test is asked again: see [History.Fence].
	Again string `json:"again,omitempty"`

	// Invoked is when the client sent it, Returned when the answer arrived; 0
	// if none did.
	Invoked  Pos `json:"invoked,omitempty"`
	Returned Pos `json:"returned,omitempty"`
	// Applied is when the store decided, 0 if the operation never arrived.
	// Accepted is that decision. Both are ground truth that a client cannot
	// see: the facts about fencing use them, the check of the data does not.
	Applied  Pos  `json:"applied,omitempty"`
	Accepted bool `json:"accepted,omitempty"`
	// Outcome is its outcome as the client saw it.
	Outcome Outcome `json:"outcome,omitempty"`
	// Saw is the id that a read found, or that a write is based on: the id that
	// its section had read. "" is the initial value.
	Saw string `json:"saw,omitempty"`
}

// Resource is the name of what a lock is for, as the clients call it.
type Resource string

// String is the name as texts show it: quoted unless it is one plain word.
func (r Resource) String() string { return prose.Name(string(r)) }

// Cell names one register of one resource.
type Cell struct {
	Resource Resource
	Register string
}

func (o Op) cell() Cell { return Cell{Resource: o.Resource, Register: o.Register} }

// String returns resource/register, or only the resource if the register has no
// name.
func (c Cell) String() string {
	if c.Register == "" {
		return c.Resource.String()
	}
	return c.Resource.String() + "/" + c.Register
}

// History is what the clients of one run saw, with additions from the nodes'
// own record. The order within the slices has no meaning: the positions give
// the order of events.
type History struct {
	// Within has an interval of time for each position, beginning with position
	// 1, if the instants are not known exactly: for processes on real machines.
	// Positions whose intervals overlap may have happened in either order; if
	// that matters the label is [Unknown]. Nil means that the order of the
	// positions is that of the events.
	Within []Span
	// Care is the care of all clients of the run.
	Care Care
	// Entry and Queue say what the lock promises besides exclusion.
	Entry Entry
	Queue Queue
	// Duties are what its calls do: see [Facts.Misconduct]. They are judged only with a
	// Timing.
	Duties []promise.Duty
	// TakenNamed says that [Attempt.Taken] and [Try.Taken] have all errors with which the lock says that it is taken: any
	// other is a failure.
	TakenNamed bool
	// Grants are the Acquires that succeeded, Attempts those that did not.
	Grants   []Grant
	Attempts []Attempt
	// Tries are the calls of TryAcquire that returned, Calls those of Release and Extend, and the Acquires that had to
	// return by a certain time.
	Tries []Try
	Calls []Call
	// Panics are those of the lock's code.
	Panics []Panic
	// Ops are the operations on the protected store.
	Ops []Op
	// Calm says that no fault struck, that the latency of the network and the work
	// under a grant take at most a quarter of a lease, and that no request but an
	// Acquire was ended by its client. Then every claim must last until its release, and a lock that is
	// free must be granted.
	Calm bool
	// Timing has the instants of the run, for the idle time. Nil means that it is
	// not computed.
	Timing *Timing
	// SectionWrites is how many writes a whole section makes, the same for all
	// sections of the run: 1, 2 in a transfer, or as many as a section of the user's has. 0 counts as 1. Above 1, a
	// section that took effect only in part is torn (F73). The operations under one
	// grant are one section, up to its last write, or to a read or write of a
	// register that begins the next one.
	SectionWrites int
	// Fill says that each cell is a value that is computed once: a section looks for
	// it by a read and, if it is not there, works and writes it. All writes of a cell
	// store the same value, whatever their ids, so that one which overwrites another
	// does no harm; the work has been done twice. A grant writes each cell once at
	// most, and SectionWrites is 0 or 1.
	Fill bool
	// Stock is the amount of each cell, of which each write takes some; nil if cells have none.
	Stock *Stock
	// Ordered says that the lock promises to grant requests in the order in which they come.
	Ordered bool
	// Leads says that the holders of the lock are leaders, who hold it for long and act again and again. Then the facts
	// about leaders are counted: see [Facts.ActedAtOnce].
	Leads bool
	// Fence is the rule of a store that is under test itself: "" if the store is assumed to be right. Then the operations
	// are judged by their calls and answers alone, since nothing is known of when such a store decides: see
	// [Facts.StaleForgotten]. It is one of check, seal and strict.
	Fence fence.Mode
	// Last are reads of such a store when all was over, each under a grant of its own, which the history does not have.
	Last []Op
	// Final is the value of each cell in an epilogue read, after the end of all
	// requests. It must have each cell that an operation names.
	Final map[Cell]string
	// Ending is what was left of the lock when all was over.
	Ending Ending
	// Deletions and Holdings are ground truth, which no client can see. Both
	// may be missing: then there are no foreign releases, and only the claims
	// determine the rightful holder.
	Deletions []Deletion
	Holdings  []Holding
	// Takings are the requests that took a lock from its holder, where that is known. Only [History.HeldUntilTold] needs
	// them.
	Takings []Taking
	// Voters is how many nodes grant the lock independently of each other, Votes who had how many of them, as ground
	// truth. Only the slack of votes ([SlackVotes]) needs the two; it is not known where there are fewer than two
	// Voters.
	Voters int
	Votes  []Vote
	// ManyKeys says that the holdings are of a lock with several keys of which it may not need all: a holding ends
	// where the client has not all of them any more, and it may still have the lock.
	ManyKeys bool
	// SessionKeys says that keys end with the sessions of their clients: one that has ended its session no longer holds
	// the lock, and a server has the key until it has learnt that.
	SessionKeys bool
	// Detection is how long a holder that runs and reaches the servers may take to learn that it has lost the lock:
	// see [Facts.Misconduct]. 0 means that it is not judged.
	Detection time.Duration
}

// OfClients is the history as its clients and the store know it: without what the servers of the lock recorded, which
// are the places in a queue and who had a key, and without a timing, on which idle times and [promise.Duty] are judged.
// The history of a run on real servers has no more: they keep no such record, and no client may have a free lock for a
// while since the machine is busy.
func (h History) OfClients() History {
	h.Timing, h.Holdings, h.Deletions, h.Votes, h.Takings = nil, nil, nil, nil, nil
	h.Grants, h.Attempts = slices.Clone(h.Grants), slices.Clone(h.Attempts)
	for i := range h.Grants {
		h.Grants[i].Enqueued = 0
	}
	for i := range h.Attempts {
		h.Attempts[i].Enqueued, h.Attempts[i].Left = 0, 0
	}
	return h
}
