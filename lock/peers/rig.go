package main

import (
	"os"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"locksim/lock"
	"locksim/lock/locktest/redisserver"
)

const nodes = 5 // of a Redlock

// rig has the servers, and a client for each that all contenders share.
type rig struct {
	dir     string
	servers []*redisserver.Server
	clients []*redis.Client
}

// newRig starts the servers. It leaves nothing behind when it fails.
func newRig() (*rig, error) {
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return nil, err
	}
	r := &rig{dir: dir}
	for range nodes {
		server, err := redisserver.Launch(dir)
		if err != nil {
			r.close()
			return nil, err
		}
		r.servers = append(r.servers, server)
		r.clients = append(r.clients, newClient(server.Addr()))
	}
	return r, nil
}

// newClient returns a client with the options of the documentation of package lock.
func newClient(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: addr, Protocol: 2, MaxRetries: -1, ContextTimeoutEnabled: true, DialerRetries: 1,
	})
}

func (r *rig) close() {
	for _, client := range r.clients {
		_ = client.Close()
	}
	for _, server := range r.servers {
		server.Stop()
	}
	_ = os.RemoveAll(r.dir)
}

func (r *rig) contests(o options) ([]contest, error) {
	var all []contest
	for _, make := range []func(options) (contest, error){r.oneNode, r.fiveNodes, r.handOver} {
		c, err := make(o)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// all are the clients for a Redlock.
func (r *rig) all() []lock.Redis {
	var all []lock.Redis
	for _, client := range r.clients {
		all = append(all, client)
	}
	return all
}

// redsync returns the peer of that name on some of the nodes.
func (r *rig) redsync(clients ...*redis.Client) *redsync.Redsync {
	var pools []redsyncredis.Pool
	for _, client := range clients {
		pools = append(pools, goredis.NewPool(client))
	}
	return redsync.New(pools...)
}
