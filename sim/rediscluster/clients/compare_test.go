package clients_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	goredis "github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/internal/live/server"
	"locksim/internal/soak"
	"locksim/internal/testworld"
	"locksim/sim"
	"locksim/sim/rediscluster"
	"locksim/sim/store"
)

// tags are hash tags, of a slot of rc0, of rc1 and of rc2. The lock is the key of the last one.
var tags = func() (out [3]string) {
	const each = rediscluster.Slots / 3
	for i := range out {
		for n := 0; out[i] == ""; n++ {
			if s := rediscluster.Slot(fmt.Sprint(n)); s > each*i+1 && s < each*(i+1) {
				out[i] = fmt.Sprintf("{%d}", n)
			}
		}
	}
	return out
}()

// cluster is one of the two worlds, as a client and an operator have it.
type cluster struct {
	dial  dialer
	addrs map[string]string // by name
	crash func(name string) error
}

// ask is what an operator sends to a node, and the answer.
func (c *cluster) ask(name string, args ...any) (any, error) {
	o := goredis.NewClient(&goredis.Options{Addr: c.addrs[name], Dialer: c.dial, Protocol: 2, DisableIdentity: true,
		MaxRetries: -1})
	defer o.Close() //nolint:errcheck // it has answered
	return o.Do(context.Background(), args...).Result()
}

// must is ask of what has to succeed.
func (c *cluster) must(out *[]string, name string, args ...any) {
	if _, err := c.ask(name, args...); err != nil {
		*out = append(*out, fmt.Sprint("the operator's ", args, ": ", err))
	}
}

// id is the id of a node.
func (c *cluster) id(name string) string {
	id, _ := c.ask(name, "CLUSTER", "MYID")
	return fmt.Sprint(id)
}

// patience is how long a cluster may take for a failover.
const patience = 30 * time.Second

// until waits for something.
func until(is func() bool) error {
	for began := time.Now(); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > patience {
			return errors.New("it takes too long")
		}
	}
	return nil
}

// agreed says that all nodes tell clients that a node is a primary.
func (c *cluster) agreed(name string) bool {
	host, port, _ := net.SplitHostPort(c.addrs[name])
	for other := range c.addrs {
		text, err := c.ask(other, "CLUSTER", "SLOTS")
		if err != nil {
			return false
		}
		found := false
		for _, r := range text.([]any) {
			first := r.([]any)[2].([]any)
			found = found || fmt.Sprint(first[0]) == host && fmt.Sprint(first[1]) == port
		}
		if !found {
			return false
		}
	}
	return true
}

// program is what a user of a lock does with a client, and an operator with the cluster meanwhile. It returns what the
// client's callers got.
func (c *cluster) program(k client) (out []string) {
	note := func(what, got string) { out = append(out, what+": "+got) }
	lock := tags[2] + "lock"
	slot := rediscluster.Slot(lock)
	step := func(when string) {
		note(when+", another asks", k.do("SET", lock, "c1", "NX", "PX", "60000"))
		note(when+", the holder", k.do("GET", lock))
		note(when+", another releases", k.release(lock, "c1"))
		note(when+", a new key", k.do("SET", tags[2]+when, "1", "NX", "PX", "60000"))
		for i, tag := range tags {
			note(fmt.Sprint(when, ", key ", i), k.do("SET", tag+"key", when, "PX", "60000")+" "+k.do("GET", tag+"key"))
		}
		note(when+", transaction", k.both(tags[0]+"count"))
		note(when+", time left", strconv.FormatBool(leftOf(k.do("PTTL", lock))))
	}
	note("lock", k.do("SET", lock, "c0", "NX", "PX", "60000"))
	step("at rest")
	from, to := c.id("rc2"), c.id("rc0")
	c.must(&out, "rc0", "CLUSTER", "SETSLOT", slot, "IMPORTING", from)
	c.must(&out, "rc2", "CLUSTER", "SETSLOT", slot, "MIGRATING", to)
	step("while it moves")
	host, port, _ := net.SplitHostPort(c.addrs["rc0"])
	keys, err := c.ask("rc2", "CLUSTER", "GETKEYSINSLOT", slot, 100)
	if err != nil {
		note("keys", err.Error())
	}
	c.must(&out, "rc2", append([]any{"MIGRATE", host, port, "", 0, 5000, "KEYS"}, keys.([]any)...)...)
	step("with its keys there")
	c.must(&out, "rc0", "CLUSTER", "SETSLOT", slot, "NODE", to)
	c.must(&out, "rc2", "CLUSTER", "SETSLOT", slot, "NODE", to)
	step("after the move")
	if err := until(func() bool { // the replica is told too, and has the keys
		n, err := c.ask("rc0", "WAIT", 1, 1000)
		return err == nil && fmt.Sprint(n) != "0"
	}); err != nil {
		note("replica", err.Error())
	}
	time.Sleep(2 * time.Second) // all nodes, and the client, have the new map
	step("with a new map")
	c.must(&out, "rc3", "CLUSTER", "FAILOVER")
	if err := until(func() bool { return c.agreed("rc3") }); err != nil {
		note("failover", err.Error())
	}
	note("the first after the failover", k.do("GET", lock))
	time.Sleep(2 * time.Second)
	step("after the failover")
	for range 2 {
		note("release", k.release(lock, "c0"))
	}
	note("lock again", k.do("SET", lock, "c1", "NX", "PX", "60000"))
	return out
}

// leftOf says that a key has most of a minute left.
func leftOf(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n > 20_000 && n <= 60_000
}

// onReal plays on six real nodes.
func onReal(t *testing.T, nodeTimeout time.Duration, play func(c *cluster)) {
	t.Helper()
	if err := server.Missing(server.Cluster); err != nil {
		if os.Getenv("LOCKSIM_REQUIRE_LIVE") == "1" {
			t.Fatalf("%v, and LOCKSIM_REQUIRE_LIVE=1 asks for it", err)
		}
		t.Skipf("%v; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", err)
	}
	o := server.Options{Kind: server.Cluster, Count: 6, Shards: 3, NodeTimeout: nodeTimeout}
	g, err := server.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := g.Stop(); err != nil {
			t.Error(err)
		}
	}()
	c := &cluster{dial: new(net.Dialer).DialContext, addrs: map[string]string{},
		crash: func(name string) error { return g.Server(name).Crash(faults.CrashProcess) }}
	for _, s := range g.Servers() {
		c.addrs[s.Name()] = s.Addr()
	}
	play(c)
}

// inWorld plays in a simulated world.
func inWorld(t *testing.T, nodeTimeout time.Duration, play func(c *cluster)) {
	t.Helper()
	config := sim.Config{Seed: 1, Clients: 1, Latency: sim.Latency{Min: time.Millisecond, Max: 2 * time.Millisecond},
		Servers: []sim.Kind{rediscluster.Servers{NodeTimeout: nodeTimeout}, store.Server{}}}
	testworld.Run(t, config, func(w *sim.World) error {
		p := w.Client(0)
		c := &cluster{dial: p.Dial, addrs: map[string]string{}}
		for i := range 6 {
			name := fmt.Sprint("rc", i)
			c.addrs[name] = p.Address(name)
		}
		crash := make(chan string, 1)
		c.crash = func(name string) error { crash <- name; return nil }
		p.Go(func() { play(c) })
		return w.RunUntil(func() bool {
			select {
			case name := <-crash:
				testworld.Must(t, w.Faults().Crash(name, faults.CrashProcess))
			default:
			}
			return w.Idle()
		})
	})
}

// numbers are ids of connections, and offsets.
var numbers = regexp.MustCompile(`("id"|"replication-offset") :\d+`)

// noSubcommand is the word that a server does not know: the world has it in capitals.
var noSubcommand = regexp.MustCompile(`unknown subcommand '[^']*'`)

// plain replaces ids and addresses by names.
func (c *cluster) plain() func(string) string {
	var pairs []string
	for name, addr := range c.addrs {
		host, port, _ := net.SplitHostPort(addr)
		pairs = append(pairs, c.id(name), "ID-"+name, fmt.Sprintf("%q :%s", host, port), "AT-"+name, addr, name,
			fmt.Sprintf(`"port" :%s`, port), "PORT-"+name)
	}
	named := strings.NewReplacer(pairs...)
	return func(text string) string {
		text = noSubcommand.ReplaceAllStringFunc(named.Replace(text), strings.ToUpper)
		return numbers.ReplaceAllString(text, "$1 :N")
	}
}

// seen is what a client sent, and its callers got.
type seen struct{ Got, Opened, Sent []string }

// see plays the program with a client.
func see(t *testing.T, newClient func(dial dialer, addr string) (client, error), into *seen) func(c *cluster) {
	return func(c *cluster) {
		w := new(wire)
		k, err := newClient(w.tap(c.dial), c.addrs["rc0"])
		if err != nil {
			t.Error(err)
			return
		}
		plain := c.plain()
		into.Got = c.program(k)
		k.close()
		for i, text := range into.Got {
			into.Got[i] = plain(text)
		}
		into.Opened, into.Sent = w.opened(plain)
	}
}

// Each client gets the same of real nodes, and of those of the world: a lock, keys of three shards, transactions and
// scripts, through a slot that moves and a failover. It opens its connections with the same commands, and gets the same
// answers. Without LOCKSIM_SOAK it is rueidis: package rediscluster has a test with go-redis. What the machine does may
// have made a difference: it is played again before the test fails.
func TestClients(t *testing.T) {
	const slow = 5 * time.Second // a machine that stands still starts no failover
	for _, x := range clients {
		t.Run(x.name, func(t *testing.T) {
			if x.name != "rueidis" {
				soak.RealTime(t)
			}
			differ := func() (diff string) {
				var real, simulated seen
				onReal(t, slow, see(t, x.make, &real))
				inWorld(t, slow, see(t, x.make, &simulated))
				t.Logf("sent: %s\nopened with:\n%s\ngot:\n%s", strings.Join(real.Sent, ", "), strings.Join(real.Opened, "\n"),
					strings.Join(real.Got, "\n"))
				return cmp.Diff(real, simulated)
			}
			diff := differ()
			if diff != "" && !t.Failed() {
				t.Logf("played again, since the first time differs: -real +simulated:\n%s", diff)
				diff = differ()
			}
			if diff != "" {
				t.Errorf("-real +simulated:\n%s", diff)
			}
		})
	}
}

// through is what a client's callers get through the crash of the primary of a lock: each error once, what they get in
// the end, and after how long.
type through struct {
	Errors []string
	Got    string
	After  time.Duration
}

// crashes plays it.
func crashes(t *testing.T, newClient func(dial dialer, addr string) (client, error), into *through) func(c *cluster) {
	return func(c *cluster) {
		k, err := newClient(c.dial, c.addrs["rc0"])
		if err != nil {
			t.Error(err)
			return
		}
		defer k.close()
		lock := tags[2] + "lock"
		if got := k.do("SET", lock, "c0", "NX", "PX", "120000"); got != "OK" {
			t.Errorf("the lock is not free: %s", got)
		}
		if _, err := c.ask("rc2", "WAIT", 1, 1000); err != nil {
			t.Error(err)
		}
		began := time.Now()
		if err := c.crash("rc2"); err != nil {
			t.Error(err)
		}
		plain := c.plain()
		for time.Since(began) < 2*time.Minute {
			into.Got, into.After = k.do("GET", lock), time.Since(began)
			if into.Got == "c0" {
				break
			}
			into.Errors = append(into.Errors, plain(into.Got))
			time.Sleep(50 * time.Millisecond)
		}
		slices.Sort(into.Errors)
		into.Errors = slices.Compact(into.Errors)
	}
}

// Each client gets through the crash of a primary with the same errors, and takes as long, in both worlds: the cluster
// needs two to three seconds, and go-redis asks the dead node until its map is a minute old. What the machine does may
// have made a difference: it is played again before the test fails.
func TestThroughACrash(t *testing.T) {
	soak.RealTime(t)
	for _, x := range clients {
		t.Run(x.name, func(t *testing.T) {
			var wrong string
			for range 3 {
				var real, simulated through
				onReal(t, time.Second, crashes(t, x.make, &real))
				inWorld(t, time.Second, crashes(t, x.make, &simulated))
				t.Logf("\nreal      %+v\nsimulated %+v", real, simulated)
				wrong = cmp.Diff(real.Errors, simulated.Errors)
				const slack = 2 * time.Second // an election draws, and so does a delay of rueidis
				if d := (real.After - simulated.After).Abs(); d > slack || real.Got != "c0" || simulated.Got != "c0" {
					wrong += fmt.Sprintf("they get %q and %q, %v apart", real.Got, simulated.Got, d)
				}
				if wrong == "" || t.Failed() {
					break
				}
			}
			if wrong != "" {
				t.Errorf("-real +simulated: %s", wrong)
			}
		})
	}
}
