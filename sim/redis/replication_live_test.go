package redis_test

import (
	"strings"
	"testing"

	"locksim/faults"
	simredis "locksim/sim/redis"
)

// grant takes a lock with a token, as our locks do, and changes a queue.
const grant = `
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  redis.call('ZADD', KEYS[3], 7, ARGV[1])
  redis.call('PEXPIRE', KEYS[3], ARGV[2])
  return redis.call('INCR', KEYS[2])
end
return 0`

// TestLiveFailover shows that the replica of a killed primary has the same
// keys, values and expiry as a real one, accepts writes, and has no scripts.
func TestLiveFailover(t *testing.T) {
	compare(t, simredis.Servers{}, func(s *transcript) {
		for _, e := range everyType {
			if !strings.HasPrefix(e.write, "FLUSHDB") && !strings.HasPrefix(e.write, "HEXPIRE") {
				s.say("r0", e.write)
			}
		}
		s.note("r0", "grant", "EVAL", grant, 3, "lock", "token", "queue", "me", 50_000)
		s.note("r0", "again", "EVAL", grant, 3, "lock", "token", "queue", "you", 50_000)
		s.note("r0", "load", "SCRIPT", "LOAD", "return 7")
		v, _ := s.do("r0", "SCRIPT", "LOAD", "return 7")
		s.note("r0", "by hash", "EVALSHA", v, 0)
		s.until("r0", "EXISTS gone", "0")
		s.caughtUp()
		s.dump("r0a")
		s.note("r0a", "by hash", "EVALSHA", v, 0)
		s.kill("r0")
		s.promote(faults.OldFenced)
		s.dump("r0a")
		s.note("r0a", "by hash", "EVALSHA", v, 0)
		s.say("r0a", "INCR token")
		s.say("r0a", "SET lock mine NX")
		s.say("r0a", "PEXPIRE lock 90000")
		s.say("r0a", "PTTL lock")
	})
}

// TestLiveDemotion shows that an old primary loses the writes that its replica
// had not received.
func TestLiveDemotion(t *testing.T) {
	compare(t, simredis.Servers{}, func(s *transcript) {
		s.say("r0", "SET released a PX 60000")
		s.say("r0", "INCR token")
		s.say("r0", "HSET h f 1")
		s.caughtUp()
		s.isolate()
		s.say("r0", "DEL released")
		s.say("r0", "INCR token")
		s.say("r0", "HINCRBY h f 1")
		s.say("r0", "SET lost b")
		s.say("r0", "WAIT 1 20")
		s.dump("r0a")
		s.promote(faults.OldDemoted)
		s.dump("r0")
		s.say("r0", "SET k v")
		s.say("r0a", "SET k v")
		s.until("r0", "GET k", "v")
	})
}

// TestLiveReadOnly compares a replica's replies, also to WAIT.
func TestLiveReadOnly(t *testing.T) {
	compare(t, simredis.Servers{}, func(s *transcript) {
		s.say("r0", "SET k v")
		s.say("r0", "WAIT 1 5000")
		s.say("r0", "WAIT 2 20")
		s.say("r0", "WAIT x 0")
		s.say("r0", "WAIT 1 x")
		s.say("r0", "WAIT 1 -1")
		s.note("r0", "WAIT in a script", "EVAL", "return redis.call('WAIT', 1, 1)", 0)
		for _, line := range []string{
			"SET k w", "DEL k", "BLPOP l 1", "GETEX k", "FLUSHALL", "PFADD p 1", "XREADGROUP GROUP g c STREAMS s >",
			"EXPIRE k 1",
			"GET k", "PTTL k", "PUBLISH c m", "WAIT 1 1", "BLMOVE a b LEFT LEFT 1", "SWAPDB 0 1", "ZADD z 1 m", "SCRIPT FLUSH",
		} {
			s.say("r0a", line)
		}
		s.note("r0a", "write in a script", "EVAL", "return redis.call('SET', 'k', 'w')", 0)
		s.note("r0a", "read in a script", "EVAL", "return redis.call('GET', 'k')", 0)
		s.isolate()
		s.say("r0", "SET k w")
		s.say("r0", "WAIT 1 20")
	})
}

// TestLiveExpiryOnAReplica shows that an isolated replica hides expired keys by
// its own clock, and drops them when it is promoted.
func TestLiveExpiryOnAReplica(t *testing.T) {
	compare(t, simredis.Servers{}, func(s *transcript) {
		s.say("r0", "SET k v PX 200")
		s.say("r0", "HSET h f v")
		s.say("r0", "PEXPIRE h 200")
		s.say("r0", "SET stays v")
		s.caughtUp()
		s.isolate()
		s.until("r0a", "GET k", "nil")
		s.until("r0a", "EXISTS h", "0")
		s.say("r0a", "PTTL k")
		s.say("r0a", "TYPE k")
		s.say("r0a", "KEYS *")
		s.promote(faults.OldServing)
		s.until("r0a", "DBSIZE", "1")
		s.say("r0a", "SET k w NX")
		s.say("r0a", "PTTL k")
	})
}

// TestLiveFlush shows that FLUSHALL is replicated and SCRIPT FLUSH is not.
func TestLiveFlush(t *testing.T) {
	compare(t, simredis.Servers{}, func(s *transcript) {
		v, _ := s.do("r0", "SCRIPT", "LOAD", "return 7")
		_, _ = s.do("r0a", "SCRIPT", "LOAD", "return 7")
		s.say("r0", "SET k v")
		s.caughtUp()
		s.say("r0", "FLUSHALL")
		s.caughtUp()
		s.dump("r0")
		s.dump("r0a")
		s.note("r0", "by hash", "EVALSHA", v, 0)
		s.say("r0", "SCRIPT FLUSH")
		s.note("r0", "by hash", "EVALSHA", v, 0)
		s.note("r0a", "by hash", "EVALSHA", v, 0)
	})
}

// TestLiveRestart compares the keys after kill -9, for each kind of
// persistence, also after a FLUSHALL; keys expire meanwhile.
func TestLiveRestart(t *testing.T) {
	for _, persistence := range simredis.Persistences() {
		t.Run(string(persistence), func(t *testing.T) {
			t.Parallel()
			compare(t, simredis.Servers{Persistence: persistence}, func(s *transcript) {
				s.say("r0", "SET early v PX 95000")
				s.say("r0", "SET deleted v")
				s.say("r0", "SET short v PX 300")
				s.note("r0", "grant", "EVAL", grant, 3, "lock", "token", "queue", "me", 50_000)
				v, _ := s.do("r0", "SCRIPT", "LOAD", "return 7")
				s.snapshot()
				s.say("r0", "DEL deleted")
				s.say("r0", "SET late v PX 95000")
				s.say("r0", "INCR token")
				s.kill("r0a")
				s.kill("r0")
				s.restart("r0")
				s.until("r0", "EXISTS short", "0")
				s.dump("r0")
				s.note("r0", "by hash", "EVALSHA", v, 0)
				s.say("r0", "FLUSHALL")
				s.kill("r0")
				s.restart("r0")
				s.dump("r0")
			})
		})
	}
}

// TestLiveEviction shows that a real server which is short of memory evicts the
// same key.
func TestLiveEviction(t *testing.T) {
	large := strings.Repeat("x", 300_000)
	for _, policy := range faults.EvictionPolicies() {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			compare(t, simredis.Servers{}, func(s *transcript) {
				for i, ttl := range []int{0, 900_000, 0, 800_000} {
					s.idle(string("abcd"[i]), 100-10*i, ttl, large)
				}
				s.evict(policy)
				switch policy { // some policies choose at random among several
				case faults.EvictAllKeysRandom:
					s.say("r0", "DBSIZE")
				case faults.EvictVolatileRandom:
					s.say("r0", "EXISTS b d")
					s.say("r0", "EXISTS a c")
				default:
					s.say("r0", "KEYS *")
				}
			})
		})
	}
}
