package library_test

import (
	"context"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"locksim/internal/soak"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/clusterlocks"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/explore"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
	"locksim/scenarios/sentinellocks"
	"locksim/scenarios/subject"
	"locksim/scenarios/zklocks"
	"locksim/sim/rare"
)

// searches reach the rare paths. soon are those that few runs reach, and late those that a day's runs do.
var searches = []struct {
	lock       string
	faults     []lock.Fault
	runs, day  int
	soon, late []rare.Path
}{
	{
		"fenced", nil, 60, 500,
		[]rare.Path{rare.LateRequest, rare.LateAnswer, rare.RedisHidden},
		[]rare.Path{rare.RedisUnsynced, rare.RedisUnsaved},
	},
	{
		"fenced", []lock.Fault{lock.FaultNodeClock, lock.FaultClockRate, lock.FaultFailover}, 120, 2_500,
		[]rare.Path{rare.RedisBehind, rare.RedisAhead},
		[]rare.Path{rare.RedisRevealed, rare.RedisUnsent, rare.ResetRequest, rare.ResetAnswer},
	},
	{"fenced", []lock.Fault{lock.FaultStall, lock.FaultReset}, 0, 1_500, nil, []rare.Path{rare.StalledAway}},
	{
		"etcd", []lock.Fault{lock.FaultStall}, 40, 500,
		[]rare.Path{rare.RaftReplaced, rare.EtcdLengthened, rare.EtcdLateRenewal, rare.EtcdLeaderFailed, rare.EtcdAskedAgain},
		[]rare.Path{rare.EtcdHeld, rare.EtcdPausedLeader, rare.EtcdReadFailed},
	},
	{
		"zookeeper", []lock.Fault{lock.FaultStall, lock.FaultPartition, lock.FaultNodeCrash}, 50, 400,
		[]rare.Path{
			rare.ZooKeeperProlonged, rare.ZooKeeperMoved, rare.ZooKeeperUnheard, rare.ZooKeeperAlone,
		},
		[]rare.Path{rare.ZooKeeperClosing},
	},
	{
		"zookeeper", []lock.Fault{lock.FaultPower, lock.FaultCrash}, 40, 500,
		[]rare.Path{rare.DeadAnswer}, []rare.Path{rare.OrphanedRequest},
	},
	{
		"sentinel-single", []lock.Fault{lock.FaultPartition, lock.FaultStall, lock.FaultNodeCrash}, 20, 300,
		[]rare.Path{rare.SentinelTilt, rare.SentinelTakenBack},
		[]rare.Path{rare.SentinelVoted, rare.SentinelNoReplica, rare.SentinelConverted},
	},
	{
		"cluster-fenced", []lock.Fault{lock.FaultFailover, lock.FaultNodeCrash, lock.FaultStall, lock.FaultPartition},
		250, 1000,
		[]rare.Path{rare.ClusterAsk, rare.ClusterTryAgain, rare.ClusterDemoted, rare.ClusterDown, rare.ClusterNoVote,
			rare.ClusterUpdate},
		[]rare.Path{rare.ClusterRejoin},
	},
}

// undrawn are paths that no search reaches, since searches draw no min-replicas-to-write, strike no Sentinel, and do
// not cut the nodes of a Redis Cluster off from each other. Each has a scenario that reaches it.
var undrawn = map[rare.Path]string{
	rare.RedisTooFewReplicas: `name: too-few-replicas
world: {redis: 1, replicas: 1, min_replicas: 1, max_lag: 2s}
lock: {kind: single}
workload: {rounds: 6}
faults:
  - at: 1s
    partition: {between: [r0], and: [r0a], for: 1m}
`,
	rare.RedisShortWait: `name: short-wait
world: {redis: 1, replicas: 2, sentinel: 3}
lock: {kind: broken/sentinel-wait}
workload: {rounds: 2}
faults:
  - at: 100ms
    partition: {between: [r0], and: [r0a, r0b], for: 1m}
`,
	rare.ClusterTooOld: `name: too-old
world: {cluster: 6, node_timeout: 100ms}
lock: {kind: cluster-single}
workload: {rounds: 20}
faults:
  - at: 1s
    partition: {between: [rc2], and: [rc5], for: 1m}
  - at: 20s
    crash: {process: rc2}
`,
	rare.ClusterManualOver: `name: manual-over
world: {cluster: 6, node_timeout: 1s, lag: 8s}
lock: {kind: cluster-single}
workload: {rounds: 10}
faults:
  - at: 1s
    cluster_failover: {on: rc5}
`,
	rare.ClusterCollision: `name: collision
world: {cluster: 6, node_timeout: 1s}
lock: {kind: cluster-single}
workload: {rounds: 5}
faults:
  - at: 1s
    cluster_failover: {on: rc3, mode: takeover}
  - at: 1s
    cluster_failover: {on: rc4, mode: takeover}
`,
	// A replica that was cut off has planned its election when another one, which stood still with all writes in its
	// socket, goes on and tells its offset.
	rare.ClusterRank: `name: rank
world: {cluster: 9, node_timeout: 2s}
lock: {kind: cluster-single}
workload: {rounds: 60, hold: 20ms, think: 50ms}
faults:
  - at: 1s
    partition: {between: [rc2], and: [rc8], for: 10s}
  - at: 1s
    stall: {node: rc5, for: 4500ms}
  - at: 2s
    crash: {process: rc2}
`,
	// The others hear that the old primary is a replica now, and do not hear the new one.
	rare.ClusterUnbound: `name: unbound
world: {cluster: 6, node_timeout: 15s, clients: 3}
lock: {kind: cluster-single}
workload: {rounds: 65, hold: 200ms, think: 200ms}
faults:
  - at: 1s
    partition: {between: [rc5], and: [rc0, rc1, rc3, rc4], for: 10m}
  - at: 2s
    cluster_failover: {on: rc5, mode: takeover}
`,
	rare.ClusterScript: `name: undeclared
world: {cluster: 6, node_timeout: 1s}
lock: {kind: undeclared}
workload: {rounds: 1}
`,
	rare.SentinelNotElected: `name: not-elected
world: {redis: 1, replicas: 2, sentinel: 3, quorum: 1}
lock: {kind: sentinel-single}
workload: {rounds: 20, think: 5s}
faults:
  - at: 100ms
    partition: {between: [sen0], and: [sen1, sen2], for: 1m}
  - at: 100ms
    partition: {between: [sen1], and: [sen2], for: 1m}
  - at: 1s
    crash: {process: r0}
`,
}

// Each rare path is reached by a search or by a scenario: one that nothing reaches any more is not tested. These are
// the ones that are reached soon.
func TestRarePathsAreReached(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes hundreds of runs")
	}
	var known rare.Set
	for _, s := range searches {
		for _, p := range slices.Concat(s.soon, s.late) {
			known.Add(p)
		}
		if s.runs > 0 {
			reaches(t, s.lock, s.faults, s.runs, s.soon)
		}
	}
	for p, source := range undrawn {
		known.Add(p)
		if !played(t, source).Has(p) {
			t.Errorf("the scenario does not reach %s: %s\n%s", p, p.Means(), source)
		}
	}
	for _, p := range rare.Paths() {
		if !known.Has(p) {
			t.Errorf("no search and no scenario here is to reach %s: %s", p, p.Means())
		}
	}
}

// A day's searches reach all the others.
func TestRarePathsOfADay(t *testing.T) {
	soak.Only(t, "it makes thousands of runs")
	for _, s := range searches {
		reaches(t, s.lock, s.faults, s.day, slices.Concat(s.soon, s.late))
	}
}

// anyLock are the locks that these tests play, besides those that every program has.
func anyLock() []subject.Lock {
	return slices.Concat(etcdlocks.All(), zklocks.All(), sentinellocks.All(), clusterlocks.All(),
		[]subject.Lock{undeclared()})
}

// undeclared is a lock in a Redis Cluster whose scripts use a key of another node that they do not declare.
func undeclared() subject.Lock {
	l := clusterlocks.Lock("single")
	l.Name = "undeclared"
	l.New = func(e subject.Env) (lock.Locker, error) {
		return lock.NewSingle(elsewhere{clusterlocks.Client(e, nil)}, lock.Options{TTL: e.Spec().TTL, Clock: e.Clock(),
			Entropy: e.Entropy("lock"), Jitter: e.Source("lock")})
	}
	return l
}

// elsewhere is a client with such scripts.
type elsewhere struct{ *redis.ClusterClient }

// Eval implements [redis.Scripter].
func (c elsewhere) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	return c.ClusterClient.Eval(ctx, `redis.call("GET", "lock:order") `+script, keys, args...)
}

// reaches makes a search, which has to reach some paths.
func reaches(t *testing.T, name string, faults []lock.Fault, runs int, paths []rare.Path) {
	t.Helper()
	var reached rare.Set
	l, err := redislocks.Find(name, anyLock())
	if err != nil {
		t.Fatal(err)
	}
	plan, err := explore.NewPlan(l, explore.Options{Runs: runs, FirstSeed: 1, Faults: faults,
		Judge: explorations.JudgeEverything, Collect: explorations.CollectAll})
	if err != nil {
		t.Fatal(err)
	}
	seeds := outcome.Seeds{First: 1, Last: uint64(runs)}
	for trial := range search.PlayEach(l, search.Drawn(l, plan.Space, seeds)) {
		if trial.Outcome != nil {
			reached |= trial.Outcome.Modes[0].Rare
		}
	}
	for _, p := range paths {
		if !reached.Has(p) {
			t.Errorf("%d runs of lock %s under the faults %q do not reach %s: %s", runs, name, faults, p, p.Means())
		}
	}
}

// played are the paths that a scenario reaches.
func played(t *testing.T, source string) rare.Set {
	t.Helper()
	sc, err := file.Parse("scenario", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	l, err := redislocks.Find(sc.Lock.Kind, anyLock())
	if err != nil {
		t.Fatal(err)
	}
	o, err := play.Run(sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}, Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	return o.Modes[0].Rare
}
