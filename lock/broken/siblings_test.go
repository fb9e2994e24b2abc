package broken_test

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/broken"
	"locksim/scenarios/subject"
	"locksim/sim/redis/redisclient"
)

// sibling is a lock of package lock.
type sibling struct {
	name string
	make func(nodes []lock.Redis, o lock.Options) (lock.Locker, error)
}

var (
	single = sibling{"single", func(nodes []lock.Redis, o lock.Options) (lock.Locker, error) {
		return lock.NewSingle(nodes[0], o)
	}}
	fenced = sibling{"fenced", func(nodes []lock.Redis, o lock.Options) (lock.Locker, error) {
		return lock.NewFenced(nodes[0], o)
	}}
	watchdog = sibling{"watchdog", func(nodes []lock.Redis, o lock.Options) (lock.Locker, error) {
		inner, err := lock.NewSingle(nodes[0], o)
		if err != nil {
			return nil, err
		}
		return lock.NewWatchdog(inner, lock.WatchdogOptions{})
	}}
	reentrant = sibling{"reentrant", func(nodes []lock.Redis, o lock.Options) (lock.Locker, error) {
		return lock.NewReentrant(nodes[0], o)
	}}
	reentrantFenced = sibling{"reentrant-fenced", func(nodes []lock.Redis, o lock.Options) (lock.Locker, error) {
		return lock.NewReentrantFenced(nodes[0], o)
	}}
	fair = sibling{"fair", func(nodes []lock.Redis, o lock.Options) (lock.Locker, error) {
		return lock.NewFair(nodes[0], o)
	}}
	redlock = sibling{"redlock", func(nodes []lock.Redis, o lock.Options) (lock.Locker, error) {
		return lock.NewRedlock(nodes, lock.RedlockOptions{Options: o})
	}}
)

// specimenLock returns the specimen as a lock under test.
func (tr trial) specimenLock(name string, s broken.Specimen) subject.Lock {
	return tr.lock(name, s, func(e subject.Env) (lock.Locker, error) {
		var nodes []redis.Cmdable
		for _, c := range clients(e, s.Nodes) {
			nodes = append(nodes, c)
		}
		return s.New(nodes, broken.Options{
			Options:  optionsOf(e),
			Identity: e.Identity(),
			Wall:     e.WallClock(),
			Point:    func(label string) { _ = e.Point(label) }, // the next seam reports a crash
		})
	})
}

// siblingLock returns the sibling as a lock under test. Its Redis clients pass the points.
func (tr trial) siblingLock(s broken.Specimen) subject.Lock {
	return tr.lock(tr.sibling.name, s, func(e subject.Env) (lock.Locker, error) {
		var nodes []lock.Redis
		for i, c := range clients(e, s.Nodes) {
			if i == 0 {
				c.AddHook(points{e})
			}
			nodes = append(nodes, c)
		}
		return tr.sibling.make(nodes, optionsOf(e))
	})
}

// maker creates the lock of one client.
type maker func(e subject.Env) (lock.Locker, error)

func (tr trial) lock(name string, s broken.Specimen, make maker) subject.Lock {
	create := func(e subject.Env) (lock.Locker, error) {
		l, err := make(e)
		if err != nil || tr.app == nil {
			return l, err
		}
		return tr.app(e, l, e.Spec().TTL), nil
	}
	l := subject.Lock{Name: name, Traits: subject.Traits{Servers: subject.Redis(s.Nodes), Tokens: s.Tokens, Keys: s.Keys,
		FollowsSpec: true,
		Quorum:      s.Nodes > 1, Promise: lock.Promise{Duties: s.Duties}}, New: create}
	if s.Detection > 0 {
		l.Lease, l.Detection = subject.LeaseHeld, s.Detection
	}
	if s.Queue {
		l.Queue = func(resource string) string { return s.Keys(resource)[0] + ":queue" }
	}
	return l
}

// clients returns Redis clients of as many nodes, or of as many as the scenario says, with the options that package
// lock requires.
func clients(e subject.Env, nodes int) []*redis.Client {
	var all []*redis.Client
	if n := e.Spec().Nodes; n > 0 {
		nodes = n
	}
	for i := range nodes {
		o := redisclient.Quiet()
		o.Addr = fmt.Sprintf("r%d:6379", i)
		o.ContextTimeoutEnabled = true
		all = append(all, redisclient.With(e, o))
	}
	return all
}

func optionsOf(e subject.Env) lock.Options {
	spec := e.Spec()
	return lock.Options{
		TTL:     spec.TTL,
		Backoff: lock.Backoff{Min: spec.Backoff.Min, Max: spec.Backoff.Max},
		Clock:   e.Clock(), Entropy: e.Entropy("lock"), Jitter: e.Source("lock"),
	}
}

// points passes the points of the specimens around the commands of a lock without points.
type points struct{ e subject.Env }

func (h points) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h points) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (h points) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		_ = h.e.Point("asking")
		if cmd.Name() == "evalsha" { // the only script of a Single
			_ = h.e.Point("compared")
		}
		err := next(ctx, cmd)
		if err == nil && granted(cmd) {
			_ = h.e.Point("locked")
			_ = h.e.Point("answered")
		}
		return err
	}
}

func granted(cmd redis.Cmder) bool {
	switch c := cmd.(type) {
	case *redis.BoolCmd:
		return c.Val()
	case *redis.Cmd:
		n, err := c.Int64()
		return err == nil && n > 0
	}
	return false
}
