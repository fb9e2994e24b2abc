package server_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"locksim/internal/live/server"
)

// A server of each kind starts, listens on the loopback interface only, and answers: what was written is read. It has
// two tries, and minutes for each, since the machine may have other work to do.
func TestStartsAndAnswers(t *testing.T) {
	for _, c := range []struct {
		kind   server.Kind
		name   string
		answer func(ctx context.Context, t *testing.T, s *server.Server) (string, error)
	}{
		{server.Redis, "r0", redisAnswers},
		{server.Sentinel, "sen0", sentinelAnswers},
		{server.Cluster, "rc0", clusterAnswers},
		{server.Etcd, "e0", etcdAnswers},
		{server.ZooKeeper, "z0", zooKeeperAnswers},
		{server.Postgres, "p0", postgresAnswers},
		{server.MariaDB, "m0", mariadbAnswers},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			t.Parallel()
			need(t, c.kind)
			try := func() (err error) {
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				defer cancel()
				o := server.Options{Kind: c.kind, Count: 1}
				switch c.kind {
				case server.Cluster:
					o.Count, o.Shards, o.NodeTimeout = 6, 3, 5*time.Second
				case server.Sentinel:
					nodes, err := server.Start(ctx, server.Options{Kind: server.Redis, Watched: true, Replicas: 2})
					if err != nil {
						return err
					}
					defer func() { err = errors.Join(err, nodes.Stop()) }()
					o.Count, o.Watches = 3, nodes
				}
				g, err := server.Start(ctx, o)
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, g.Stop()) }()
				s := g.Server(c.name)
				listensOnLoopbackOnly(t, g)
				if read, err := c.answer(ctx, t, s); err != nil || read != "written" {
					return fmt.Errorf("%s answers %q: %w", c.name, read, err)
				}
				return nil
			}
			err := try()
			if err != nil {
				t.Logf("tried again: %v", err)
				err = try()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func redisAnswers(ctx context.Context, t *testing.T, s *server.Server) (string, error) {
	c := redis.NewClient(&redis.Options{Addr: s.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Set(ctx, "k", "written", 0).Err(); err != nil {
		return "", err
	}
	return c.Get(ctx, "k").Result()
}

// The client that the Sentinels lead to the primary writes and reads.
func sentinelAnswers(ctx context.Context, t *testing.T, s *server.Server) (string, error) {
	c := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: server.MasterName, SentinelAddrs: []string{s.Addr()}})
	t.Cleanup(func() { _ = c.Close() })
	if err := c.Set(ctx, "k", "written", 0).Err(); err != nil {
		return "", err
	}
	return c.Get(ctx, "k").Result()
}

// The client of a cluster that knows one node writes and reads a key of each shard.
func clusterAnswers(ctx context.Context, t *testing.T, s *server.Server) (read string, err error) {
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{s.Addr()}})
	t.Cleanup(func() { _ = c.Close() })
	for _, key := range []string{"b", "c", "a"} { // of rc0, rc1, rc2
		if err := c.Set(ctx, key, "written", 0).Err(); err != nil {
			return "", err
		}
		if read, err = c.Get(ctx, key).Result(); err != nil {
			return "", err
		}
	}
	return read, nil
}

func etcdAnswers(ctx context.Context, t *testing.T, s *server.Server) (string, error) {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{s.Addr()}, Logger: zap.NewNop()})
	if err != nil {
		return "", err
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := c.Put(ctx, "k", "written"); err != nil {
		return "", err
	}
	r, err := c.Get(ctx, "k")
	if err != nil || len(r.Kvs) == 0 {
		return "", err
	}
	return string(r.Kvs[0].Value), nil
}

func zooKeeperAnswers(_ context.Context, t *testing.T, s *server.Server) (string, error) {
	c, _ := session(t, s, patience)
	if _, err := c.Create("/k", []byte("written"), 0, zk.WorldACL(zk.PermAll)); err != nil {
		return "", err
	}
	value, _, err := c.Get("/k")
	return string(value), err
}

func mariadbAnswers(ctx context.Context, _ *testing.T, s *server.Server) (value string, err error) {
	db, err := sql.Open("mysql", "locksim@tcp("+s.Addr()+")/locksim")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, statement := range []string{"CREATE TABLE t (v TEXT)", "INSERT INTO t VALUES ('written')"} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return "", err
		}
	}
	err = db.QueryRowContext(ctx, "SELECT v FROM t").Scan(&value)
	return value, err
}

func postgresAnswers(ctx context.Context, _ *testing.T, s *server.Server) (value string, err error) {
	db, err := sql.Open("pgx", s.Source())
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "CREATE TABLE t (v text); INSERT INTO t VALUES ('written')"); err != nil {
		return "", err
	}
	err = db.QueryRowContext(ctx, "SELECT v FROM t").Scan(&value)
	return value, err
}
