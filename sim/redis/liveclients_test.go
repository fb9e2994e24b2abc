package redis_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"locksim/sim"
)

// lockClients are the commands that lock clients send, and those that their scripts call, in an order in which they
// make sense: the words after a key are what the client sends, with its order of options. In each list some commands
// meet a key that is missing, of another owner, or of another type.
var lockClients = []struct {
	client   string
	commands []string
}{
	{"redsync (Go)", []string{
		"SET lock a NX PX 8000", "set lock b px 8000 nx", "set lock b ex 8 nx", "GET lock", "PEXPIRE lock 9000",
		"SET lock c PX 8000 NX", "PTTL lock",
		"DEL lock", "DEL lock", "PEXPIRE lock 9000", "GET lock", "set lock c px 8000 nx",
		"EVALSHA 0123456789012345678901234567890123456789 1 lock a",
		"EVAL 'if redis.call([[GET]], KEYS[1]) == ARGV[1] then return redis.call([[DEL]], KEYS[1]) end return 0' 1 lock a",
		"EVAL 'if redis.call([[GET]], KEYS[1]) == ARGV[1] then return redis.call([[DEL]], KEYS[1]) end return 0' 1 lock c",
		"EVAL 'return redis.call([[SET]], KEYS[1], ARGV[1], [[PX]], ARGV[2], [[NX]])' 1 lock d 8000",
		"EVAL 'return redis.call([[SET]], KEYS[1], ARGV[1], [[PX]], ARGV[2], [[NX]])' 1 lock e 8000",
		"EVAL 'return redis.pcall([[SET]], KEYS[1], ARGV[1], [[PX]], ARGV[2], [[NX]])' 1 other e 0",
	}},
	{"redislock (bsm, Go)", []string{
		"SET lock token-meta NX PX 8000", "set lock other nx px 8000", "GETRANGE lock 0 4", "GETRANGE lock 5 -1",
		"GETRANGE lock 50 60", "GETRANGE none 0 4",
		"PEXPIRE lock 9000", "PTTL lock", "PTTL none", "MSETNX lock x two x", "MSETNX two x three x", "MGET lock two none",
		"DEL lock two", "DEL lock",
		"MSETNX two", "MSET two", "EVAL 'return redis.status_reply([[OK]])' 0", "EVAL 'return -3' 1 lock", "MGET",
		"MSET one 1 one 2", "GET one",
	}},
	{"Redisson lock (Java)", []string{
		"EXISTS lock", "HEXISTS lock uuid:1", "HINCRBY lock uuid:1 1", "PEXPIRE lock 30000", "PTTL lock",
		"HEXISTS lock uuid:2", "HINCRBY lock uuid:1 1", "HGET lock uuid:1",
		"HINCRBY lock uuid:1 -1", "GET latch", "SET latch 1 PX 9000", "HINCRBY lock uuid:1 -1", "DEL lock",
		"PUBLISH redisson_lock__channel:{lock} 0", "DEL lock",
		"PEXPIRE lock 30000", "HEXISTS latch f", "HINCRBY latch f 1", "INCR token", "GET token", "EXPIRE latch 60",
		"SETNX latch 2", "SETEX latch 9 3", "PSETEX latch 9000 3",
		"EVAL 'return nil' 0", "EVAL 'return {1, nil, 3}' 0", "EVAL 'return redis.call([[pttl]], KEYS[1])' 1 lock",
		"UNLINK latch",
	}},
	{"Redisson read-write lock (Java)", []string{
		"HGET lock mode", "HSET lock mode read", "HSET lock u:1 1", "SET {lock}:u:1:rwlock_timeout:1 1",
		"PEXPIRE {lock}:u:1:rwlock_timeout:1 30000", "PEXPIRE lock 30000",
		"HGET lock mode", "HINCRBY lock u:1 1", "PTTL {lock}:u:1:rwlock_timeout:1", "HEXISTS lock u:2:write", "HLEN lock",
		"HKEYS lock", "HDEL lock u:1", "HDEL lock u:1",
		"HLEN none", "HKEYS none", "HSET lock mode write", "HINCRBY lock x 9223372036854775807", "HINCRBY lock y z",
		"HSETNX lock mode read", "HSETNX lock n 1", "HMGET lock mode none", "HVALS none", "HGETALL none",
		"HDEL lock mode x n", "EXISTS lock",
	}},
	{"Redisson fair lock (Java)", []string{
		"LINDEX queue 0", "RPUSH queue u:1", "RPUSH queue u:2 u:3", "ZADD timeouts 1000 u:1", "ZADD timeouts 2000 u:2",
		"ZADD timeouts 1500 u:1", "LINDEX queue 0", "LINDEX queue -1",
		"LINDEX queue 9", "ZSCORE timeouts u:1", "ZSCORE timeouts u:9", "ZRANGE timeouts 0 -1",
		"ZRANGE timeouts 0 -1 WITHSCORES", "ZINCRBY timeouts -500 u:2", "ZREM timeouts u:1", "ZREM timeouts u:1",
		"LPOP queue", "LREM queue 0 u:2", "LREM queue 0 u:2", "LRANGE queue 0 -1", "LLEN queue", "LPOP queue", "LPOP queue",
		"EXISTS queue", "ZREM timeouts u:2", "EXISTS timeouts",
		"ZADD timeouts x u:1", "ZSCORE queue u:1", "RPUSH queue a", "ZADD queue 1 a", "LPOP queue 0", "LPOP queue 5",
		"LPOP queue 5", "LPOP none",
	}},
	{"Redisson semaphore, latch (Java)", []string{
		"SET sem 3", "DECRBY sem 2", "GET sem", "INCRBY sem 1", "INCRBY sem 9223372036854775807", "DECRBY sem x", "DECR none",
		"INCRBY text 1", "SET text x", "INCRBY text 1", "INCR text",
		"SET num 9223372036854775807", "INCR num", "SET num -9223372036854775808", "DECR num",
		"INCRBY num 9223372036854775808", "INCRBY num 1.5",
		"ZADD permits 100 a 200 b 300 c", "ZRANGEBYSCORE permits 0 250", "ZRANGEBYSCORE permits 0 250 LIMIT 0 1",
		"ZRANGEBYSCORE permits -inf +inf LIMIT 1 1", "ZRANGEBYSCORE permits (100 (300",
		"ZREMRANGEBYSCORE permits 0 150", "ZREMRANGEBYSCORE permits -inf (200", "ZCARD permits", "ZCOUNT permits 0 +inf",
		"ZCARD none", "SETNX latch 2", "SETNX latch 3", "DECR latch", "DECR latch", "DEL latch",
	}},
	{"redis-py Lock (Python)", []string{
		"SET lock token NX PX 9000", "SET lock other NX PX 9000", "SET lock other NX", "GET lock", "PTTL lock",
		"PEXPIRE lock 19000", "SCRIPT EXISTS 0123456789012345678901234567890123456789",
		"SCRIPT LOAD 'return 1'", "EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0",
		"SCRIPT EXISTS e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "SCRIPT FLUSH",
		"EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0",
		"EVAL 'local t = redis.call([[pttl]], KEYS[1]) if t < 0 then t = 0 end redis.call([[pexpire]], KEYS[1], ARGV[1] + " +
			"t) return 1' 1 lock 30000",
		"EVAL 'return redis.pcall([[pexpire]], KEYS[1], ARGV[1] + 0.5)' 1 lock 30000",
		"EVAL 'return redis.call([[pexpire]], KEYS[1], 1e3)' 1 lock",
		"DEL lock", "EVAL 'return redis.call([[pexpire]], KEYS[1], 1000)' 1 lock", "EVAL", "EVAL x", "EVAL 'return 1' -1",
		"EVAL 'return 1' 2 a", "EVAL 'return 1' x",
	}},
	{"node-redlock, ioredis (JavaScript)", []string{
		"EXISTS a b", "SET a v PX 9000", "SET b v PX 9000", "EXISTS a b", "EXISTS a a none", "GET a", "PEXPIRE a 19000",
		"SET a w NX PX 9000", "set a w px 9000 nx", "DEL a", "GET a",
		"EVAL 'local n = 0 for i, key in ipairs(KEYS) do if redis.call([[get]], key) == ARGV[1] then redis.pcall([[del]], " +
			"key) n = n + 1 end end return n' 3 a b c v",
		"EVAL 'for i, key in ipairs(KEYS) do redis.call([[set]], key, ARGV[1], [[PX]], ARGV[2]) end return #KEYS' 2 a b " +
			"v 9000",
		"EVAL 'return redis.pcall([[set]], KEYS[1], ARGV[1], [[NX]], [[PX]], ARGV[2])' 1 c v 9000.5",
		"EVAL 'return redis.pcall([[set]], KEYS[1], ARGV[1], [[NX]], [[PX]], 9000.5)' 1 c v", "EXISTS",
	}},
	{"Spring Integration RedisLockRegistry (Java)", []string{
		"GET registry:lock", "SET registry:lock id PX 60000", "GET registry:lock", "PEXPIRE registry:lock 50000",
		"UNLINK registry:lock", "UNLINK registry:lock", "PUBLISH registry-channel registry:lock",
		"EVAL 'return true' 0", "EVAL 'return false' 0", "EVAL 'return redis.call([[PEXPIRE]], KEYS[1], ARGV[1]) == 1' 1 " +
			"none 5", "EVAL 'if not redis.call([[GET]], KEYS[1]) then return true end return false' 1 none",
		"SET registry:lock id PX 60000 NX", "SET registry:lock id2 EX 60 XX", "DEL registry:lock", "UNLINK",
	}},
	{"ShedLock (Java)", []string{
		"SET job-lock:default:x ADDED:host PX 60000 NX", "SET job-lock:default:x v NX PX 60000",
		"SET job-lock:default:x v PX 50000 XX", "SET job-lock:default:x v XX PX 40000", "GET job-lock:default:x",
		"DEL job-lock:default:x", "SET job-lock:default:x v XX PX 40000", "SET job-lock:default:x v PX 0 NX",
		"SET job-lock:default:x v XX PX -1", "SET job-lock:default:x v NX EX 60", "SET job-lock:default:x v EX 60 XX",
		"EVAL 'if redis.call([[get]], KEYS[1]) == ARGV[1] then return redis.call([[pexpire]], KEYS[1], ARGV[2]) else " +
			"return 0 end' 1 job-lock:default:x v 50000",
	}},
	{"Laravel cache lock and limiters (PHP)", []string{
		"SET lock owner EX 10 NX", "SET lock owner2 EX 10 NX", "SETNX lock owner2", "GET lock", "DEL lock",
		"SETNX lock owner", "SETEX lock 10 s:1:a;", "EXPIRE lock 20", "INCR limiter", "EXPIRE limiter 20",
		"MGET slot1 slot2", "SET slot1 id EX 60", "EXISTS hash", "HMSET hash start 1 end 2 count 1", "HMGET hash start none",
		"EXPIRE hash 120", "HINCRBY hash count 1", "HGET hash count", "HSET hash count 1 end 3", "DECRBY limiter 1",
		"EVAL 'for i, v in pairs(redis.call([[mget]], unpack(KEYS))) do if not v then redis.call([[set]], KEYS[i], " +
			"ARGV[1], [[EX]], ARGV[2]) return KEYS[i] end end' 2 slot1 slot2 id 60", "HMSET hash", "HMSET hash a",
		"HMSET hash a 1 b", "HSET hash a", "HSET hash a 1 b",
	}},
	{"sidekiq-unique-jobs (Ruby)", []string{
		"EXISTS digest", "RPUSH queued job1", "LPUSH queued job2", "LLEN queued", "RPOPLPUSH queued primed",
		"RPOPLPUSH none primed", "LMOVE queued primed LEFT RIGHT", "LREM primed -1 job1", "HSET locked job1 1700000000.5",
		"HEXISTS locked job1", "HGET locked job1", "HLEN locked", "HDEL locked job1", "PEXPIRE primed 50000", "PTTL primed",
		"PERSIST primed", "PERSIST primed", "PERSIST none", "UNLINK queued primed none", "ZADD digests 1700000000.123456 d1",
		"ZADD digests 1700000001 d2",
		"ZSCORE digests d1", "ZRANGE digests 0 -1 WITHSCORES", "ZREVRANGE digests 0 0", "ZCARD digests", "ZREM digests d1 d9",
		"ZREMRANGEBYRANK digests 0 0", "SADD set a b", "SISMEMBER set a", "SREM set a", "SCARD set",
		"SET info {} PX 50000", "STRLEN info", "TYPE info", "TYPE none", "TYPE set", "RENAME info info2", "RENAME none x",
		"PTTL info2", "LPUSHX none a", "RPOP none", "LTRIM none 0 1", "HVALS locked", "LPOS none a",
		"ZREVRANGEBYSCORE digests +inf -inf", "ZRANGEBYSCORE digests -inf x", "INCRBYFLOAT float 1.5", "ZPOPMIN digests",
		"SMEMBERS none", "SPOP none",
	}},
	{"rueidislock (Go)", []string{
		"CLIENT TRACKING ON OPTIN", "CLIENT TRACKING ON OPTIN", "client tracking on noloop optin", "CLIENT TRACKING OFF",
		"CLIENT TRACKING OFF", "CLIENT TRACKING ON OPTIN",
		"CLUSTER SLOTS", "CLUSTER SHARDS", "CLUSTER INFO", "CLUSTER", "READONLY", "SET lock id NX PXAT ms(now+50000)",
		"SET lock id2 NX PXAT ms(now+50000)", "SET lock id NX PX 50000", "GET lock", "PEXPIREAT lock ms(now+60000)",
		"PEXPIRE lock 50000", "DEL lock", "PEXPIREAT lock ms(now+60000)", "SET lock id NX GET PXAT ms(now+50000)",
		"SET lock id2 NX GET PXAT ms(now+50000)", "SET lock id2 XX GET PXAT ms(now+40000)",
		"EVAL 'if redis.call([[SET]], KEYS[1], ARGV[1], [[NX]], [[PXAT]], ARGV[2]) then return nil else return " +
			"redis.call([[GET]], KEYS[1]) end' 1 lock id ms(now+50000)",
		"EVAL 'if redis.call([[GET]], KEYS[1]) == ARGV[1] then return redis.call([[PEXPIREAT]], KEYS[1], ARGV[2]) end " +
			"return 0' 1 lock id2 ms(now+30000)", "GETEX lock PXAT ms(now+30000)", "GETDEL lock", "GETDEL lock",
	}},
	{"redis-semaphore (JavaScript)", []string{
		"ZREMRANGEBYSCORE sem -inf ms(now-1)", "ZCARD sem", "ZADD sem 100 a", "ZADD sem 200 b", "PEXPIRE sem 50000",
		"ZSCORE sem a", "ZADD sem XX 300 a", "ZADD sem XX 300 c", "ZADD sem XX CH 400 a", "ZADD sem NX 1 a",
		"ZADD sem NX CH 1 d",
		"ZADD sem GT 1 a", "ZADD sem LT 1 a", "ZADD sem INCR 5 a", "ZADD sem XX INCR 5 z", "ZADD sem NX XX 1 a",
		"ZADD sem NX GT 1 a", "ZADD sem INCR 1 a 2 b", "ZADD sem 1", "ZADD sem 1 a 2", "ZADD sem +inf i", "ZSCORE sem i",
		"ZRANK sem a", "ZRANK sem z", "ZREVRANK sem a", "ZREM sem a b c d i", "EXISTS sem", "ZRANGE sem (1 5 BYSCORE",
		"ZRANGE none 0 -1 REV", "ZMSCORE none a", "ZINCRBY none 1.5 a", "ZCOUNT none x 1",
	}},
	{"redis-semaphore, redis-lock, mlanett-redis-lock (Ruby)", []string{
		"GETSET exists 1", "GETSET exists 1", "EXPIRE exists 10", "LPUSH available 0 1 2", "LPOP available", "LLEN available",
		"HSET grabbed 0 1700000000.25", "HGETALL grabbed", "HDEL grabbed 0", "PERSIST exists", "SETNX lock 1700000000.5",
		"GETSET lock 1700000001.5",
		"GET lock", "APPEND lock x", "DEL exists available grabbed lock", "TTL lock", "EXPIREAT lock 1", "SET lock x",
		"EXPIREAT lock 4000000000", "EXPIRETIME lock", "PEXPIREAT lock 4000000000500", "EXPIRETIME lock", "PEXPIRETIME lock",
		"PEXPIREAT lock 4000000000499", "EXPIRETIME lock", "EXPIRETIME none", "SET lock x EX 10", "TTL lock",
		"SET lock x PX 10400", "SET lock x PX 10700", "COPY lock lock2", "COPY lock lock2", "COPY lock lock2 REPLACE",
		"RENAMENX lock lock2", "TOUCH lock none",
	}},
	{"ranges, databases and scripts that only read", []string{
		"SETRANGE none 3 ''", "SETRANGE none 0 ''", "EXISTS none", "SET k abcdef", "SETRANGE k 9 ''", "SETRANGE k -1 ''",
		"SETRANGE k x ''", "SETRANGE k 5 gh", "RPUSH list a", "SETRANGE list 0 ''",
		"GETRANGE k -5 -2", "GETRANGE k -1 -5", "GETRANGE k -100 -99", "GETRANGE k -100 -200", "GETRANGE k -8 -9",
		"GETRANGE k 0 -100", "GETRANGE k 1 -100", "GETRANGE none -2 -3", "GETRANGE list -2 -3",
		"SELECT 16", "SELECT -1", "SELECT x", "MOVE k 16", "MOVE none 16", "COPY k k2 DB 16", "SWAPDB 0 16", "MOVE k 15",
		"MOVE k 15", "PUBSUB CHANNELS", "PUBSUB CHANNELS ''",
		"EVAL_RO 'return [[ABC]]' 0", "EVAL_RO 'return redis.call([[GET]], KEYS[1])' 1 K", "SET K V",
		"EVAL_RO 'return redis.call([[GET]], KEYS[1])' 1 K",
		"SCRIPT LOAD 'return [[ABC]]'", "EVALSHA_RO E858E2C516346D4B9504DA3849CE93BEF8C44650 0",
	}},
}

// commandDifferences are the known differences between the world's commands and those of Redis 7.0.
// docs/explanation/limits.md has them in short. Differences of scripts are in lock/differential_generated_test.go.
var commandDifferences = []struct {
	why     string
	before  []string // commands
	command string
	how     way
	redis   string // its reply
	world   string
}{
	{"no key lives longer than a hundred years, since durations are numbers of nanoseconds",
		[]string{"SET a v PX 9000000000000000"},
		"PTTL a", directly, "9000000000000000", "3153600000000"},
	{"a script in MULTI runs in a Lua state of miniredis, which adds a position to an error", nil,
		"EVAL 'return redis.call([[SET]], KEYS[1], 1, [[PX]], 0)' 1 a", inMulti, "ERR invalid expire time in 'set' command",
		"ERR Error compiling script (new function): :1: ERR invalid expire time in 'set' command"},
	{"half a pair has another error", nil, "MSETNX a 1 b", directly, "ERR wrong number of arguments for 'msetnx' command",
		"ERR wrong number of arguments for MSET"},
	{"there are no sharded channels", nil, "SPUBLISH a 0", directly, "0", "ERR unknown command `SPUBLISH`, with args " +
		"beginning with: `a`, `0`, "},
	{"no invalidations are sent to clients that cache", nil, "CLIENT TRACKING ON NOLOOP", directly,
		"OK", "ERR unknown subcommand 'TRACKING'. Try CLIENT HELP."},
	{"nor are keys remembered for them", []string{"CLIENT TRACKING ON OPTIN"}, "CLIENT CACHING YES", directly,
		"OK", "ERR unknown subcommand 'CACHING'. Try CLIENT HELP."},
	{"HINCRBY overflows", []string{"HSET a f 9223372036854775807"}, "HINCRBY a f 1", directly,
		"ERR increment or decrement would overflow", "-9223372036854775808"},
	{"HINCRBY says in other words that a field is no number", []string{"HSET a f x"}, "HINCRBY a f 1", directly,
		"ERR hash value is not an integer", "ERR value is not an integer or out of range"},
	{"DECRBY overflows", []string{"SET a 1"}, "DECRBY a -9223372036854775808", directly, "ERR decrement would overflow",
		"-9223372036854775807"},
	{"integers are read with zeros and signs before them", []string{"SET a 01"}, "INCR a", directly,
		"ERR value is not an integer or out of range", "2"},
	{"an index is read before the list", nil, "LINDEX a x", directly, "nil", "ERR value is not an integer or out " +
		"of range"},
	{"a negative count has another error", []string{"RPUSH a x"}, "LPOP a -1", directly,
		"ERR value is out of range, must be positive", "ERR index out of range"},
	{"LMOVE looks for the list before it reads the sides", nil, "LMOVE a b UP DOWN", directly, "ERR syntax error", "nil"},
	{"a score with zeros at its end has an exponent, as in later versions", []string{"ZADD a 1700000000 m"}, "ZSCORE a m",
		directly, "1700000000", "1.7e+9"},
	{"a score may be no number", nil, "ZADD a nan m", directly, "ERR value is not a valid float", "1"},
}

// TestKnownCommandDifferences keeps the list true.
func TestKnownCommandDifferences(t *testing.T) {
	ask := func(s speaker, before []string, command string, how way) string {
		s.send(directly, "FLUSHALL")
		for _, b := range before {
			s.send(directly, split(b)...)
		}
		reply, _, _ := strings.Cut(s.send(how, split(command)...), " stack traceback")
		return reply
	}
	withClient(t, sim.Config{}, func(c *client) {
		for _, d := range commandDifferences {
			if got := ask(speaker{c.Client, c.ctx}, d.before, d.command, d.how); !nearly(got, d.world) {
				t.Errorf("%s: %s: the world answers %s, want %s: correct the list", d.why, d.command, got, d.world)
			}
		}
	})
	live := liveSpeaker(t)
	for _, d := range commandDifferences {
		if got := ask(live, d.before, d.command, d.how); !nearly(got, d.redis) {
			t.Errorf("%s: %s: Redis answers %s, want %s", d.why, d.command, got, d.redis)
		}
	}
}

// nearly compares replies. A remaining TTL may be a few seconds less.
func nearly(got, want string) bool {
	a, err := strconv.ParseInt(got, 10, 64)
	b, err2 := strconv.ParseInt(want, 10, 64)
	return got == want || err == nil && err2 == nil && b > century/2 && b-a > 0 && b-a < 5000
}

// split are the words of a command. One in single quotes may have spaces.
func split(line string) []any {
	var words []any
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		for _, w := range strings.Fields(part) {
			words = append(words, w)
		}
	}
	return words
}

// converse sends a list of commands, in a way that they allow, and returns for each one the reply and the state of the
// keys that it may name.
func (s speaker) converse(how way, commands []string) []string {
	s.send(directly, "FLUSHALL")
	var said []string
	for _, line := range commands {
		args := split(atInstant(line, s.now()))
		way := how
		if how == byScript && (strings.HasPrefix(line, "EVAL") || strings.HasPrefix(line, "SCRIPT")) {
			way = directly
		}
		reply := s.send(way, args...)
		if args[0] == "PTTL" {
			reply = rounded(reply)
		}
		said = append(said, fmt.Sprintf("%s %s -> %s", line, way, reply))
		for _, a := range args[1:min(len(args), 6)] {
			if state := s.state(a.(string)); state != "no key" {
				said = append(said, fmt.Sprintf("    %s is %s", a, state))
			}
		}
	}
	return said
}

// TestClientsCommandsAreThoseOfRedis sends the commands of lock clients to the world and to a real server, directly, in
// MULTI and by scripts.
func TestClientsCommandsAreThoseOfRedis(t *testing.T) {
	live := liveSpeaker(t)
	for _, c := range lockClients {
		for _, how := range []way{directly, inMulti, byScript} {
			t.Run(c.client+" "+string(how), func(t *testing.T) {
				var world []string
				withClient(t, sim.Config{Untraced: true}, func(w *client) {
					world = speaker{w.Client, w.ctx}.converse(how, c.commands)
				})
				sameLines(t, live.converse(how, c.commands), world)
			})
		}
	}
}
