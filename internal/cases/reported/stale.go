package reported

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/scenarios"
)

// now is the clock of the server, in milliseconds.
const now = `local t = redis.call("TIME"); t = t[1] * 1000 + math.floor(t[2] / 1000); `

// The value of a key of Beat is the owner and the time of the last beat, by the clock of the server.
var (
	takeStale = redis.NewScript(now + `local v = redis.call("GET", KEYS[1])
if v and t - tonumber(string.match(v, "|(%d+)$")) <= tonumber(ARGV[2]) then return 0 end
redis.call("SET", KEYS[1], ARGV[1] .. "|" .. t) return 1`)
	beatOwn = redis.NewScript(now + `local v = redis.call("GET", KEYS[1])
if not v or string.match(v, "^[^|]*") ~= ARGV[1] then return 0 end
redis.call("SET", KEYS[1], ARGV[1] .. "|" .. t) return 1`)
	deleteBeat = redis.NewScript(`local v = redis.call("GET", KEYS[1])
if not v or string.match(v, "^[^|]*") ~= ARGV[1] then return 0 end
return redis.call("DEL", KEYS[1])`)
)

// Beat is right: its key has no end, and who finds a beat that is older than a TTL takes it. It does not say so.
func Beat() scenarios.Lock { return beat("beat", 0, ttl) }

// BeatTold is Beat that says so, by LeaseTTL.
func BeatTold() scenarios.Lock { return beat("beat-told", ttl, ttl) }

// BeatHasty says so too, and is wrong: it takes a key after half of a TTL, which is less than two beats.
func BeatHasty() scenarios.Lock { return beat("beat-hasty", ttl, ttl/2) }

func beat(name string, leaseTTL, stale time.Duration) scenarios.Lock {
	return onRedis(name, func(e scenarios.Env) try {
		return func(ctx context.Context, _ scenarios.Env, c *redis.Client, key string) (scenarios.Grant, bool, error) {
			owner := rand.Text()
			n, err := takeStale.Run(ctx, c, []string{key}, owner, stale.Milliseconds()).Int()
			free := func(ctx context.Context) error {
				ctx, cancel := patient(ctx)
				defer cancel()
				n, err := deleteBeat.Run(ctx, c, []string{key}, owner).Int()
				if err == nil && n == 0 {
					err = errNotHeld
				}
				return scenarios.NotHeld(err, errNotHeld)
			}
			if err != nil {
				_ = free(ctx)
			}
			if n == 0 || err != nil {
				return scenarios.Grant{}, false, err
			}
			lost, stop := make(chan struct{}), make(chan struct{})
			over := sync.OnceFunc(func() { close(stop) })
			e.OnEnd(over)
			go keep(e, lost, stop, func(ctx context.Context) (int, error) {
				return beatOwn.Run(ctx, c, []string{key},
					owner).Int()
			})
			return scenarios.Grant{Lost: lost, Unlock: func(ctx context.Context) error { over(); return free(ctx) }}, true, nil
		}
	}, held(2*ttl), func(l *scenarios.Lock) { l.LeaseTTL = leaseTTL })
}

// Getset is right as long as the clocks of the clients agree: the value of the key is the end of the lease, and who
// finds one that is over takes it by SET with GET, as GETSET did, and has it if nobody was quicker.
func Getset() scenarios.Lock {
	return onRedis("getset", func(scenarios.Env) try {
		return func(ctx context.Context, _ scenarios.Env, c *redis.Client, key string) (scenarios.Grant, bool, error) {
			asked := time.Now()
			end := asked.Add(ttl)
			v := strconv.FormatInt(end.UnixNano(), 10)
			g := scenarios.Grant{Unlock: unlock(c, key, v), Until: func() time.Time { return end }}
			ok, err := setNX(ctx, c, key, v, time.Hour)
			if ok || err != nil {
				return g, ok, err
			}
			has, err := c.Get(ctx, key).Result()
			if err != nil {
				return g, false, ignoreNil(err)
			}
			if ends, _ := strconv.ParseInt(has, 10, 64); ends >= time.Now().UnixNano() {
				return g, false, nil
			}
			before, err := c.SetArgs(ctx, key, v, redis.SetArgs{Get: true}).Result()
			if err != nil && !errors.Is(err, redis.Nil) {
				_ = unlock(c, key, v)(ctx)
				return g, false, err
			}
			return g, errors.Is(err, redis.Nil) || before == has, nil
		}
	})
}

func ignoreNil(err error) error {
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}
