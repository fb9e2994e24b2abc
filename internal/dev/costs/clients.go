package main

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"locksim/examples/leases/natskv"
	"locksim/internal/live/server"
	"locksim/lock"
	"locksim/lock/sqllock"
	"locksim/lock/zklock"
	"locksim/scenarios/file"
	"locksim/scenarios/subject"
)

// Each client has connections of its own, as a process of its own would.

// redisOptions are those that the documentation of package lock asks for.
func redisOptions(addr string, t *tap) *redis.Options {
	return &redis.Options{Addr: addr, Protocol: 2, MaxRetries: -1, ContextTimeoutEnabled: true, DialerRetries: 1,
		Dialer: t.dial}
}

func onRedis[L lock.Locker](make func(lock.Redis, lock.Options) (L, error), o lock.Options) func(context.Context,
	*servers, *tap) (lock.Locker, func(), error) {
	return func(_ context.Context, s *servers, t *tap) (lock.Locker, func(), error) {
		c := redis.NewClient(redisOptions(s.addrs()[0], t))
		l, err := make(c, o)
		return l, func() { _ = c.Close() }, err
	}
}

// onSentinels is a client that asks the Sentinels for the primary.
func onSentinels(o lock.Options) func(context.Context, *servers, *tap) (lock.Locker, func(), error) {
	return func(_ context.Context, s *servers, t *tap) (lock.Locker, func(), error) {
		c := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: server.MasterName, SentinelAddrs: s.addrs(),
			Protocol: 2, MaxRetries: -1, ContextTimeoutEnabled: true, DialerRetries: 1, Dialer: t.dial})
		l, err := lock.NewSingle(c, o)
		return l, func() { _ = c.Close() }, err
	}
}

func onFive(_ context.Context, s *servers, t *tap) (lock.Locker, func(), error) {
	var all []lock.Redis
	var clients []*redis.Client
	for _, addr := range s.addrs() {
		c := redis.NewClient(redisOptions(addr, t))
		all, clients = append(all, c), append(clients, c)
	}
	l, err := lock.NewRedlock(all, lock.RedlockOptions{})
	return l, func() {
		for _, c := range clients {
			_ = c.Close()
		}
	}, err
}

type etcdClient = *clientv3.Client

// onEtcd is a client that knows all members.
func onEtcd(make func(etcdClient) (lock.Locker, error)) func(context.Context, *servers, *tap) (lock.Locker, func(),
	error) {
	return func(_ context.Context, s *servers, t *tap) (lock.Locker, func(), error) {
		c, err := clientv3.New(clientv3.Config{Endpoints: s.addrs(), Logger: zap.NewNop(),
			DialOptions: []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) {
				return t.dial(ctx, "tcp", addr)
			})}})
		if err != nil {
			return nil, nil, err
		}
		l, err := make(c)
		return l, func() { _ = c.Close() }, err
	}
}

// sessionTimeout is the default of package zklock.
const sessionTimeout = 10 * time.Second

// onZooKeeper is a client that knows all servers.
func onZooKeeper(_ context.Context, s *servers, t *tap) (lock.Locker, func(), error) {
	dialer := zklock.NewDialer(sessionTimeout, t.dialTimeout, nil)
	c, _, err := zk.Connect(s.addrs(), sessionTimeout, zk.WithDialer(dialer.Dial), zk.WithLogger(silence{}))
	if err != nil {
		return nil, nil, err
	}
	l, err := zklock.New(c, zklock.Options{SessionTimeout: sessionTimeout, Dialer: dialer})
	return l, c.Close, err
}

// silence is a logger that drops messages: failures are in the errors.
type silence struct{}

func (silence) Printf(string, ...any) {}

func onPostgres(o sqllock.Options, make func(*sql.DB, sqllock.Options) (_ lock.Locker, schema string, _ error)) func(
	context.Context, *servers, *tap) (lock.Locker, func(), error) {
	return func(ctx context.Context, s *servers, t *tap) (lock.Locker, func(), error) {
		config, err := pgx.ParseConfig(s.source())
		if err != nil {
			return nil, nil, err
		}
		config.DialFunc = t.dial
		db := stdlib.OpenDB(*config)
		closeDB := func() { _ = db.Close() }
		l, schema, err := make(db, o)
		if err == nil && schema != "" {
			err = ensure(ctx, db, schema)
		}
		return l, closeDB, err
	}
}

// ensure makes a table, which other clients may make at the same time: PostgreSQL would let one of them fail.
func ensure(ctx context.Context, db *sql.DB, schema string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it was committed, or the error is known
	for _, statement := range []string{"SELECT pg_advisory_xact_lock(1)", schema} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func onNATS(ctx context.Context, s *servers, t *tap) (lock.Locker, func(), error) {
	e := &surroundings{ctx: ctx, addr: s.addrs()[0], tap: t, id: fmt.Sprintf("c%d", envs.Add(1))}
	l, err := natskv.KV().New(e)
	return l, e.close, err
}

// envs counts the clients.
var envs atomic.Int64

// surroundings are the environment of a lock that package natskv has for trials: the real machine. It has no faults,
// so much of an environment is not asked for.
type surroundings struct {
	subject.Env
	ctx  context.Context
	addr string
	id   string
	tap  *tap
	ends []func()
}

// Name implements [subject.Env].
func (s *surroundings) Name() string { return s.id }

// Identity implements [subject.Env].
func (s *surroundings) Identity() string { return s.id }

// Context implements [subject.Env].
func (s *surroundings) Context() context.Context { return s.ctx }

// Clock implements [subject.Env].
func (s *surroundings) Clock() lock.Clock { return lock.SystemClock() }

// Address implements [subject.Env].
func (s *surroundings) Address(string) string { return s.addr }

// Dial implements [subject.Env].
func (s *surroundings) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return s.tap.dial(ctx, network, addr)
}

// Spec implements [subject.Env].
func (s *surroundings) Spec() file.LockSpec {
	return file.LockSpec{TTL: lock.DefaultTTL,
		Backoff: file.Range{Min: lock.DefaultBackoffMin, Max: lock.DefaultBackoffMax}}
}

// OnEnd implements [subject.Env].
func (s *surroundings) OnEnd(f func()) { s.ends = append(s.ends, f) }

func (s *surroundings) close() {
	for _, f := range s.ends {
		f()
	}
}
