package articles

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/jackc/pgx/v5/pgconn"
	"go.etcd.io/etcd/client/v3/concurrency"

	"locksim/lock"
	"locksim/scenarios"
	"locksim/scenarios/sqllocks"
	"locksim/sim"
	"locksim/sim/etcd"
	"locksim/sim/postgres"
	"locksim/sim/zookeeper"
)

// clustered is a lock of a session, on three servers of a kind. Its text does not say when a lock is free again
// after trouble. late is how long a holder may take to learn of a loss.
func clustered(
	kind scenarios.ServerKind, late time.Duration, make func(e scenarios.Env) (lock.Locker, error),
) scenarios.Lock {
	return scenarios.Lock{
		Traits: scenarios.Traits{
			Servers: []scenarios.Servers{{Kind: kind, Count: 3}}, Lease: scenarios.LeaseHeld, Detection: late,
			Promise: lock.Promise{
				Exclusion: []lock.Fault{
					lock.FaultPause, lock.FaultCrash, lock.FaultPower, lock.FaultRestart, lock.FaultPartition,
					lock.FaultLatency, lock.FaultReset, lock.FaultNodeCrash, lock.FaultNodePower,
				},
				Data: "claim", FreeWithin: lock.TermAnyTime,
			},
		}, New: make,
	}
}

// zookeeperQueue makes a locker of recipe A6, with one connection for each process. Its Lock knows no context, and
// goes on when its caller has given up.
func zookeeperQueue(e scenarios.Env) (lock.Locker, error) {
	conn, err := zookeeper.Connect(e, ttl, nil, "z0", "z1", "z2")
	if err != nil {
		return nil, err
	}
	return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
		l := &queue{conn: conn, parent: "/" + url.PathEscape(name)}
		if err := l.Open(); err != nil {
			return nil, scenarios.Unanswered(err)
		}
		if err := l.Lock(); err != nil {
			return nil, scenarios.Unanswered(err)
		}
		return scenarios.NewLease(ctx, e, scenarios.Grant{Unlock: func(context.Context) error {
			return scenarios.NotHeld(l.Unlock(), zk.ErrNoNode)
		}}), nil
	}), nil
}

// etcdSession makes a locker of recipe A7, with one object of a process for each key, and a client of its own: one
// client that keeps several sessions alive sends their renewals in the order of a map.
func etcdSession(e scenarios.Env) (lock.Locker, error) {
	kept := map[string]*session{}
	return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
		if kept[name] == nil {
			client, err := etcd.Client(e, "e0", "e1", "e2")
			if err != nil {
				return nil, err
			}
			l, err := newSession(client, "locks/"+name, ttl)
			if err != nil {
				return nil, scenarios.Unanswered(err)
			}
			kept[name] = l
			e.OnEnd(func() { _ = l.Close() })
		}
		l := kept[name]
		if err := l.Lock(ctx); err != nil {
			return nil, scenarios.Unanswered(err)
		}
		return scenarios.NewLease(ctx, e, scenarios.Grant{Unlock: func(ctx context.Context) error {
			return scenarios.NotHeld(l.Unlock(ctx), concurrency.ErrLockReleased)
		}}), nil
	}), nil
}

// database is PostgreSQL with the tables of the recipes.
func database() scenarios.ServerKind {
	k := sqllocks.Kind()
	make := k.Make
	k.Make = func(count int) sim.Kind {
		kind := make(count)
		server, ok := kind.(postgres.Kind)
		if !ok { // it says why it cannot be had
			return kind
		}
		server.Schema = append(slices.Clone(server.Schema),
			"CREATE TABLE article_locks (name varchar(100) PRIMARY KEY, owner varchar(100), expire_at timestamp)",
			"CREATE TABLE article_rows (name varchar(100) PRIMARY KEY)",
			"CREATE TABLE article_values (name varchar(100) PRIMARY KEY, value text NOT NULL, version bigint NOT NULL)",
			"INSERT INTO article_values VALUES ('order', '', 0)")
		return server
	}
	return k
}

// sqlRow makes a locker of recipe A17.
func sqlRow(e scenarios.Env) (lock.Locker, error) {
	db, err := sqllocks.Open(e)
	if err != nil {
		return nil, err
	}
	return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
		var asked time.Time
		l := &row{ctx: e.Context(), db: dollars{db}, name: name, id: newID(), ttl: ttl, duplicate: duplicate}
		l.now = func() time.Time { // the last reading is that from which the end of the lease is counted
			asked = e.Clock().Now()
			return e.WallClock().Now()
		}
		if err := acquire(ctx, e, l); err != nil {
			return nil, err
		}
		end := asked.Add(ttl)
		return scenarios.NewLease(ctx, e, scenarios.Grant{Unlock: unlock(l), Until: func() time.Time { return end }}), nil
	}), nil
}

// transaction is a lease of recipe A18.
type transaction struct {
	lock.Lease
	*forUpdate
}

// within lets the holder of such a lease work in its transaction.
func within(l lock.Lease, do func(tx *sql.Tx) error) error { return l.(transaction).Do(do) }

// sqlForUpdate makes a locker of recipe A18. The row is there before anybody asks for it.
func sqlForUpdate(e scenarios.Env) (lock.Locker, error) {
	db, err := sqllocks.Open(e)
	if err != nil {
		return nil, err
	}
	return scenarios.LockerFunc(func(ctx context.Context, name string) (lock.Lease, error) {
		if _, err := db.ExecContext(ctx, "INSERT INTO article_rows VALUES ($1) ON CONFLICT DO NOTHING", name); err != nil {
			return nil, scenarios.Unanswered(err)
		}
		l, err := begin(e.Context(), ctx, db, name)
		if err != nil {
			return nil, scenarios.Unanswered(err)
		}
		return transaction{scenarios.NewLease(ctx, e, scenarios.Grant{Unlock: func(context.Context) error {
			return scenarios.Unanswered(l.Commit())
		}}), l}, nil
	}), nil
}

// dollars is a database whose parameters are $1, $2, … for one that takes question marks.
type dollars struct{ *sql.DB }

func (d dollars) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	for i := range args {
		query = strings.Replace(query, "?", "$"+strconv.Itoa(i+1), 1)
	}
	return d.DB.ExecContext(ctx, query, args...)
}

func duplicate(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == "23505"
}
