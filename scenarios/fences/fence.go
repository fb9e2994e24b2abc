// Package fences puts fences on trial: protected stores that refuse writes by fencing tokens, as a user has written
// them.
//
// In all other runs the store s0 is assumed to be right, and the lock is judged. Here it is the other way round:
// the lock is one that is right, with tokens that are known, whose holders often write late; and the store is
// judged by its answers. See [checker.History].Fence for what a right store is.
package fences

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/subject"
)

// Store is a protected store, as one client reaches it: values by key, behind a fence. A key is protected by a lock
// of its own, so that tokens of different keys have nothing to do with each other.
type Store interface {
	// Read returns the value of a key; "" if it has none. A store whose reads do not count ignores op.
	Read(ctx context.Context, key string, op fence.Op) (value string, err error)
	// Write stores a value, unless the fence refuses it. An error that wraps [fence.ErrStale], or one of Fence.Refused,
	// says that it was refused; after any other one it is not known whether it was stored. op.Token is the token of the
	// client's grant, op.Grant an id of the grant, for the rule strict.
	Write(ctx context.Context, key, value string, op fence.Op) error
}

// Fence is a fence under test.
type Fence struct {
	// Name is its name in reports: one word, such as my-fence.
	Name string
	// Open makes the access of one client to the store, with the dialer and the clocks of its environment. It is called
	// once for each process of a run.
	Open func(e subject.Env) (Store, error)
	// Servers are the servers that the store needs. Nil means one Redis server.
	Servers []subject.Servers
	// Replicas is how many replicas of r0 it needs, such as to read from: see [subject.Lock].
	Replicas int
	// Rule is what the fence promises: [fence.Check], the default, [fence.Seal] or [fence.Strict].
	Rule fence.Mode
	// Refused are the errors, besides [fence.ErrStale], with which it refuses: those that wrap one of them.
	Refused []error
	// Faults are the classes of fault under which it promises to be right. Nil means [DefaultFaults].
	Faults []lock.Fault
	// About says in a sentence or two how it works.
	About string
}

// DefaultFaults are those of clients and of the network, and those that leave what a server has. The caller owns the
// slice.
func DefaultFaults() []lock.Fault {
	return []lock.Fault{lock.FaultPause, lock.FaultCrash, lock.FaultPower, lock.FaultRestart, lock.FaultSlow,
		lock.FaultPartition, lock.FaultLatency, lock.FaultReset, lock.FaultStall, lock.FaultReadOnly, lock.FaultScripts,
		lock.FaultWallClock}
}

// Validate returns an error for the first field that is missing or invalid.
func (f Fence) Validate() error {
	switch {
	case f.Name == "":
		return errors.New("the fence has no Name: reports need one")
	case f.Open == nil:
		return fmt.Errorf("fence %s has no Open: it opens the store for one client", f.Name)
	}
	switch f.Rule {
	case "", fence.Check, fence.Seal, fence.Strict:
	default:
		return fmt.Errorf("fence %s has the Rule %q: choose check, seal or strict, which compare tokens", f.Name, f.Rule)
	}
	for _, err := range f.Refused {
		if err == nil {
			return fmt.Errorf("fence %s has a nil error in Refused: leave it out", f.Name)
		}
	}
	return nil
}

// Subject is the fence as what a search plays: a lock that is right, which mints the tokens, and the store under
// test as its data. Its scenarios have data: database.
func (f Fence) Subject() subject.Lock {
	rule := f.Rule
	if rule == "" {
		rule = fence.Check
	}
	servers := f.Servers
	if servers == nil {
		servers = subject.Redis(1)
	}
	classes := f.Faults
	if classes == nil {
		classes = DefaultFaults()
	}
	twice := rule == fence.Strict
	return subject.Lock{
		Name: f.Name, Traits: subject.Traits{About: f.About, Tokens: true, FollowsSpec: true, Replicas: f.Replicas,
			Servers: append(servers[:len(servers):len(servers)], subject.Servers{Kind: ledgerKind, Count: 1}),
			Keys:    func(string) []string { return nil },
			Promise: lock.Promise{Exclusion: classes, Data: string(rule), FreeWithin: lock.TermAnyTime, TokensUnordered: twice},
			Data: &subject.Data{Fence: f.Name, Rule: rule, Ledger: true, Open: func(e subject.Env, _ fence.Mode) (subject.Store,
				error) {
				s, err := f.Open(e)
				if err != nil {
					return nil, err
				}
				if s == nil {
					return nil, fmt.Errorf("the Open of fence %s returned neither a store nor an error", f.Name)
				}
				return &judged{f, s, e.Clock()}, nil
			}}},
		New: func(e subject.Env) (lock.Locker, error) { return &locker{env: e, twice: twice}, nil },
	}
}

// judged is a store under test as the driver asks it.
type judged struct {
	fence Fence
	store Store
	clock lock.Clock
}

// outlasts is how long a Read or Write may go on after its context has ended: clients that do not follow contexts end
// by a timeout of their own.
const outlasts = 30 * time.Second

// Do implements [subject.Store].
func (j *judged) Do(ctx context.Context, op checker.Op, grant string) (saw string, outcome checker.Outcome, err error) {
	as := fence.Op{Token: op.Token, Grant: grant}
	key := string(op.Resource) + ":" + op.Register
	var ended atomic.Pointer[time.Time]
	defer context.AfterFunc(ctx, func() {
		now := j.clock.Now()
		ended.Store(&now)
	})()
	call := "Read"
	if op.Kind == checker.Write {
		call = "Write"
		err = j.store.Write(ctx, key, op.Stored(), as)
	} else {
		saw, err = j.store.Read(ctx, key, as)
	}
	if at := ended.Load(); at != nil {
		if late := j.clock.Now().Sub(*at); late > outlasts {
			return "", checker.OutcomeUnknown,
				&subject.MisuseError{What: fmt.Sprintf("returned from %s %v after its context had ended: let it end with its "+
					"context", call, late.Round(time.Second))}
		}
	}
	if err != nil && saw != "" {
		err = &subject.MisuseError{What: fmt.Sprintf("returned from Read both the value %q and an error, %v: return one "+
			"of them",
			saw, err)}
	}
	if err != nil {
		saw = ""
	}
	return saw, j.outcomeOf(err), err
}

// outcomeOf is what an error of the store says about an operation.
func (j *judged) outcomeOf(err error) checker.Outcome {
	if err == nil {
		return checker.OutcomeOK
	}
	for _, refusal := range append([]error{fence.ErrStale}, j.fence.Refused...) {
		if errors.Is(err, refusal) {
			return checker.OutcomeRefused
		}
	}
	return checker.OutcomeUnknown
}
