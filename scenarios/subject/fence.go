package subject

import (
	"cmp"
	"fmt"
	"slices"

	"locksim/lock"
	"locksim/lock/fence"
)

// TestsFence reports whether the store is what is under test: see [Data].Fence.
func (l Lock) TestsFence() bool { return l.Data != nil && l.Data.Fence != "" }

// Fence is the name of the store under test, as a scenario has it in store; "" for a lock that works on s0.
func (l Lock) Fence() string {
	if l.Data == nil {
		return ""
	}
	return l.Data.Fence
}

// Ledger is the name, in lock.kind of a scenario with a store under test, of the lock that comes with each fence: one
// that is right, with known tokens.
const Ledger = "ledger"

// Kind is the name of the lock as a scenario has it in lock.kind.
func (l Lock) Kind() string {
	if l.TestsFence() && l.Data.Ledger {
		return Ledger
	}
	return cmp.Or(l.kind, l.Name)
}

// Fenced is the store of f, a lock that tests one, under test with the lock l, which mints the tokens. It promises what
// both do. A lock that mints none, or promises nothing, is an error: what the store did wrong could be the lock's.
func (l Lock) Fenced(f Lock) (Lock, error) {
	switch {
	case !f.TestsFence():
		return Lock{}, fmt.Errorf("%s is a lock, and no store that is under test", f.Name)
	case l.TestsFence():
		return Lock{}, fmt.Errorf("%s is a store, and mints no tokens for %s: name a lock", l.Name, f.Name)
	case !l.Tokens:
		return Lock{}, fmt.Errorf("lock %s mints no tokens, by which the fence %s refuses: choose one that does, such as "+
			"fenced", l.Name, f.Name)
	case l.Promise.TokensUnordered && f.Data.Rule != fence.Strict:
		return Lock{}, fmt.Errorf("the fence %s has the rule %s, which needs tokens that grow, and lock %s promises no "+
			"order of its tokens: choose another lock, or the rule strict", f.Name, f.Data.Rule, l.Name)
	}
	l.Promise = lock.Promise{Exclusion: both(l.Promise.Exclusion, f.Promise.Exclusion), Data: f.Promise.Data,
		FreeWithin: lock.TermAnyTime, TokensUnordered: l.Promise.TokensUnordered, SelfExcludes: true}
	if len(l.Promise.Exclusion) == 0 {
		return Lock{}, fmt.Errorf("there is no fault under which both lock %s and the fence %s promise to be right", l.Name,
			f.Name)
	}
	l.votes = l.voters()
	l.kind, l.Name = l.Kind(), l.Name+"+"+f.Name
	data := *f.Data
	data.Ledger = false
	l.Data, l.About = &data, f.About
	l.Replicas = max(l.Replicas, f.Replicas)
	servers := slices.Clone(l.Needs())
	for _, s := range f.Servers {
		i := slices.IndexFunc(servers, func(own Servers) bool { return own.Kind.Name == s.Kind.Name })
		switch {
		case s.Kind.Beside:
		case i < 0:
			s.Kind.Beside = true // the lock does not ask them
			servers = append(servers, s)
		default:
			servers[i].Count = max(servers[i].Count, s.Count)
		}
	}
	l.Servers = servers
	return l, nil
}

// both are the faults of the first list that are in the second one.
func both(a, b []lock.Fault) []lock.Fault {
	return slices.DeleteFunc(slices.Clone(a), func(f lock.Fault) bool { return !slices.Contains(b, f) })
}

// Fences are those of extra whose store is under test. The caller owns the slice.
func Fences(extra []Lock) []Lock {
	return slices.DeleteFunc(slices.Clone(extra), func(l Lock) bool { return !l.TestsFence() })
}

// MisuseError is returned by the Do of a [Data] under test for an answer that no store may give: the run ends with
// it.
type MisuseError struct {
	// What says what the store did, as the end of a sentence about it.
	What string
}

// Error is what the store did.
func (e *MisuseError) Error() string { return e.What }
