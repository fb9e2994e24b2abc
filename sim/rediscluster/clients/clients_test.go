package clients_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"time"

	redigo "github.com/gomodule/redigo/redis"
	"github.com/mna/redisc"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

// dialer opens a connection to an address.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// client is a client of a cluster as its users make it, with nothing set but addresses and a dialer. Each method
// returns what its caller gets, on one line.
type client interface {
	// do sends a command whose first argument is its key.
	do(command, key string, args ...string) string
	// release is the script that deletes a key of a value, sent as the client sends scripts.
	release(key, value string) string
	// both increments a key and makes it expire, in a transaction.
	both(key string) string
	close()
}

// releases is the script of most locks.
const releases = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) else return 0 end`

// clients make each client.
var clients = []struct {
	name string
	make func(dial dialer, addr string) (client, error)
}{
	{"go-redis", newGoRedis},
	{"rueidis", newRueidis},
	{"redigo", newRedigo},
}

// scriptSuffix is what a real server adds to the error of a command in a script.
var scriptSuffix = regexp.MustCompile(` script: [0-9a-f]{40}, on @user_script:\d+\.`)

// line is a result on one line. none is the error for no value.
func line(v any, err, none error) string {
	switch {
	case none != nil && errors.Is(err, none):
		return "nil"
	case err != nil:
		return "error " + scriptSuffix.ReplaceAllString(err.Error(), "")
	}
	switch v := v.(type) {
	case nil:
		return "nil"
	case []byte:
		return string(v)
	case []any:
		var all []string
		for _, x := range v {
			all = append(all, line(x, nil, nil))
		}
		return fmt.Sprint(all)
	}
	return fmt.Sprint(v)
}

// goRedis is redis.NewClusterClient of go-redis.
type goRedis struct{ *goredis.ClusterClient }

func newGoRedis(dial dialer, addr string) (client, error) {
	return goRedis{goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: []string{addr}, Dialer: dial})}, nil
}

func (c goRedis) do(command, key string, args ...string) string {
	all := []any{command, key}
	for _, a := range args {
		all = append(all, a)
	}
	v, err := c.Do(context.Background(), all...).Result()
	return line(v, err, goredis.Nil)
}

var goRedisReleases = goredis.NewScript(releases)

func (c goRedis) release(key, value string) string {
	v, err := goRedisReleases.Run(context.Background(), c, []string{key}, value).Result()
	return line(v, err, goredis.Nil)
}

func (c goRedis) both(key string) string {
	var n *goredis.IntCmd
	var ok *goredis.BoolCmd
	_, err := c.TxPipelined(context.Background(), func(p goredis.Pipeliner) error {
		n, ok = p.Incr(context.Background(), key), p.PExpire(context.Background(), key, time.Minute)
		return nil
	})
	return line([]any{n.Val(), ok.Val()}, err, nil)
}

func (c goRedis) close() { _ = c.Close() }

// rueidisClient is rueidis.NewClient.
type rueidisClient struct{ rueidis.Client }

func newRueidis(dial dialer, addr string) (client, error) {
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr},
		DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
			return dial(ctx, "tcp", addr)
		}})
	return rueidisClient{c}, err
}

func (c rueidisClient) do(command, key string, args ...string) string {
	v, err := c.Do(context.Background(), c.B().Arbitrary(command).Keys(key).Args(args...).Build()).ToAny()
	return line(v, err, rueidis.Nil)
}

var rueidisReleases = rueidis.NewLuaScript(releases)

func (c rueidisClient) release(key, value string) string {
	v, err := rueidisReleases.Exec(context.Background(), c, []string{key}, []string{value}).ToAny()
	return line(v, err, rueidis.Nil)
}

func (c rueidisClient) both(key string) string {
	out := ""
	err := c.Dedicated(func(d rueidis.DedicatedClient) error {
		b := d.B()
		all := d.DoMulti(context.Background(), b.Multi().Build(), b.Incr().Key(key).Build(),
			b.Pexpire().Key(key).Milliseconds(time.Minute.Milliseconds()).Build(), b.Exec().Build())
		for _, r := range all {
			if err := r.Error(); err != nil {
				return err
			}
		}
		done, err := all[len(all)-1].ToArray()
		if err != nil || len(done) != 2 {
			return fmt.Errorf("%d results: %w", len(done), err)
		}
		n, errN := done[0].AsInt64()
		ok, errOK := done[1].AsBool()
		out = line([]any{n, ok}, errors.Join(errN, errOK), nil)
		return nil
	})
	if err != nil {
		return line(nil, err, nil)
	}
	return out
}

func (c rueidisClient) close() { c.Close() }

// redigoClient is redigo, with the cluster of redisc, whose connections follow MOVED and ASK.
type redigoClient struct{ *redisc.Cluster }

func newRedigo(dial dialer, addr string) (client, error) {
	c := &redisc.Cluster{StartupNodes: []string{addr}, DialOptions: []redigo.DialOption{redigo.DialContextFunc(dial)},
		CreatePool: func(addr string, options ...redigo.DialOption) (*redigo.Pool, error) {
			dialed := func() (redigo.Conn, error) { return redigo.Dial("tcp", addr, options...) }
			return &redigo.Pool{MaxIdle: 5, Dial: dialed}, nil
		}}
	return redigoClient{c}, c.Refresh()
}

// on is a connection to the node of a key, which follows redirections if it is to.
func (c redigoClient) on(key string, follows bool) (redigo.Conn, error) {
	conn := c.Get()
	if err := redisc.BindConn(conn, key); err != nil {
		return conn, err
	}
	if !follows {
		return conn, nil
	}
	const attempts, again = 4, 50 * time.Millisecond
	return redisc.RetryConn(conn, attempts, again)
}

func (c redigoClient) do(command, key string, args ...string) string {
	conn, err := c.on(key, true)
	if err != nil {
		return line(nil, err, nil)
	}
	defer conn.Close() //nolint:errcheck // it has answered
	all := []any{key}
	for _, a := range args {
		all = append(all, a)
	}
	v, err := conn.Do(command, all...)
	return line(v, err, nil)
}

var redigoReleases = redigo.NewScript(1, releases)

func (c redigoClient) release(key, value string) string {
	conn, err := c.on(key, true)
	if err != nil {
		return line(nil, err, nil)
	}
	defer conn.Close() //nolint:errcheck // it has answered
	v, err := redigoReleases.Do(conn, key, value)
	return line(v, err, nil)
}

// both follows no redirection: redisc does not send transactions again.
func (c redigoClient) both(key string) string {
	conn, err := c.on(key, false)
	if err != nil {
		return line(nil, err, nil)
	}
	defer conn.Close() //nolint:errcheck // it has answered
	err = errors.Join(conn.Send("MULTI"), conn.Send("INCR", key), conn.Send("PEXPIRE", key, time.Minute.Milliseconds()))
	v, errExec := redigo.Int64s(conn.Do("EXEC"))
	if err := errors.Join(err, errExec); err != nil {
		return line(nil, err, nil)
	}
	return line([]any{v[0], v[1] == 1}, nil, nil)
}

func (c redigoClient) close() { _ = c.Close() }

// openers are the commands of a program, before which a connection is being opened.
var openers = []string{"GET", "SET", "EVAL", "EVALSHA", "MULTI", "ASKING", "INCR", "PEXPIRE", "EXEC"}

func opens(command string) bool { return !slices.Contains(openers, command) }
