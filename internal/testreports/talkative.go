package testreports

import (
	"context"
	"errors"

	"locksim/lock"
	"locksim/scenarios/subject"
)

// Talkative is a lock whose releases return an error of several lines, with control
// characters of a table and of a terminal.
func Talkative(l subject.Lock) subject.Lock {
	inner := l.New
	l.Name = "talkative"
	l.New = func(e subject.Env) (lock.Locker, error) {
		locker, err := inner(e)
		return talkative{locker}, err
	}
	return l
}

type talkative struct{ lock.Locker }

func (l talkative) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	return talkativeLease{lease}, nil
}

type talkativeLease struct{ lock.Lease }

func (l talkativeLease) Release(ctx context.Context) error {
	return errors.Join(l.Lease.Release(ctx), errors.New("2 errors occurred:\n\t* one | two\r\n\n\x1b[31m* three;"))
}
