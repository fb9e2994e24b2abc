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
	"locksim/lock/locktest/redisserver"
)

// liveCluster is six real nodes: rc0 to rc5, named as those of the world.
type liveCluster struct {
	addrs map[string]string    // by name
	cmds  map[string]*exec.Cmd // by name
}

// newLiveCluster starts them, with a node timeout of 2 s.
func newLiveCluster(t *testing.T) *liveCluster {
	t.Helper()
	server, err := redisserver.Find()
	if err != nil && os.Getenv("LOCKSIM_REQUIRE_LIVE") != "1" {
		t.Skip(err)
	}
	cli := filepath.Join(filepath.Dir(server), "redis-cli")
	if _, err := os.Stat(cli); err != nil && os.Getenv("LOCKSIM_REQUIRE_LIVE") != "1" {
		t.Skip(err)
	}
	byAddr := map[string]*exec.Cmd{}
	args := []string{"--cluster", "create"}
	for _, addr := range clusterAddresses(t, 6) {
		dir := realserver.Folder(t, "locksim-cluster")
		_, port, _ := net.SplitHostPort(addr)
		cmd := exec.Command(server, "--port", port, "--bind", "127.0.0.1", "--cluster-enabled", "yes",
			"--cluster-config-file", "nodes.conf", "--cluster-node-timeout", "2000", "--save", "", "--appendonly", "no",
			"--repl-diskless-sync-delay", "0")
		realserver.Start(t, addr, dir, cmd)
		byAddr[addr] = cmd
		args = append(args, addr)
	}
	for addr := range byAddr {
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			if _, err := redisserver.Ask(addr); err == nil {
				break
			} else if time.Now().After(end) {
				t.Fatal(err)
			}
		}
	}
	out, err := exec.Command(cli, append(args, "--cluster-replicas", "1", "--cluster-yes")...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	g := &liveCluster{addrs: map[string]string{}, cmds: map[string]*exec.Cmd{}}
	for end := time.Now().Add(20 * time.Second); !g.name(args[2]); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%v are not six nodes in three shards", g.addrs)
		}
	}
	for i, key := range []string{"{06S}", "{lock}:first",
		"{0}:first"} { // a replica that has got nothing yet is not in the maps
		c := goredis.NewClient(&goredis.Options{Addr: g.addrs[fmt.Sprint("rc", i)]})
		_ = c.Set(context.Background(), key, "", time.Minute).Err()
		_ = c.Close()
	}
	for name, addr := range g.addrs {
		g.cmds[name] = byAddr[addr]
		g.await(t, addr)
	}
	return g
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
	c := goredis.NewClient(&goredis.Options{Addr: addr})
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
func (g *liveCluster) await(t *testing.T, addr string) {
	t.Helper()
	c := goredis.NewClient(&goredis.Options{Addr: addr, MaxRetries: -1})
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
			return
		}
	}
	t.Fatalf("%s does not call the cluster up", addr)
}
