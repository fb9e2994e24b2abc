package redislocks

import (
	"fmt"
	"slices"
	"strings"

	"locksim/internal/prose"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/subject"
)

// Find is the lock of that name: one of extra, or a kind that comes with
// locksim. The error is an [subject.ErrUnknownLock]. It lists them all, or names the package that has
// the lock.
func Find(name string, extra []subject.Lock) (subject.Lock, error) {
	names := kinds.Names()
	for _, l := range extra {
		if l.Name == name {
			return l.Cached(), l.Missing()
		}
		names = append(names, l.Name)
	}
	if l, ok, err := fencedBy(name, extra); ok {
		return l, err
	}
	if where, ok := kinds.Package(name); ok {
		return subject.Lock{}, fmt.Errorf("%w %q in this program: package %s has it, for app.Main", subject.ErrUnknownLock,
			name, where)
	}
	if kinds.Reserved(name) {
		return Kind(name)
	}
	return subject.Lock{}, fmt.Errorf("%w %q: there are %s", subject.ErrUnknownLock, name, strings.Join(names, ", "))
}

// Library is the scenarios of the library that are about a lock of the program: a kind that comes with locksim, or one
// of extra. They are sorted by name. The caller owns the slice and the scenarios. The error is that of [file.Library].
func Library(extra []subject.Lock) ([]*file.Scenario, error) {
	all, err := file.Library()
	return slices.DeleteFunc(all, func(sc *file.Scenario) bool {
		return !slices.ContainsFunc(sc.LockNames(), func(name string) bool {
			_, elsewhere := kinds.Package(name)
			return !elsewhere || slices.ContainsFunc(extra, func(l subject.Lock) bool { return l.Name == name })
		})
	}), err
}

// FindSubject is what plays a scenario: the lock of that kind, with the store of that name under test, or "" for s0.
// The error is an [subject.ErrUnknownLock], or that of [subject.Lock.Fenced].
func FindSubject(kind, store string, extra []subject.Lock) (subject.Lock, error) {
	if store == "" {
		return Find(kind, extra)
	}
	fences := subject.Fences(extra)
	i := slices.IndexFunc(fences, func(f subject.Lock) bool { return f.Fence() == store })
	if i < 0 {
		return subject.Lock{}, &UnknownFenceError{store, fences}
	}
	if kind == subject.Ledger {
		return Find(fences[i].Name, extra)
	}
	l, err := Find(kind, extra)
	if err != nil || l.Fence() == store {
		return l, err
	}
	return l.Fenced(fences[i])
}

// UnknownFenceError is that of a store under test that the program does not have. It is an [subject.ErrUnknownLock].
type UnknownFenceError struct {
	name   string
	fences []subject.Lock
}

// Error is "there is no fence", the name, and those that there are.
func (e *UnknownFenceError) Error() string {
	var names []string
	for _, f := range e.fences {
		names = append(names, f.Fence())
	}
	return fmt.Sprintf("there is no fence %q: %s", e.name, prose.Choose(e.name, names))
}

// Unwrap makes it an [subject.ErrUnknownLock].
func (e *UnknownFenceError) Unwrap() error { return subject.ErrUnknownLock }

// fencedBy is the lock of a name that has another lock and a store of extra under test, as [subject.Lock.Fenced] has
// named it; ok is false for another name.
func fencedBy(name string, extra []subject.Lock) (l subject.Lock, ok bool, err error) {
	for _, f := range subject.Fences(extra) {
		if kind, fits := strings.CutSuffix(name, "+"+f.Name); fits {
			l, err = FindSubject(kind, f.Fence(), extra)
			return l, true, err
		}
	}
	return subject.Lock{}, false, nil
}
