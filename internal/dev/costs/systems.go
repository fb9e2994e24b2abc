package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx
	"github.com/redis/go-redis/v9"

	"locksim/internal/live/server"
	simnats "locksim/sim/nats"
)

// system is servers that locks run on.
type system struct {
	name  string // as the page has it
	kind  server.Kind
	count int
	// start starts them. Nil is for count servers of the kind, which sync their files.
	start func(context.Context) (*servers, error)
	// version asks a server for its name and version.
	version func(context.Context, *server.Server) (string, error)
	// compiles says that they compile what they run often, while it runs.
	compiles bool
	// keeps says what is on the disk before a grant is answered.
	keeps string
}

// The systems, in the order of the page.
var (
	oneRedis = system{name: "Redis", kind: server.Redis, count: 1, version: redisVersion, keeps: inMemory}
	watched  = system{name: "Redis with Sentinels", kind: server.Redis, version: redisVersion, start: startWatched,
		keeps: inMemory + "; two replicas, for whose answers no grant waits, and three Sentinels"}
	fiveRedis = system{name: "Redlock-5", kind: server.Redis, count: 5, version: redisVersion, keeps: inMemory}
	oneEtcd   = system{name: "etcd 1", kind: server.Etcd, count: 1, version: etcdVersion, keeps: etcdKeeps}
	threeEtcd = system{name: "etcd 3", kind: server.Etcd, count: 3, version: etcdVersion, keeps: etcdKeeps}
	oneZoo    = system{name: "ZooKeeper 1", kind: server.ZooKeeper, count: 1, version: zooVersion, keeps: zooKeeps,
		compiles: true}
	threeZoo = system{name: "ZooKeeper 3", kind: server.ZooKeeper, count: 3, version: zooVersion, keeps: zooKeeps,
		compiles: true}
	postgres = system{name: "PostgreSQL", kind: server.Postgres, count: 1, version: postgresVersion,
		keeps: postgresKeeps}
	memoryNATS = system{name: "NATS in memory", start: startNATS(simnats.InMemory), version: natsVersion,
		keeps: "nothing: the bucket is in memory"}
	syncedNATS = system{name: "NATS in files", start: startNATS(simnats.InSync), version: natsVersion,
		keeps: "each message: `sync_interval: always`; the default is every two minutes"}
)

const (
	inMemory      = "nothing: `save \"\"` and `appendonly no`"
	etcdKeeps     = "its log, by fdatasync before each answer, as by default"
	zooKeeps      = "its log, by fsync before each answer: `forceSync=yes`, the default"
	postgresKeeps = "its log, by each commit: `fsync=on` and `synchronous_commit=on`, the defaults"
)

// missing says what is not installed, or is nil.
func (s system) missing() error {
	if s.kind == "" { // it is in this program
		return nil
	}
	return server.Missing(s.kind)
}

// servers are those of a system that run.
type servers struct {
	groups []*server.Group // the last one has those that clients know
}

// run starts the servers.
func (s system) run(ctx context.Context) (*servers, error) {
	if s.start != nil {
		return s.start(ctx)
	}
	return startAll(ctx, server.Options{Kind: s.kind, Count: s.count, Sync: true, Tick: 2 * time.Second})
}

func startAll(ctx context.Context, o server.Options) (*servers, error) {
	g, err := server.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	return &servers{groups: []*server.Group{g}}, nil
}

// startWatched starts a Redis with two replicas, and three Sentinels.
func startWatched(ctx context.Context) (*servers, error) {
	s, err := startAll(ctx, server.Options{Kind: server.Redis, Replicas: 2, Watched: true})
	if err != nil {
		return nil, err
	}
	g, err := server.Start(ctx, server.Options{Kind: server.Sentinel, Count: 3, Watches: s.groups[0]})
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	s.groups = append(s.groups, g)
	return s, nil
}

func startNATS(in simnats.Storage) func(context.Context) (*servers, error) {
	return func(ctx context.Context) (*servers, error) {
		s, err := startAll(ctx, server.Options{Kind: "nats",
			Other: &server.Other{Prefix: "n", Command: in.Command, Ready: simnats.Ready}})
		return s, err
	}
}

// addrs are the addresses that clients know.
func (s *servers) addrs() (all []string) {
	for _, one := range s.groups[len(s.groups)-1].Servers() {
		all = append(all, one.Addr())
	}
	return all
}

// source names the database of a PostgreSQL.
func (s *servers) source() string { return s.groups[0].Servers()[0].Source() }

// stop ends the servers, the Sentinels before what they watch.
func (s *servers) stop() error {
	var errs []error
	for i := len(s.groups) - 1; i >= 0; i-- {
		errs = append(errs, s.groups[i].Stop())
	}
	return errors.Join(errs...)
}

func redisVersion(ctx context.Context, s *server.Server) (string, error) {
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), Protocol: 2})
	defer c.Close() //nolint:errcheck // it has answered
	info, err := c.InfoMap(ctx, "server").Result()
	return "Redis " + info["Server"]["redis_version"], err
}

func etcdVersion(ctx context.Context, s *server.Server) (string, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Addr()+"/version", nil)
	if err != nil {
		return "", err
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return "", err
	}
	defer a.Body.Close() //nolint:errcheck // it was read
	var said struct{ Etcdserver string }
	err = json.NewDecoder(a.Body).Decode(&said)
	return "etcd " + said.Etcdserver, err
}

// zooVersion asks by one of the words of four letters.
func zooVersion(ctx context.Context, s *server.Server) (string, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", s.Addr())
	if err != nil {
		return "", err
	}
	defer c.Close() //nolint:errcheck // it has answered
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(c, "srvr"); err != nil {
		return "", err
	}
	said, err := io.ReadAll(c)
	if err != nil {
		return "", err
	}
	_, version, _ := strings.Cut(string(said), "version: ")
	version, _, _ = strings.Cut(version, "-")
	java, _ := exec.Command("java", "-version").CombinedOutput()
	line, _, _ := strings.Cut(string(java), "\n")
	return fmt.Sprintf("ZooKeeper %s (%s)", version, line), nil
}

// postgresVersion also makes sure that the server syncs its files.
func postgresVersion(ctx context.Context, s *server.Server) (string, error) {
	db, err := sql.Open("pgx", s.Source())
	if err != nil {
		return "", err
	}
	defer db.Close() //nolint:errcheck // it has answered
	var version, fsync, commit string
	err = db.QueryRowContext(ctx, "SELECT current_setting('server_version'), current_setting('fsync'), "+
		"current_setting('synchronous_commit')").Scan(&version, &fsync, &commit)
	if err == nil && (fsync != "on" || commit != "on") {
		err = fmt.Errorf("fsync is %s and synchronous_commit is %s: the page would say that both are on", fsync, commit)
	}
	version, _, _ = strings.Cut(version, " ")
	return "PostgreSQL " + version, err
}

func natsVersion(context.Context, *server.Server) (string, error) {
	return "nats-server " + module("github.com/nats-io/nats-server/v2"), nil
}

// module is the version of a module in this program.
func module(path string) string {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, m := range build.Deps {
			if m.Path == path {
				return m.Version
			}
		}
	}
	return "of unknown version"
}
