package redis_test

import (
	"context"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"locksim/lock/locktest/redisserver"
	simredis "locksim/sim/redis"
)

// changeless are writes that change nothing, after those that make the keys.
var changeless = []string{
	"SET s v", "SETNX s v", "SET s v NX", "SET none v XX", "GETSET s v", "APPEND s -", "INCRBY n 0", "SETRANGE s 0 v",
	"SETBIT s 1 1", "DEL none", "UNLINK none", "EXPIRE s 100", "EXPIRE s 1 GT NX", "PEXPIRE none 5", "PERSIST s",
	"GETEX s", "GETDEL none", "RENAME s s", "RENAMENX s n", "COPY s n", "SADD a x", "SREM a none", "SMOVE a b none",
	"HSET h f v", "HSETNX h f w", "HDEL h none", "HINCRBY h i 0", "ZADD z 1 m", "ZADD z NX 2 m", "ZREM z none",
	"ZINCRBY z 0 m", "LREM l 0 none", "LPUSHX none v", "LTRIM l 0 -1", "LSET l 0 e", "LPOP none",
	"XADD x NOMKSTREAM 1-1 a b",
	"XDEL x 1-1", "PUBLISH s v", "TOUCH s", "MSETNX s v none w",
}

// unchanged plays each of the writes while another connection watches the keys, and says whether its transaction was
// carried out.
func unchanged(ctx context.Context, c *redis.Client) (said []string) {
	for _, line := range changeless {
		c.FlushAll(ctx)
		for _, made := range []string{
			"SET s v", "SET n 1", "SADD a x", "HSET h f v i 1", "ZADD z 1 m", "RPUSH l e",
		} {
			c.Do(ctx, asArgs(made)...)
		}
		err := c.Watch(ctx, func(tx *redis.Tx) error {
			args := asArgs(line)
			if args[0] == "APPEND" {
				args[2] = ""
			}
			said = append(said, line+": "+render(c.Do(ctx, args...).Result()))
			_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Get(ctx, "s").Err() })
			return err
		}, "s", "n", "a", "h", "z", "l", "none", "x", "b")
		said = append(said, "  and then the transaction: "+render("is carried out", err))
	}
	return said
}

// A write that changes nothing ends a WATCH where it does on a real Redis, and nowhere else.
func TestWritesThatChangeNothing(t *testing.T) {
	server := redisserver.Start(t)
	c := redis.NewClient(&redis.Options{Addr: server.Addr(), Protocol: 2, DisableIdentity: true})
	defer func() { _ = c.Close() }()
	want := unchanged(context.Background(), c)
	var got []string
	withClient(t, with(simredis.Servers{Nodes: 1}), func(c *client) { got = unchanged(c.ctx, c.Client) })
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Errorf("Redis says %q, the simulated one %q", want[max(i-1, 0):i+1], strings.Join(got[max(i-1, 0):min(i+1,
				len(got))], " "))
		}
	}
}
