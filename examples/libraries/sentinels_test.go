package libraries

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/google/go-cmp/cmp"
	"github.com/redis/rueidis"

	goredis "github.com/redis/go-redis/v9"

	"locksim/checker"
	"locksim/internal/live/server"
	"locksim/internal/soak"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios"
	"locksim/scenarios/file"
	"locksim/scenarios/sentinellocks"
	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/sentinel"
)

// master is the name under which the Sentinels know the primary.
const master = sentinel.MasterName

// heldThrough is a failover while c0 has the lock, which the replicas know: the primary crashes a second after the
// grant.
const heldThrough = `name: held-through
world: {redis: 1, replicas: 2, sentinel: 3, clients: 2, latency: 1ms..5ms, down_after: 1s}
lock: {ttl: 20s}
workload: {rounds: 1, hold: 8s, stagger: 5s} # c1 comes after the switch
faults:
  - when: {client: c0, event: read, nth: 1}
    after: 1s
    crash: {process: r0}
`

// overFailover is our lock with fencing tokens over redis.NewFailoverClient of go-redis with nothing set but where the
// Sentinels are, as a user writes it, and how many dials it makes at once: 0 is its default.
func overFailover(dials int) scenarios.Lock {
	l := sentinellocks.Lock("fenced")
	l.Name = "failover-client"
	l.New = func(e scenarios.Env) (lock.Locker, error) {
		c := goredis.NewFailoverClient(&goredis.FailoverOptions{
			MasterName: master, SentinelAddrs: []string{e.Address("sen0"), e.Address("sen1"), e.Address("sen2")},
			MaxConcurrentDials: dials,
		})
		e.OnEnd(func() { _ = c.Close() })
		return lock.NewFenced(c, lock.Options{TTL: e.Spec().TTL})
	}
	return l
}

// That lock is deterministic, and keeps its promise, while its processes live: a FailoverClient that is closed while it
// searches for a Sentinel waits for that search, and a world may freeze. LIBRARIES_SOAK=1 makes 2,000 runs.
func TestFailoverClientKeepsItsPromise(t *testing.T) {
	needsOverlay(t)
	runs := 50
	if os.Getenv("LIBRARIES_SOAK") == "1" {
		runs = 2000
	}
	l := overFailover(1)
	l.Promise = lock.Promise{Exclusion: []lock.Fault{lock.FaultPause, lock.FaultReset}}
	scenarios.Check(t, l, scenarios.Options{Runs: runs, Seed: 1, Dir: t.TempDir()})
}

// A lock over a FailoverClient without a Dialer is held through a failover, and no other client gets it meanwhile; its
// release reaches the new primary, which grants it to the next one.
func TestFailoverClientAsItIs(t *testing.T) {
	needsOverlay(t)
	sc, err := file.Parse("held-through.yaml", []byte(heldThrough))
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(10) {
		opt := scenarios.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}, Repeat: scenarios.Twice}
		o, err := scenarios.Run(sc, overFailover(0), opt)
		if err != nil {
			t.Fatal(err)
		}
		m := o.Modes[0]
		var steps []string
		for _, e := range m.Trace.Events {
			switch text := e.Text(); {
			case e.Kind() == "crash", strings.HasPrefix(text, "+switch-master"):
				steps = append(steps, strings.Fields(e.Kind() + " " + text)[0])
			case e.Kind() == "granted", e.Kind() == "released":
				steps = append(steps, e.Actor+" "+e.Kind())
			}
		}
		steps = slices.Compact(steps) // each Sentinel tells of the new primary
		want := []string{"c0 granted", "crash", "sentinel", "c0 released", "c1 granted", "c1 released"}
		if m.Verdict.Label != checker.Safe || !slices.Equal(steps, want) {
			t.Errorf("seed %d: %s, with %v, want %v", seed, m.Verdict.Label, steps, want)
		}
	}
}

// asks is a client that asks Sentinels, and what it has heard, line by line. at gives the address of a server.
type asks func(ctx context.Context, at func(server string) string) ([]string, error)

// The clients of other libraries hear the same of real Sentinels and of those of the world: redigo sends the commands
// of Sentinel itself, rueidis follows the primary.
func TestSentinelsAnswerAlike(t *testing.T) {
	needsOverlay(t)
	for name, ask := range map[string]asks{
		"redigo": redigoAsks, "redigo follows": redigoFollows,
		"rueidis": rueidisAsks, "rueidis follows": rueidisFollows,
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(name, "follows") {
				soak.RealTime(t)
			}
			real, simulated := realAnswers(t, ask), simulatedAnswers(t, ask)
			if diff := cmp.Diff(real, simulated); diff != "" || len(real) == 0 {
				t.Errorf("-real +simulated:\n%s", diff)
			}
			t.Log("\n" + strings.Join(simulated, "\n"))
		})
	}
}

// realAnswers are those of redis-server.
func realAnswers(t *testing.T, ask asks) []string {
	t.Helper()
	if err := server.Missing(server.Sentinel); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	nodes, err := server.Start(ctx, server.Options{Kind: server.Redis, Watched: true, Replicas: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = nodes.Stop() }()
	watch, err := server.Start(ctx, server.Options{
		Kind: server.Sentinel, Count: 3, Watches: nodes, DownAfter: time.Second, FailoverTimeout: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = watch.Stop() }()
	known := map[string]string{}
	for _, s := range slices.Concat(nodes.Servers(), watch.Servers()) {
		known[s.Name()] = s.Addr()
	}
	out, err := ask(ctx, func(name string) string { return known[name] })
	if err != nil {
		t.Fatal(err)
	}
	return plain(out, known)
}

// simulatedAnswers are those of the world.
func simulatedAnswers(t *testing.T, ask asks) (out []string) {
	t.Helper()
	cfg := sim.Config{
		Seed: 1, Clients: 1, Latency: sim.Latency{Min: time.Millisecond, Max: time.Millisecond},
		Servers: []sim.Kind{
			simredis.Servers{Replicas: 2}, sentinel.Servers{DownAfter: time.Second, FailoverTimeout: time.Minute},
		},
	}
	known := map[string]string{}
	_, err := sim.Run(cfg, func(w *sim.World) error {
		p := w.Client(0)
		for _, name := range []string{"r0", "r0a", "r0b", "sen0", "sen1", "sen2"} {
			known[name] = p.Address(name)
		}
		p.Go(func() {
			time.Sleep(3 * time.Second) // as long as the real ones have run
			var err error
			if out, err = ask(context.Background(), p.Address); err != nil {
				t.Error(err)
			}
		})
		return w.RunUntil(w.Idle)
	})
	if err != nil {
		t.Fatal(err)
	}
	return plain(out, known)
}

var (
	runID  = regexp.MustCompile(`[0-9a-f]{40}`)
	number = regexp.MustCompile(`(last-ping-sent|last-ok-ping-reply|last-ping-reply|info-refresh|role-reported-time|` +
		`last-hello-message|slave-repl-offset|link-pending-commands|link-refcount|port|offset):[^\s\]}]+`)
	replica = regexp.MustCompile(`r0[ab]`)
)

// plain are lines without what differs from run to run: addresses, ids, times, and which replica takes over.
func plain(lines []string, known map[string]string) []string {
	out := slices.Clone(lines)
	for i, line := range out {
		for name, addr := range known {
			host, port, _ := net.SplitHostPort(addr)
			line = strings.NewReplacer(addr, name, host+" "+port, name).Replace(line)
			line = strings.ReplaceAll(line, "ip:"+host, "ip:HOST")
			line = strings.ReplaceAll(line, "host:"+host, "host:HOST")
		}
		out[i] = replica.ReplaceAllString(runID.ReplaceAllString(number.ReplaceAllString(line, "$1:N"), "ID"), "r0x")
	}
	return out
}

// words is an answer of redigo in one line; a map, which it has as a list, with its fields sorted.
func words(answer any) string {
	switch v := answer.(type) {
	case []byte:
		return string(v)
	case redis.Error:
		return "error " + string(v)
	case []any:
		var all []string
		for _, x := range v {
			all = append(all, words(x))
		}
		if len(all) > 10 && len(all)%2 == 0 { // the fields of a server
			var fields []string
			for pair := range slices.Chunk(all, 2) {
				fields = append(fields, pair[0]+":"+pair[1])
			}
			all = slices.Sorted(slices.Values(fields))
		} else if len(v) > 0 && strings.HasPrefix(words(v[0]), "[") { // a list of servers has no order
			slices.Sort(all)
		}
		return "[" + strings.Join(all, " ") + "]"
	default:
		return fmt.Sprint(v)
	}
}

// redigoAsks sends a Sentinel commands as a client does that follows the guidelines of Sentinel by itself.
func redigoAsks(ctx context.Context, at func(string) string) (out []string, err error) {
	c, err := redis.DialContext(ctx, "tcp", at("sen0"))
	if err != nil {
		return nil, err
	}
	defer c.Close() //nolint:errcheck // it was only asked
	for _, args := range [][]any{
		{"get-master-addr-by-name", master}, {"get-master-addr-by-name", "other"}, {"get-master-addr-by-name"},
		{"masters"}, {"master", master}, {"master", "other"}, {"slaves", master}, {"replicas", master}, {"sentinels", master},
		{"ckquorum", master}, {"failover", "other"}, {"nosuch"}, {"myid"},
	} {
		answer, err := c.Do("SENTINEL", args...)
		if refused, ok := err.(redis.Error); ok { //nolint:errorlint // redigo returns it as it is
			answer = refused
		} else if err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprint(args, " -> ", words(answer)))
	}
	for _, command := range []string{"ROLE", "PING"} {
		answer, err := c.Do(command)
		if err != nil {
			return nil, err
		}
		out = append(out, command+" -> "+words(answer))
	}
	node, err := redis.DialContext(ctx, "tcp", at("r0"))
	if err != nil {
		return nil, err
	}
	defer node.Close() //nolint:errcheck // it was only asked
	role, err := redis.Values(node.Do("ROLE"))
	if err != nil {
		return nil, err
	}
	return append(out, fmt.Sprintf("ROLE of r0 -> %s, %d replicas", role[0], len(role[2].([]any)))), nil
}

// redigoFollows subscribes to +switch-master, orders a failover, and goes to the new primary.
func redigoFollows(ctx context.Context, at func(string) string) (out []string, err error) {
	told, err := redis.DialContext(ctx, "tcp", at("sen1"))
	if err != nil {
		return nil, err
	}
	defer told.Close() //nolint:errcheck // the test is over
	events := redis.PubSubConn{Conn: told}
	if err := events.Subscribe("+switch-master"); err != nil {
		return nil, err
	}
	out = append(out, fmt.Sprintf("%+v", events.Receive()))
	c, err := redis.DialContext(ctx, "tcp", at("sen0"))
	if err != nil {
		return nil, err
	}
	defer c.Close() //nolint:errcheck // the test is over
	answer, err := c.Do("SENTINEL", "failover", master)
	if err != nil {
		return nil, err
	}
	out = append(out, "failover -> "+words(answer))
	_, err = c.Do("SENTINEL", "failover", master)
	out = append(out, fmt.Sprint("failover again -> ", err))
	switch m := events.ReceiveWithTimeout(30 * time.Second).(type) {
	case redis.Message:
		out = append(out, m.Channel+" "+string(m.Data))
	default:
		return nil, fmt.Errorf("instead of +switch-master: %v", m)
	}
	addr, err := redis.Strings(c.Do("SENTINEL", "get-master-addr-by-name", master))
	if err != nil {
		return nil, err
	}
	out = append(out, "the primary is "+strings.Join(addr, " "))
	node, err := redis.DialContext(ctx, "tcp", net.JoinHostPort(addr[0], addr[1]))
	if err != nil {
		return nil, err
	}
	defer node.Close() //nolint:errcheck // the test is over
	set, err := node.Do("SET", "k", "v")
	return append(out, fmt.Sprint("SET -> ", set, " ", err)), nil
}

// rueidisAsks sends a Sentinel commands by the third version of the protocol, in which the fields of a server are a
// map.
func rueidisAsks(ctx context.Context, at func(string) string) (out []string, err error) {
	c, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{at("sen0")}, ForceSingleClient: true, DisableCache: true, DisableRetry: true,
	})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for _, args := range [][]string{
		{"GET-MASTER-ADDR-BY-NAME", master}, {"GET-MASTER-ADDR-BY-NAME", "other"}, {"MASTER", master}, {"MASTERS"},
		{"REPLICAS", master}, {"SENTINELS", master}, {"CKQUORUM", master}, {"REPLICAS", "other"},
	} {
		answer := c.Do(ctx, c.B().Arbitrary("SENTINEL").Args(args...).Build())
		value, err := answer.ToAny()
		if _, refused := rueidis.IsRedisErr(err); err != nil && !refused && !rueidis.IsRedisNil(err) {
			return nil, err
		}
		out = append(out, fmt.Sprint(args, " -> ", fields(value), " ", err))
	}
	return out, nil
}

// fields is an answer of rueidis in one line.
func fields(answer any) string {
	switch v := answer.(type) {
	case map[string]any:
		var all []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			all = append(all, k+":"+fields(v[k]))
		}
		return "{" + strings.Join(all, " ") + "}"
	case []any:
		var all []string
		for _, x := range v {
			all = append(all, fields(x))
		}
		if len(v) > 0 {
			if _, ok := v[0].(map[string]any); ok { // a list of servers has no order
				slices.Sort(all)
			}
		}
		return "[" + strings.Join(all, " ") + "]"
	default:
		return fmt.Sprint(v)
	}
}

// rueidisFollows writes by the primary that Sentinels name, before and after a failover.
func rueidisFollows(ctx context.Context, at func(string) string) (out []string, err error) {
	c, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{at("sen0"), at("sen1"), at("sen2")}, Sentinel: rueidis.SentinelOption{MasterSet: master},
		DisableCache: true,
	})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	say := func(what string) {
		set := c.Do(ctx, c.B().Set().Key("k").Value(what).Build()).Error()
		out = append(out, fmt.Sprint(what, ": SET -> ", set, " on ", strings.Join(slices.Collect(maps.Keys(c.Nodes())), ",")))
	}
	say("before")
	operator, err := redis.DialContext(ctx, "tcp", at("sen2"))
	if err != nil {
		return nil, err
	}
	defer operator.Close() //nolint:errcheck // the test is over
	if _, err := operator.Do("SENTINEL", "failover", master); err != nil {
		return nil, err
	}
	time.Sleep(8 * time.Second) // the other Sentinels know within two
	say("after")
	v, err := c.Do(ctx, c.B().Get().Key("k").Build()).ToString()
	return append(out, fmt.Sprint("GET -> ", v, " ", err)), nil
}
