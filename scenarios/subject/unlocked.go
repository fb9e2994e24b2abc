package subject

import (
	"context"

	"locksim/lock"
	"locksim/lock/fence"
)

// Unlocked is no lock: its clients work at once on data in servers, whose mode [fence.CAS] refuses a write if the value
// has changed since it was read. classes are the faults under which no acknowledged write is lost. A client whose write
// was refused begins anew, [Tries] times in all. About and ForWhom are left to the caller.
func Unlocked(name string, servers []Servers, classes []lock.Fault,
	open func(e Env, mode fence.Mode) (Store, error)) Lock {
	return Lock{
		Name: name, Traits: Traits{Servers: servers, FollowsSpec: true, Lease: LeaseHeld,
			Keys: func(string) []string { return nil },
			Data: &Data{Alone: true, Open: open},
			Promise: lock.Promise{Unlocked: true, Exclusion: classes, Data: string(fence.CAS),
				FreeWithin: lock.TermAnyTime}},
		New: func(e Env) (lock.Locker, error) {
			return LockerFunc(func(ctx context.Context, _ string) (lock.Lease, error) {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				return NewLease(ctx, e, Grant{Unlock: func(context.Context) error { return nil }}), nil
			}), nil
		},
	}
}
