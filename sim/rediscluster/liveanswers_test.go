package rediscluster_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/internal/testworld"
	"locksim/sim"
	"locksim/sim/rediscluster"
)

// dialing opens a connection to a node, by its name.
type dialing func(name string) (net.Conn, error)

// talker is a connection on which answers are read one by one.
type talker struct {
	c  net.Conn
	in *bufio.Reader
}

func talkTo(dial dialing, name string) (*talker, error) {
	c, err := dial(name)
	if err != nil {
		return nil, err
	}
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return &talker{c, bufio.NewReader(c)}, nil
}

// ask sends a command, and returns the answer on one line.
func (k *talker) ask(args ...string) string {
	b := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := k.c.Write(b); err != nil {
		return "write: " + err.Error()
	}
	return k.value()
}

func (k *talker) value() string { return rediscluster.ReadValue(k.in) }

// The tags of keys, by whose slot it is: of rc0, of rc0 and being moved to rc1, of rc1, of rc2.
var tags = func() map[string]string {
	of := map[string]string{}
	for _, c := range []struct {
		name        string
		first, last int
	}{{"mine", 0, 2000}, {"moving", 2001, 5460}, {"its", 5461, 10922}, {"third", 10923, 16383}} {
		for i := 0; of[c.name] == ""; i++ {
			if s := rediscluster.Slot(fmt.Sprint(i)); c.first <= s && s <= c.last {
				of[c.name] = fmt.Sprint("{", i, "}")
			}
		}
	}
	return of
}()

// setUp puts the cluster into its state before each program: a slot is being moved from rc0 to rc1, one of its keys is
// there, and one is not.
func setUp(dial dialing, ids map[string]string) error {
	talk := map[string]*talker{}
	for _, name := range []string{"rc0", "rc1", "rc2"} {
		k, err := talkTo(dial, name)
		if err != nil {
			return err
		}
		defer k.c.Close() //nolint:errcheck // it has answered
		talk[name] = k
	}
	slot := strconv.Itoa(rediscluster.Slot(tags["moving"]))
	for _, c := range [][]string{
		{"rc0", "FLUSHALL"}, {"rc1", "FLUSHALL"}, {"rc2", "FLUSHALL"},
		{"rc0", "CLUSTER", "SETSLOT", "1", "STABLE"}, {"rc1", "CLUSTER", "SETSLOT", "1", "STABLE"},
		{"rc0", "CLUSTER", "SETSLOT", slot, "STABLE"}, {"rc1", "CLUSTER", "SETSLOT", slot, "STABLE"},
		{"rc0", "SET", tags["mine"] + "a", "1"}, {"rc0", "SET", tags["moving"] + "a", "2"},
		{"rc1", "SET", tags["its"] + "a", "3"}, {"rc2", "SET", tags["third"] + "a", "4"},
		{"rc1", "CLUSTER", "SETSLOT", slot, "IMPORTING", ids["rc0"]},
		{"rc0", "CLUSTER", "SETSLOT", slot, "MIGRATING", ids["rc1"]},
		{"rc1", "ASKING"}, {"rc1", "SET", tags["moving"] + "b", "5"},
		{"rc0", "WAIT", "1", "1000"}, {"rc1", "WAIT", "1", "1000"}, {"rc2", "WAIT", "1", "1000"},
	} {
		if got := talk[c[0]].ask(c[1:]...); got != "+OK" && c[1] != "WAIT" {
			return fmt.Errorf("%v is answered with %s", c, got)
		}
	}
	return nil
}

// step is a command of a program, or several with which it makes sense.
type step []string

// generate draws a program for one node, whose name comes first. $slot is the slot that is being moved.
func generate(seed uint64) (node string, steps []step) {
	r := rand.New(rand.NewPCG(seed, 63))
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	node = pick("rc0", "rc0", "rc1", "rc1", "rc3", "rc4")
	key := func() string {
		return tags[pick("mine", "moving", "moving", "moving", "its", "its", "third")] + pick("a", "a", "b", "c")
	}
	pair := func() (a, b string) {
		if a, b = key(), key(); r.IntN(3) > 0 {
			open, _, _ := strings.Cut(a, "}")
			b = open + "}" + pick("a", "b", "c")
		}
		return a, b
	}
	scripts := []string{`return redis.call("GET", KEYS[1])`, `return redis.call("SET", KEYS[1], ARGV[1])`,
		`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) else return 0 end`,
		`redis.call("SET", KEYS[1], "x") return redis.pcall("GET", ARGV[1])`, `return redis.call("GET", ARGV[1])`,
		`redis.call("SET", KEYS[1], "y") return redis.call("SET", ARGV[1], "z")`, `return ARGV[1]`}
	plain := func() step {
		a, b := pair()
		switch r.IntN(16) {
		case 0, 1:
			return step{"GET", a}
		case 2, 3:
			return step{"SET", a, "v", "NX"}
		case 4:
			return step{"SET", a, "v", pick("XX", "PX"), "60000"}[:3+r.IntN(3)]
		case 5:
			return step{pick("DEL", "EXISTS", "MGET", "UNLINK", "TOUCH"), a, b}
		case 6:
			return step{pick("MSET", "MSETNX"), a, "1", b, "2"}[:3+2*r.IntN(2)]
		case 7, 8:
			if r.IntN(4) == 0 { // the words in which a script that only reads is refused a write are miniredis'
				return step{"EVAL_RO", pick(`return redis.call("GET", KEYS[1])`, `return redis.call("GET", ARGV[1])`), "1", a, b}
			}
			return step{"EVAL", pick(scripts...), "1", a, pick("1", "2", b)}
		case 9:
			return step{"EVAL", pick(`return redis.call("GET", ARGV[1])`, `return redis.call("SET", ARGV[1], "q")`), "0", a}
		case 10:
			return step{"EVAL", pick(scripts...), "2", a, b, "1"}
		case 11:
			return step{pick("INCR", "PTTL", "TYPE", "PERSIST", "EXPIRE", "LLEN", "HGETALL"), a, "10"}[:2+r.IntN(2)]
		case 12:
			return step{pick("GET", "SET", "DEL", "EVAL", "MGET"), a}[:1+r.IntN(2)]
		case 13:
			return step{pick("PING", "ECHO", "DBSIZE"), a}[:1+r.IntN(2)]
		case 14:
			return step{"GETDEL", a}
		default:
			return step{pick("RENAME", "SINTER", "COPY"), a, b}
		}
	}
	for range 8 {
		switch r.IntN(12) {
		case 0, 1, 2:
			steps = append(steps, plain())
		case 3:
			steps = append(steps, step{"WATCH", key()}, step{"UNWATCH"})
		case 4, 5, 6:
			steps = append(steps, step{"ASKING"}, plain())
		case 7:
			steps = append(steps, step{pick("READONLY", "READONLY", "READWRITE")}, plain())
		case 8:
			if r.IntN(2) == 0 {
				steps = append(steps, step{"ASKING"})
			}
			steps = append(steps, step{"MULTI"})
			for range r.IntN(3) {
				if r.IntN(3) == 0 {
					steps = append(steps, step{"ASKING"})
				}
				steps = append(steps, plain())
			}
			steps = append(steps, step{pick("EXEC", "EXEC", "EXEC", "DISCARD")})
		case 9:
			steps = append(steps, [][]string{{"SELECT", "1"}, {"SELECT", "0"}, {"SELECT", "x"}, {"SWAPDB", "0", "1"},
				{"REPLICAOF", "NO", "ONE"}, {"CLUSTER"}, {"CLUSTER", "nosuch"}, {"CLUSTER", "MYID"}, {"CLUSTER", "FAILOVER", "x"},
				{"HELLO", "3"}, {"HELLO", "2"}, {"READONLY", "x"}, {"ASKING", "x"}, {"COMMAND", "COUNT", "x"}, {"ROLE"},
				{"INFO", "cluster"}}[r.IntN(16)])
		case 10:
			steps = append(steps, step{"CLUSTER", pick("KEYSLOT", "COUNTKEYSINSLOT", "GETKEYSINSLOT", "SLOTS", "REPLICAS"),
				pick("$slot", "$slot", "x", "-1", "16384"), pick("10", "1", "x", "-1")}[:2+r.IntN(3)])
		default:
			s := step{"CLUSTER", "SETSLOT", pick("$slot", "$slot", "x", "99999", "1"), pick("MIGRATING",
				"IMPORTING", "NODE", "STABLE", "nosuch"), pick("$rc0", "$rc1", "$rc2", "$rc3", "nosuch")}[:4+r.IntN(2)]
			if s[3] == "NODE" && len(s) == 5 { // a slot that has another owner stays there
				s[4] = pick("$rc3", "nosuch")
			}
			steps = append(steps, s)
		}
	}
	return node, steps
}

// scriptSuffix is what a real server adds to the error of a command in a script.
var scriptSuffix = regexp.MustCompile(` script: [0-9a-f]{40}, on @user_script:\d+\.`)

// inMulti is the error of a script that runs in a transaction: see docs/explanation/limits.md.
var inMulti = regexp.MustCompile(`-ERR Error compiling script \(new function\): :1: (.*?) stack traceback:.*?\[G\]: \?`)

// unequal are commands whose answers differ by what they are: times, offsets, numbers of connections.
var unequal = []string{"TIME", "ROLE"}

// program plays a program, and returns each command with its answer.
func (d dialing) program(seed uint64, ids, addrs map[string]string) (out []string, err error) {
	if err := setUp(d, ids); err != nil {
		return nil, err
	}
	node, steps := generate(seed)
	k, err := talkTo(d, node)
	if err != nil {
		return nil, err
	}
	defer k.c.Close() //nolint:errcheck // it has answered
	var named []string
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for n := range ids {
			if !yield(n) {
				return
			}
		}
	}) {
		host, port, _ := net.SplitHostPort(addrs[name])
		named = append(named, ids[name], "ID-"+name, addrs[name], name, fmt.Sprintf("%q :%s", host, port), "AT-"+name)
	}
	plain := strings.NewReplacer(named...)
	given := []string{"$slot", strconv.Itoa(rediscluster.Slot(tags["moving"]))}
	for name, id := range ids {
		given = append(given, "$"+name, id)
	}
	give := strings.NewReplacer(given...)
	for _, s := range steps {
		var args []string
		for _, a := range s {
			args = append(args, give.Replace(a))
		}
		got := scriptSuffix.ReplaceAllString(plain.Replace(k.ask(args...)), "")
		got = inMulti.ReplaceAllString(got, "-$1")
		if slices.Contains(unequal, s[0]) && !strings.HasPrefix(got, "-") {
			got = "something"
		}
		if len(s) > 1 && s[1] == "GETKEYSINSLOT" { // they have no order
			keys := strings.Fields(strings.Trim(got, "*[]"))
			slices.Sort(keys)
			got = strings.Join(keys, " ")
		}
		if s[0] == "HELLO" {
			got = helloID.ReplaceAllString(got, `"id" :N`)
		}
		out = append(out, node+": "+strings.Join(s, " ")+" -> "+got)
	}
	return out, nil
}

var helloID = regexp.MustCompile(`"id" :\d+`)

// idsOf are the ids of the nodes.
func (d dialing) idsOf() (map[string]string, error) {
	ids := map[string]string{}
	for i := range 6 {
		name := fmt.Sprint("rc", i)
		k, err := talkTo(d, name)
		if err != nil {
			return nil, err
		}
		ids[name] = strings.Trim(k.ask("CLUSTER", "MYID"), `"`)
		_ = k.c.Close()
	}
	return ids, nil
}

// Real nodes, and those of the world, answer equally to generated programs: keys of slots of their own, of others, and
// of one that is being moved, plainly, in transactions and in scripts, with ASKING and READONLY.
func TestLiveAnswers(t *testing.T) {
	g := newLiveCluster(t)
	programs := testworld.Seeds(100)
	if os.Getenv("LOCKSIM_SOAK") == "1" {
		programs = 1000
	}
	play := func(dial dialing, addrs map[string]string) (all [][]string) {
		ids, err := dial.idsOf()
		for seed := 0; seed < programs && err == nil; seed++ {
			var one []string
			one, err = dial.program(uint64(seed), ids, addrs)
			all = append(all, one)
		}
		if err != nil {
			t.Error(err)
		}
		return all
	}
	real := play(func(name string) (net.Conn, error) { return net.Dial("tcp", g.addrs[name]) }, g.addrs)
	var simulated [][]string
	testworld.Run(t, world(1, quick), func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() {
			addrs := map[string]string{}
			for i := range 6 {
				addrs[fmt.Sprint("rc", i)] = p.Address(fmt.Sprint("rc", i))
			}
			simulated = play(func(name string) (net.Conn, error) { return p.Dial(context.Background(), "tcp", name) }, addrs)
		})
		return w.RunUntil(w.Idle)
	})
	differ := 0
	for seed := range min(len(real), len(simulated)) {
		if diff := cmp.Diff(real[seed], simulated[seed]); diff != "" {
			if differ++; differ <= 12 {
				t.Errorf("program %d (-real +simulated):\n%s", seed, diff)
			}
		}
	}
	t.Logf("%d programs, %d differ", programs, differ)
}
