package rediscluster_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"locksim/internal/realserver"
	"locksim/internal/testworld"
	"locksim/lock/locktest/redisserver"
)

// liveCluster is six real nodes: rc0 to rc5, named as those of the world.
type liveCluster struct {
	addrs map[string]string    // by name
	cmds  map[string]*exec.Cmd // by name
	dial  func(ctx context.Context, network, addr string) (net.Conn, error)
}

// newLiveCluster starts them on the loopback interface, with a node timeout of 2 s.
func newLiveCluster(t *testing.T) *liveCluster {
	t.Helper()
	return startLive(t, clusterAddresses(t, 6), 2*time.Second, new(net.Dialer).DialContext,
		func(_ string, f func()) { f() })
}

// liveServer is the path of redis-server, beside which redis-cli is. Without them the test is skipped.
func liveServer(t *testing.T) (server, cli string) {
	t.Helper()
	server, err := redisserver.Find()
	if err == nil {
		cli = filepath.Join(filepath.Dir(server), "redis-cli")
		_, err = os.Stat(cli)
	}
	if err != nil && os.Getenv("LOCKSIM_REQUIRE_LIVE") != "1" {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	return server, cli
}

// startLive starts six nodes. What runs a program for an address is called at.
func startLive(t *testing.T, addrs []string, timeout time.Duration,
	dial func(ctx context.Context, network, addr string) (net.Conn, error), at func(addr string, f func())) *liveCluster {
	t.Helper()
	server, cli := liveServer(t)
	byAddr := map[string]*exec.Cmd{}
	g := &liveCluster{addrs: map[string]string{}, cmds: map[string]*exec.Cmd{}, dial: dial}
	args := append([]string{"--cluster", "create"}, addrs...)
	for _, addr := range addrs {
		dir := realserver.Folder(t, "locksim-cluster")
		host, port, _ := net.SplitHostPort(addr)
		cmd := exec.Command(server, "--port", port, "--bind", host, "--protected-mode", "no", "--cluster-enabled", "yes",
			"--cluster-config-file", "nodes.conf", "--cluster-node-timeout", fmt.Sprint(timeout.Milliseconds()), "--save", "",
			"--appendonly", "no", "--repl-diskless-sync-delay", "0")
		at(addr, func() { realserver.Start(t, addr, dir, cmd) })
		byAddr[addr] = cmd
	}
	for _, addr := range addrs {
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			c := g.client(addr)
			err := c.Ping(context.Background()).Err()
			if _ = c.Close(); err == nil {
				break
			} else if time.Now().After(end) {
				t.Fatal(err)
			}
		}
	}
	at(addrs[0], func() {
		out, err := exec.Command(cli, append(args, "--cluster-replicas", "1", "--cluster-yes")...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	})
	testworld.Must(t, g.rename(byAddr, addrs[0]))
	for i, key := range []string{"{06S}", "{lock}:first",
		"{0}:first"} { // a replica that has got nothing yet is not in the maps
		c := g.client(g.addrs[fmt.Sprint("rc", i)])
		_ = c.Set(context.Background(), key, "", time.Minute).Err()
		_ = c.Close()
	}
	for _, addr := range g.addrs {
		testworld.Must(t, g.await(addr))
	}
	return g
}

// rename names the nodes by what one of them says.
func (g *liveCluster) rename(byAddr map[string]*exec.Cmd, asked string) error {
	for end := time.Now().Add(20 * time.Second); !g.name(asked); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("%v are not six nodes in three shards", g.addrs)
		}
	}
	for name, addr := range g.addrs {
		g.cmds[name] = byAddr[addr]
	}
	return nil
}

// recover waits until all nodes agree again, and names them by what one of them says.
func (g *liveCluster) recover(asked string) error {
	byAddr := map[string]*exec.Cmd{}
	for name, addr := range g.addrs {
		byAddr[addr] = g.cmds[name]
	}
	for addr := range byAddr {
		if err := g.await(addr); err != nil {
			return err
		}
	}
	return g.rename(byAddr, asked)
}

// client is a client of one node, which asks once, and waits for the answer.
func (g *liveCluster) client(addr string) *goredis.Client {
	return goredis.NewClient(&goredis.Options{Addr: addr, Dialer: g.dial, MaxRetries: -1, ReadTimeout: -1})
}

// clusterAddresses are addresses whose ports leave room for those of the bus.
func clusterAddresses(t *testing.T, count int) (out []string) {
	t.Helper()
	for len(out) < count {
		for _, addr := range realserver.Addresses(t, count) {
			host, text, _ := net.SplitHostPort(addr)
			port, _ := strconv.Atoi(text)
			if port > 20000 {
				port -= 20000 // below those that the system gives to clients
			}
			free := true
			for _, p := range []int{port, port + 10000} {
				l, err := net.Listen("tcp", fmt.Sprint(host, ":", p))
				if free = free && err == nil; err == nil {
					_ = l.Close()
				}
			}
			if addr = fmt.Sprint(host, ":", port); free && len(out) < count {
				out = append(out, addr)
			}
		}
	}
	return out
}

// name names the nodes by the slots and the primaries that one of them tells. It reports whether there are six names.
func (g *liveCluster) name(addr string) bool {
	clear(g.addrs)
	c := g.client(addr)
	defer c.Close() //nolint:errcheck // it has answered
	byID := map[string]string{}
	lines := strings.Split(strings.TrimSpace(c.ClusterNodes(context.Background()).Val()), "\n")
	for _, l := range lines {
		f := strings.Fields(l)
		at, _, _ := strings.Cut(f[1], "@")
		for i, slots := range []string{"0-5460", "5461-10922", "10923-16383"} {
			if len(f) > 8 && f[8] == slots {
				g.addrs[fmt.Sprint("rc", i)], byID[f[0]] = at, fmt.Sprint("rc", i+3)
			}
		}
	}
	for _, l := range lines {
		f := strings.Fields(l)
		at, _, _ := strings.Cut(f[1], "@")
		if name := byID[f[3]]; name != "" {
			g.addrs[name] = at
		}
	}
	return len(g.addrs) == 6
}

// await waits until a node calls the cluster up, and its replication works.
func (g *liveCluster) await(addr string) error {
	c := g.client(addr)
	defer c.Close() //nolint:errcheck // it has answered
	for end := time.Now().Add(40 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		info := c.Info(context.Background(), "replication").Val()
		ready := strings.Contains(info, "master_link_status:up") || strings.Contains(info, "connected_slaves:1")
		nodes := c.ClusterNodes(context.Background()).Val()
		for _, r := range c.ClusterSlots(context.Background()).Val() { //nolint:staticcheck // as clients do
			ready = ready && len(r.Nodes) == 2
		}
		if ready && strings.Contains(c.ClusterInfo(context.Background()).Val(), "cluster_state:ok") &&
			strings.Count(nodes, "slave") == 3 && !strings.Contains(nodes, "fail") {
			return nil
		}
	}
	return fmt.Errorf("%s does not call the cluster up", addr)
}
