// Package sentinellocks puts our locks on one Redis node on trial where Sentinels watch that node: their clients find
// the primary as redis.NewFailoverClient of go-redis does, and follow a failover.
//
//	scenarios.Check(t, sentinellocks.Lock("fenced"), scenarios.Options{})
//
// Each world has r0 with two replicas or more, and three Sentinels or more, of packages [locksim/sim/redis] and
// [locksim/sim/sentinel].
package sentinellocks

import (
	"cmp"
	"slices"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/sentinellocks/facts"
	"locksim/scenarios/subject"
	"locksim/sim"
	"locksim/sim/redis/redisclient"
	"locksim/sim/sentinel"
)

// count is the least number of Sentinels.
const count = 3

// Prefix begins the names of the locks, before that of the kind.
const Prefix = "sentinel-"

// Kind is the kind of server: Sentinels, with sen0, sen1 and sen2.
func Kind() subject.ServerKind { return kindIn(file.Defaults().World) }

// kindIn is the kind with the settings of a world. A failover takes the time until the primary is taken for down, some
// seconds more, and up to 18 s until a Sentinel makes an old primary a replica that has come back.
func kindIn(w file.World) subject.ServerKind {
	byDefault := file.Defaults().World
	w.DownAfter, w.FailoverTimeout = cmp.Or(w.DownAfter, byDefault.DownAfter),
		cmp.Or(w.FailoverTimeout, byDefault.FailoverTimeout)
	return subject.ServerKind{
		Facts: facts.Server.Facts, In: kindIn,
		Settles: w.DownAfter + 30*time.Second,
		Make: func(n int) sim.Kind {
			return sentinel.Servers{Count: n, Quorum: w.Quorum, DownAfter: w.DownAfter, FailoverTimeout: w.FailoverTimeout}
		},
	}
}

// Servers are those of a lock: r0, and the Sentinels that watch it.
func Servers() []subject.Servers {
	return append(subject.Redis(1), subject.Servers{Kind: Kind(), Count: count})
}

// Client is a client of the primary that finds it by the Sentinels, for a lock of yours. The options are yours, but for
// MasterName, SentinelAddrs, Dialer and MaxConcurrentDials, which are those of the world; nil is for the defaults.
func Client(e subject.Env, opt *goredis.FailoverOptions) *goredis.Client {
	var o goredis.FailoverOptions
	if opt != nil {
		o = *opt
	}
	o.MasterName, o.SentinelAddrs = sentinel.MasterName, file.Numbered(facts.Server.Prefix, count)
	o.MaxConcurrentDials = redisclient.QuietFailover().MaxConcurrentDials
	return redisclient.Failover(e, &o)
}

// Promise is [lock.LeasePromise] as far as a lock can keep it where Sentinels watch its node: see [Lock].
func Promise() lock.Promise { return withoutStalls(lock.LeasePromise()) }

// withoutStalls is a promise without the stall of a node.
func withoutStalls(p lock.Promise) lock.Promise {
	p.Exclusion = slices.DeleteFunc(slices.Clone(p.Exclusion), func(f lock.Fault) bool { return f == lock.FaultStall })
	return p
}

// All are the locks of this package, the specimens last.
func All() []subject.Lock {
	var all []subject.Lock
	for _, name := range kinds.Names() {
		if n, _ := kinds.RedisOf(name); n == 1 {
			all = append(all, Lock(name))
		}
	}
	return append(all, Specimens()...)
}

// Lock is a kind of package lock on one node, such as "fenced", under the name "sentinel-fenced". Its promise is that
// of the kind, without the stall of a node: one that lasts for longer than world.down_after is a failover, under which
// none of them keeps exclusion. Whatever else starts a failover is not in the promise either: the crash of a node, and
// the loss of links between servers, which searches do not draw. It panics for the name of no such kind.
func Lock(kind string) subject.Lock {
	l, err := redislocks.KindOver(kind, client)
	if err != nil {
		panic(err)
	}
	l.Name, l.Servers, l.Promise = Prefix+kind, Servers(), withoutStalls(l.Promise)
	l.About += " Three Sentinels or more watch the node and its replicas, and the client asks them for the primary."
	return l
}

// client is one with the profile of the scenario.
func client(e subject.Env) goredis.UniversalClient { return Client(e, options(e)) }

// options are those of the profile of the scenario.
func options(e subject.Env) *goredis.FailoverOptions {
	opt := redisclient.StockFailover()
	if e.Spec().Client != file.ClientStock {
		opt = redisclient.QuietFailover()
		opt.ContextTimeoutEnabled = true
	}
	return opt
}
