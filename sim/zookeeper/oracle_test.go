package zookeeper_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/google/go-cmp/cmp"

	"locksim/internal/soak"
	"locksim/internal/zkserver"
	"locksim/sim"
	"locksim/sim/zookeeper"
)

// The oracle: random programs of requests, watches, lost connections and ended sessions have the same answers here and
// on a real ZooKeeper. Zxids count from the program's begin, so that a request that fails, which takes one too, shows.

// subject is a ZooKeeper that runs a program.
type subject struct {
	connect func(session int, observe zk.EventCallback, dialled func(net.Conn)) (*zk.Conn, error)
	sleep   func(time.Duration)
	root    string // begins all paths
}

// client is a session of a program, which is connected anew when it has ended.
type client struct {
	name string
	conn *zk.Conn

	dropped bool // its connection since the last step

	mu     sync.Mutex
	link   net.Conn
	events []string
	ids    []int64
}

type runner struct {
	subject

	clients []*client
	base    int64 // the zxid before the first one of the program
}

// step is one of a program: it returns the answer as text.
type step struct {
	text string
	do   func(r *runner) string
}

// run is the answers of a program: after each step, and what each session was told meanwhile.
func run(s subject, program []step) (answers []string, err error) {
	r := &runner{subject: s}
	defer func() {
		for _, c := range r.clients {
			c.conn.Close()
		}
	}()
	for i := range 2 {
		c := &client{name: string(rune('A' + i))}
		r.clients = append(r.clients, c)
		if c.conn, err = s.connect(i, c.observe(s.root), c.dialled); err != nil {
			return nil, err
		}
		if err := r.settle(c); err != nil {
			return nil, err
		}
	}
	if _, err := r.clients[0].conn.Create(s.root, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		return nil, err
	}
	_, stat, err := r.clients[0].conn.Get(s.root)
	if err != nil {
		return nil, err
	}
	r.base = stat.Czxid
	for _, step := range program {
		answer := step.text + " -> " + step.do(r)
		for _, c := range r.clients {
			if err := r.settle(c); err != nil {
				return nil, fmt.Errorf("after %s: %w", step.text, err)
			}
			answer += c.told()
		}
		answers = append(answers, answer)
	}
	return answers, nil
}

// settle waits until a client is connected and has seen all that was done.
func (r *runner) settle(c *client) error {
	var err error
	for range 2000 {
		if _, err = c.conn.Sync("/"); err == nil {
			if id := c.conn.SessionID(); !slices.Contains(c.ids, id) {
				c.ids = append(c.ids, id)
			}
			if !c.dropped {
				return nil
			}
			c.dropped = false
			r.sleep(100 * time.Millisecond) // the client sets its watches again a little later
			continue
		}
		r.sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("%s does not get back: %w", c.name, err)
}

// dialled takes note of the connection.
func (c *client) dialled(n net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.link = n
}

// drop breaks the connection.
func (c *client) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.link.Close()
	c.dropped = true
}

// observe takes note of what the server tells.
func (c *client) observe(root string) zk.EventCallback {
	return func(e zk.Event) {
		if e.Type == zk.EventSession {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.events = append(c.events, fmt.Sprintf("%v of %s", e.Type, strings.TrimPrefix(e.Path, root)))
	}
}

// told is what the server has told since the last time, in the order of the text: one request may end several nodes.
func (c *client) told() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.events
	c.events = nil
	if all == nil {
		return ""
	}
	slices.Sort(all)
	return fmt.Sprintf("; %s is told: %s", c.name, strings.Join(all, ", "))
}

// owner is the owner of a node in words.
func (r *runner) owner(id int64) string {
	for _, c := range r.clients {
		if i := slices.Index(c.ids, id); i >= 0 {
			return fmt.Sprint(c.name, i)
		}
	}
	return fmt.Sprintf("%x", uint64(id))
}

// zxid counts from the begin of the program.
func (r *runner) zxid(id int64) int64 {
	if id >= r.base {
		return id - r.base
	}
	return -1
}

func (r *runner) stat(s *zk.Stat) string {
	if s == nil {
		return "no stat"
	}
	return fmt.Sprintf("[created %d changed %d children %d; versions %d %d %d; owner %s; %d bytes; %d children; times "+
		"%v %v]",
		r.zxid(s.Czxid), r.zxid(s.Mzxid), r.zxid(s.Pzxid), s.Version, s.Cversion, s.Aversion, r.owner(s.EphemeralOwner),
		s.DataLength,
		s.NumChildren, s.Ctime > 0, s.Mtime >= s.Ctime)
}

// answer is an answer as text.
func (r *runner) answer(err error, parts ...any) string {
	if err != nil {
		return err.Error()
	}
	return strings.ReplaceAll(fmt.Sprint(parts...), r.root, "")
}

type drawer struct{ *rand.Rand }

func pick[T any](d *drawer, from ...T) T { return from[d.IntN(len(from))] }

// path is one of a few, of which some are likely to be there.
func (d *drawer) path() string {
	return pick(d, "/a", "/a", "/b", "/b", "/a/x", "/a/y", "/a/x/z", "/b/x", "/c", "/c/q-")
}

func (d *drawer) version() int32 { return pick[int32](d, -1, -1, -1, 0, 1, 2) }

func (d *drawer) data() []byte { return []byte(pick(d, "", "1", "two")) }

func (d *drawer) acl() []zk.ACL {
	return pick(d, zk.WorldACL(zk.PermAll), zk.WorldACL(zk.PermAll), zk.WorldACL(zk.PermAll),
		zk.WorldACL(zk.PermRead|zk.PermAdmin|zk.PermWrite|zk.PermCreate|zk.PermDelete), nil,
		[]zk.ACL{{Perms: zk.PermAll, Scheme: "unknown", ID: "x"}})
}

// program is a random program of so many steps.
func program(seed uint64, steps int) []step {
	d := &drawer{rand.New(rand.NewPCG(seed, 2))}
	var out []step
	for range steps {
		who := d.IntN(2)
		out = append(out, d.step(who))
	}
	return out
}

func (d *drawer) step(who int) step {
	name := string(rune('A' + who))
	path := d.path()
	text := func(format string, args ...any) string { return name + ": " + fmt.Sprintf(format, args...) }
	switch d.IntN(24) {
	case 0, 1, 2, 3, 4, 5:
		data, flags, acl := d.data(), pick[int32](d, 0, 0, 1, 1, 2, 3), d.acl()
		return step{text("create %s %q %d %v", path, data, flags, acl), func(r *runner) string {
			created, err := r.clients[who].conn.Create(r.root+path, data, flags, acl)
			return r.answer(err, created)
		}}
	case 6:
		return step{text("create container %s", path), func(r *runner) string {
			created, err := r.clients[who].conn.CreateContainer(r.root+path, nil, zk.FlagContainer, zk.WorldACL(zk.PermAll))
			return r.answer(err, created)
		}}
	case 7, 8:
		version := d.version()
		return step{text("delete %s %d", path, version), func(r *runner) string {
			return r.answer(r.clients[who].conn.Delete(r.root+path, version), "deleted")
		}}
	case 9, 10:
		data, version := d.data(), d.version()
		return step{text("set %s %q %d", path, data, version), func(r *runner) string {
			stat, err := r.clients[who].conn.Set(r.root+path, data, version)
			return r.answer(err, r.stat(stat))
		}}
	case 11:
		return step{text("get %s", path), func(r *runner) string {
			data, stat, err := r.clients[who].conn.Get(r.root + path)
			return r.answer(err, string(data), r.stat(stat))
		}}
	case 12, 13:
		return step{text("get %s and watch", path), func(r *runner) string {
			data, stat, _, err := r.clients[who].conn.GetW(r.root + path)
			return r.answer(err, string(data), r.stat(stat))
		}}
	case 14, 15:
		return step{text("exists %s and watch", path), func(r *runner) string {
			there, stat, _, err := r.clients[who].conn.ExistsW(r.root + path)
			if !there {
				return r.answer(err, "no")
			}
			return r.answer(err, r.stat(stat))
		}}
	case 16, 17:
		return step{text("children of %s and watch", path), func(r *runner) string {
			names, stat, _, err := r.clients[who].conn.ChildrenW(r.root + path)
			slices.Sort(names)
			return r.answer(err, names, r.stat(stat))
		}}
	case 18:
		return step{text("ACL of %s", path), func(r *runner) string {
			acl, stat, err := r.clients[who].conn.GetACL(r.root + path)
			return r.answer(err, acl, r.stat(stat))
		}}
	case 19:
		acl, version := d.acl(), d.version()
		return step{text("set the ACL of %s %v %d", path, acl, version), func(r *runner) string {
			stat, err := r.clients[who].conn.SetACL(r.root+path, acl, version)
			return r.answer(err, r.stat(stat))
		}}
	case 20, 21:
		return d.multi(who, text)
	case 22:
		// The other one does something while the connection is broken.
		other := d.step(1 - who)
		if strings.Contains(other.text, "connection") || strings.Contains(other.text, "session") {
			return d.step(who)
		}
		return step{text("lose the connection, and %s", other.text), func(r *runner) string {
			r.clients[who].drop()
			return other.do(r)
		}}
	}
	return step{text("the session ends"), func(r *runner) string {
		c := r.clients[who]
		c.conn.Close()
		var err error
		if c.conn, err = r.connect(who, c.observe(r.root), c.dialled); err != nil {
			return err.Error()
		}
		return "connected again"
	}}
}

// multi is a transaction.
func (d *drawer) multi(who int, text func(string, ...any) string) step {
	var ops []func(root string) any
	var words []string
	for range 1 + d.IntN(4) {
		path, version, data := d.path(), d.version(), d.data()
		flags, acl := pick[int32](d, 0, 1, 2), d.acl()
		switch d.IntN(4) {
		case 0:
			words = append(words, fmt.Sprintf("create %s %d %v", path, flags, acl))
			ops = append(ops, func(root string) any {
				return &zk.CreateRequest{Path: root + path, Data: data, Acl: acl,
					Flags: flags}
			})
		case 1:
			words = append(words, fmt.Sprintf("delete %s %d", path, version))
			ops = append(ops, func(root string) any { return &zk.DeleteRequest{Path: root + path, Version: version} })
		case 2:
			words = append(words, fmt.Sprintf("set %s %q %d", path, data, version))
			ops = append(ops, func(root string) any {
				return &zk.SetDataRequest{Path: root + path, Data: data,
					Version: version}
			})
		default:
			words = append(words, fmt.Sprintf("check %s %d", path, version))
			ops = append(ops, func(root string) any { return &zk.CheckVersionRequest{Path: root + path, Version: version} })
		}
	}
	return step{text("multi %s", strings.Join(words, ", ")), func(r *runner) string {
		var list []any
		for _, op := range ops {
			list = append(list, op(r.root))
		}
		results, err := r.clients[who].conn.Multi(list...)
		answer := fmt.Sprintf("%v:", err)
		for _, one := range results {
			answer += fmt.Sprintf(" %s %s %v,", one.String, r.stat(one.Stat), one.Error)
		}
		return strings.ReplaceAll(answer, r.root, "")
	}}
}

// simulated runs a program in the world.
func simulated(t *testing.T, seed uint64, servers int, root string, p []step) (answers []string) {
	t.Helper()
	cfg := sim.Config{Seed: seed, Clients: 1, Servers: []sim.Kind{zookeeper.Servers{Count: servers}}, Untraced: true}
	_, err := sim.Run(cfg, func(w *sim.World) error {
		machine := w.Client(0)
		var failed error
		machine.Go(func() {
			answers, failed = run(subject{
				connect: func(session int, observe zk.EventCallback, dialled func(net.Conn)) (*zk.Conn, error) {
					return zookeeper.Connect(tapped{machine, dialled}, 10*2*time.Second, observe, names(servers, session)...)
				},
				sleep: func(d time.Duration) { _ = machine.Clock().Sleep(machine.Context(), d) },
				root:  root,
			}, p)
		})
		err := w.RunUntil(w.Idle)
		if err == nil {
			err = failed
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return answers
}

// realRun runs a program on real servers.
func realRun(t *testing.T, addresses []string, tick time.Duration, root string, p []step) []string {
	t.Helper()
	answers, err := run(subject{
		connect: func(session int, observe zk.EventCallback, dialled func(net.Conn)) (*zk.Conn, error) {
			m := &machine{t: t, addresses: addresses, dialled: dialled}
			return zookeeper.Connect(m, 10*tick, observe, names(len(addresses), session)...)
		},
		sleep: time.Sleep, root: root,
	}, p)
	if err != nil {
		t.Fatal(err)
	}
	return answers
}

// The programs have the same answers here and on real servers. LOCKSIM_SOAK is the part of 1,000 programs that is run,
// ten at least.
func TestRealServersAnswerAlike(t *testing.T) {
	soak.RealTime(t)
	const tick = 500 * time.Millisecond
	count := 10
	if s := os.Getenv("LOCKSIM_SOAK"); s != "" {
		part := 0.0
		_, _ = fmt.Sscan(s, &part)
		count = max(count, int(1000*part))
	}
	// A client waits for a second before it connects again to its only server: four such servers share the programs.
	var all sync.WaitGroup
	for _, group := range []struct{ servers, at, of int }{{1, 0, 4}, {1, 1, 4}, {1, 2, 4}, {1, 3, 4}, {3, 0, 1}} {
		all.Go(func() {
			t.Run(fmt.Sprintf("%d servers, programs from %d", group.servers, group.at), func(t *testing.T) {
				addresses := zkserver.Start(t, group.servers, tick)
				for n := group.at; n < count; n += group.of {
					root := fmt.Sprintf("/program-%d", n)
					p := program(uint64(n), 60)
					want := realRun(t, addresses, tick, root, p)
					if d := cmp.Diff(want, simulated(t, uint64(n), group.servers, root, p)); d != "" {
						t.Fatalf("program %d (-real +simulated):\n%s", n, d)
					}
				}
			})
		})
	}
	all.Wait()
}
