package broken

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/lock"
)

// Right returns the specimen's code with the right line in place of the wrong one. It passes the same points.
func (s Specimen) Right() Specimen {
	s.build = rights[s.Name]
	return s
}

var rights = map[string]func([]redis.Cmdable, Options) lock.Locker{
	"setnx-then-expire":          rightSingle,
	"del-without-owner":          rightSingle,
	"get-then-del":               rightSingle,
	"watchdog-bare-expire":       rightWatchdog,
	"watchdog-recreates-key":     rightWatchdog,
	"watchdog-stop-lost":         rightWatchdog,
	"watchdog-stops-after-error": rightWatchdog,
	"watchdog-ignores-failure":   rightWatchdog,
	"session-never-tells":        rightWatchdog,
	"renewals-time-out": func(nodes []redis.Cmdable, o Options) lock.Locker {
		w := newWatchdog(nodes[0], o)
		w.keep = untilStopped
		return w.locker()
	},
	"candidate-settles": func(nodes []redis.Cmdable, o Options) lock.Locker {
		return newPatient(nodes[0], o, func(time.Duration) time.Duration { return 0 })
	},
	"expire-whole-seconds":   rightSingle,
	"expiry-by-client-clock": rightSingle,
	"token-after-lock":       rightFenced,
	"token-before-lock":      rightFenced,
	"token-read-late":        rightFenced,
	"token-per-reentry":      rightReentrant,
	"reentrant-two-keys":     rightReentrant,
	"until-in-wrong-unit":    rightSingle,
	"fair-place-too-short": func(nodes []redis.Cmdable, o Options) lock.Locker {
		return newQueue(nodes[0], o, 4*o.Backoff.Max, endlessQueue)
	},
	"queue-of-ten": func(nodes []redis.Cmdable, o Options) lock.Locker {
		return newQueue(nodes[0], o, 4*o.Backoff.Max, endlessQueue)
	},
	"wedged-after-release": func(nodes []redis.Cmdable, o Options) lock.Locker {
		return newRemembering(nodes[0], o, func(forget func()) { forget() })
	},
	"owner-prefix": func(nodes []redis.Cmdable, o Options) lock.Locker {
		return newRecognising(nodes[0], o, enterOwnerScript)
	},
	"names-collide": func(nodes []redis.Cmdable, o Options) lock.Locker {
		return newNamed(nodes[0], o, func(resource string) string { return resource })
	},
	"ttl-from-deadline": rightSingle,
	"extend-forgets-owner": func(nodes []redis.Cmdable, o Options) lock.Locker {
		return newExtending(nodes[0], o, func(ctx context.Context, c claim) (bool, error) {
			return extendOwn(ctx, nodes[0], c,
				o.TTL)
		})
	},
	"try-then-unlock": func(nodes []redis.Cmdable, o Options) lock.Locker {
		return newTrying(nodes[0], o, func(context.Context, claim) error { return nil })
	},
	"quorum-of-half":               rightRedlock,
	"redlock-one-by-one":           rightRedlock,
	"redlock-no-drift":             rightRedlock,
	"redlock-keeps-minority":       rightRedlock,
	"redlock-wall-clock":           rightRedlock,
	"release-with-request-context": rightSingle,
	"lease-ends-with-the-wait":     rightSingle,
	"release-sent-once": func(nodes []redis.Cmdable, o Options) lock.Locker {
		return newRetryable(nodes[0], o, func(err error) bool { return err == nil })
	},
	"row-by-client-clock": func(nodes []redis.Cmdable, o Options) lock.Locker {
		return newRowLock(nodes[0], o, func(ctx context.Context) (time.Time, error) { return nodes[0].Time(ctx).Result() })
	},
	"row-update-unchecked": func(nodes []redis.Cmdable, o Options) lock.Locker {
		return newVersionLock(nodes[0], o, func(changed int) bool { return changed == 1 })
	},
}

func rightSingle(nodes []redis.Cmdable, o Options) lock.Locker {
	return newOnNode(o, withPoints(o, protocol{grant: grantBySetNX(nodes[0], o.TTL), release: releaseOwn(nodes[0])}))
}

func rightFenced(nodes []redis.Cmdable, o Options) lock.Locker {
	grant := func(ctx context.Context, c claim) (uint64, bool, error) { return grantAndMint(ctx, nodes[0], c, o.TTL) }
	return newOnNode(o, withPoints(o, protocol{grant: grant, release: releaseOwn(nodes[0])}))
}

func rightReentrant(nodes []redis.Cmdable, o Options) lock.Locker {
	return reentrant{newOnNode(o,
		withPoints(o, protocol{grant: enterBy(enterScript, nodes[0], o.TTL), release: leave(nodes[0]), back: leaveNothing}))}
}

func rightWatchdog(nodes []redis.Cmdable, o Options) lock.Locker {
	return newWatchdog(nodes[0], o).locker()
}

func rightRedlock(nodes []redis.Cmdable, o Options) lock.Locker { return newRedlock(nodes, o).locker() }

// withPoints returns a protocol that passes the points of the specimens around its requests.
func withPoints(o Options, p protocol) protocol {
	return protocol{
		grant: func(ctx context.Context, c claim) (token uint64, granted bool, err error) {
			o.Point("asking")
			if token, granted, err = p.grant(ctx, c); granted {
				o.Point("locked")
			}
			return token, granted, err
		},
		release: func(ctx context.Context, c claim) error {
			o.Point("compared")
			return p.release(ctx, c)
		},
		back: p.back,
	}
}
