package main

import (
	"context"
	"database/sql"

	"locksim/lock"
	"locksim/lock/etcdlock"
	"locksim/lock/sqllock"
)

// row is a lock with a way of waiting, on the servers of a system.
type row struct {
	id    string // of its results
	on    *system
	lock  string // by its name in locksim, where it has one
	waits string
	// new makes the lock of one client, and what closes it.
	new func(context.Context, *servers, *tap) (lock.Locker, func(), error)
	// hand says that it is a row that checks others by hand, under the first load alone.
	hand bool
}

// The ways of waiting.
const (
	polls  = "poll"
	told   = "notify"
	queues = "queue"
)

// rows are what is measured. Options that a row does not set have their defaults: a TTL of ten seconds, and polls with
// 50 to 200 ms between two of them.
var rows = []row{
	{id: "single poll", on: &oneRedis, lock: "single", waits: polls,
		new: onRedis(lock.NewSingle, lock.Options{})},
	{id: "single notify", on: &oneRedis, lock: "single", waits: told,
		new: onRedis(lock.NewSingle, lock.Options{Waiting: lock.WaitNotify})},
	{id: "fenced poll", on: &oneRedis, lock: "fenced", waits: polls,
		new: onRedis(lock.NewFenced, lock.Options{})},
	{id: "fair notify", on: &oneRedis, lock: "fair", waits: queues,
		new: onRedis(lock.NewFair, lock.Options{Waiting: lock.WaitNotify})},
	{id: "sentinel poll", on: &watched, lock: "sentinel-single", waits: polls,
		new: onSentinels(lock.Options{})},
	{id: "sentinel notify", on: &watched, lock: "sentinel-single", waits: told,
		new: onSentinels(lock.Options{Waiting: lock.WaitNotify})},
	{id: "redlock", on: &fiveRedis, lock: "redlock", waits: polls, new: onFive},
	{id: "etcd 1", on: &oneEtcd, lock: "etcd", waits: queues, new: onEtcd(newEtcd)},
	{id: "etcd 1 by hand", on: &oneEtcd, hand: true, new: onEtcd(newByHand)},
	{id: "etcd 3", on: &threeEtcd, lock: "etcd", waits: queues, new: onEtcd(newEtcd)},
	{id: "zookeeper 1", on: &oneZoo, lock: "zookeeper", waits: queues, new: onZooKeeper},
	{id: "zookeeper 3", on: &threeZoo, lock: "zookeeper", waits: queues, new: onZooKeeper},
	{id: "table", on: &postgres, lock: "sql-table", waits: polls,
		new: onPostgres(sqllock.Options{Table: "costs_leases"}, newTable)},
	{id: "for-update poll", on: &postgres, lock: "sql-for-update", waits: polls,
		new: onPostgres(sqllock.Options{Table: "costs_rows"}, newForUpdate)},
	{id: "for-update queue", on: &postgres, lock: "sql-for-update", waits: queues,
		new: onPostgres(sqllock.Options{Table: "costs_rows", Block: true}, newForUpdate)},
	{id: "advisory poll", on: &postgres, lock: "sql-advisory", waits: polls,
		new: onPostgres(sqllock.Options{}, newAdvisory)},
	{id: "advisory queue", on: &postgres, lock: "sql-advisory", waits: queues,
		new: onPostgres(sqllock.Options{Block: true}, newAdvisory)},
	{id: "nats memory", on: &memoryNATS, lock: "nats-kv", waits: polls, new: onNATS},
	{id: "nats sync", on: &syncedNATS, lock: "nats-kv-sync", waits: polls, new: onNATS},
}

// loads are those of a row.
func (r row) loads() []load {
	if r.hand {
		return loads[:1]
	}
	return loads
}

func newEtcd(c etcdClient) (lock.Locker, error) { return etcdlock.New(c, etcdlock.Options{}) }

func newTable(db *sql.DB, o sqllock.Options) (lock.Locker, string, error) {
	l, err := sqllock.NewTable(db, o)
	return l, l.Schema(), err
}

func newForUpdate(db *sql.DB, o sqllock.Options) (lock.Locker, string, error) {
	l, err := sqllock.NewForUpdate(db, o)
	return l, l.Schema(), err
}

func newAdvisory(db *sql.DB, o sqllock.Options) (lock.Locker, string, error) {
	l, err := sqllock.NewAdvisory(db, o)
	return l, "", err
}
