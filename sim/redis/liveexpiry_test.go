package redis_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/internal/soak"
	"locksim/lock/locktest/redisserver"
	"locksim/sim"
	"locksim/sim/redis/redisclient"
)

// way is how a client sends a command.
type way string

const (
	directly way = "directly"
	inMulti  way = "in MULTI"
	byScript way = "by a script"
)

// speaker is a client of the world's server, or of a real one.
type speaker struct {
	client *redis.Client
	ctx    context.Context
}

// liveSpeaker is a client of a new real server.
func liveSpeaker(t *testing.T) speaker {
	o := redisclient.Quiet()
	o.Addr = redisserver.Start(t).Addr()
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return speaker{c, t.Context()}
}

// sameLines compares transcripts, line by line.
func sameLines(t *testing.T, live, world []string) {
	t.Helper()
	if len(live) != len(world) {
		t.Errorf("%d lines from Redis, %d from the world", len(live), len(world))
	}
	for i := range min(len(live), len(world)) {
		if world[i] != live[i] {
			t.Errorf("\nRedis: %s\nworld: %s", live[i], world[i])
		}
	}
}

// send sends a command and returns the reply as text. In MULTI it is the reply to EXEC, or to the command if that is
// not queued.
func (s speaker) send(how way, args ...any) string {
	var v any
	var err error
	switch how {
	case byScript:
		v, err = s.client.Do(s.ctx, append([]any{"EVAL", "return redis.pcall(unpack(ARGV))", 0}, args...)...).Result()
	case inMulti:
		c := s.client.Conn()
		defer func() { _ = c.Close() }()
		c.Do(s.ctx, "MULTI")
		if v, err = c.Do(s.ctx, args...).Result(); err == nil && v == "QUEUED" {
			if v, err = c.Do(s.ctx, "EXEC").Result(); err == nil {
				v = v.([]any)[0]
				if e, failed := v.(error); failed {
					v, err = nil, e
				}
			}
		} else {
			aborted := c.Do(s.ctx, "EXEC").Err()
			err = errors.Join(err, aborted)
		}
	default:
		v, err = s.client.Do(s.ctx, args...).Result()
	}
	if v == nil && err == nil {
		err = redis.Nil
	}
	text, _, _ := strings.Cut(render(v, err), " script: ") // real servers also name the script
	return text
}

// century is the longest TTL in the world, in ms.
const century = 100 * 365 * 24 * 3600 * 1000

// state is a key's type, value and expiry.
func (s speaker) state(key string) string {
	kind := s.send(directly, "TYPE", key)
	value := ""
	switch kind {
	case "none":
		return "no key"
	case "string":
		value = s.send(directly, "GET", key)
	case "hash":
		v, err := s.client.HGetAll(s.ctx, key).Result()
		value = render(v, err) // in order
	case "list":
		value = s.send(directly, "LRANGE", key, 0, -1)
	case "set":
		v, err := s.client.SMembersMap(s.ctx, key).Result()
		value = render(v, err)
	case "zset":
		value = s.send(directly, "ZRANGE", key, 0, -1, "WITHSCORES")
	}
	return kind + " " + value + ", TTL " + rounded(s.send(directly, "PTTL", key))
}

// rounded is a reply to PTTL, rounded up to tens of seconds.
func rounded(reply string) string {
	ms, err := strconv.ParseInt(reply, 10, 64)
	switch {
	case err != nil || ms <= 0:
		return reply
	case ms > century/2:
		return "for ever" // see commandDifferences
	}
	return fmt.Sprintf("up to %d s", (ms+9_999)/10_000*10)
}

// now is the server's time.
func (s speaker) now() time.Time {
	now, err := s.client.Time(s.ctx).Result()
	if err != nil {
		panic(err)
	}
	return now
}

// instantIn matches an instant in a command, such as ms(now+100000) or s(now-1).
var instantIn = regexp.MustCompile(`(ms|s)\(now([+-]\d+)?\)`)

// atInstant replaces the instants in a command by numbers.
func atInstant(line string, now time.Time) string {
	return instantIn.ReplaceAllStringFunc(line, func(s string) string {
		m := instantIn.FindStringSubmatch(s)
		at := now.UnixMilli()
		if m[1] == "s" {
			at = now.Unix()
		}
		plus, _ := strconv.ParseInt(m[2], 10, 64) // or 0
		return strconv.FormatInt(at+plus, 10)
	})
}

// expiryCase is one command on one key, K in it, that begins in a state.
type expiryCase struct {
	begin   string // a command, or empty for no key
	command string
	how     way
}

func (c expiryCase) String() string {
	begin := c.begin
	if begin == "" {
		begin = "no key"
	}
	return fmt.Sprintf("%s; %s %s", begin, c.command, c.how)
}

// play runs cases, and returns for each one the reply and the state of the key a few milliseconds later.
func (s speaker) play(cases []expiryCase) []string {
	const batch = 200 // small, so that no TTL of seconds passes meanwhile
	var said []string
	for first := 0; first < len(cases); first += batch {
		part := cases[first:min(first+batch, len(cases))]
		var replies []string
		for i, c := range part {
			key, now := fmt.Sprint("k", first+i), s.now()
			words := func(line string) []any {
				var args []any
				for _, word := range strings.Fields(atInstant(line, now)) {
					switch word {
					case "K":
						word = key
					case "EMPTY":
						word = ""
					case "SPACED":
						word = " 10"
					}
					args = append(args, word)
				}
				return args
			}
			for _, line := range strings.Split(c.begin, ";") {
				if line != "" {
					s.send(directly, words(line)...)
				}
			}
			replies = append(replies, s.send(c.how, words(c.command)...))
		}
		time.Sleep(3 * time.Millisecond) // a real server may keep a key up to 1 ms after its last
		for i, c := range part {
			said = append(said, fmt.Sprintf("%v -> %s; then %s", c, replies[i], s.state(fmt.Sprint("k", first+i))))
		}
		s.send(directly, "FLUSHALL") // the world looks at every key when its time passes
	}
	return said
}

// expiryCases are the boundary values of every option that sets an expiry, in every state of the key, sent in every
// way.
func expiryCases() []expiryCase {
	values := []string{
		"0", "-1", "9223372036854775807", "9223372036854775806", "-9223372036854775808", "9223372036854775808",
		"9223372036854775", "9223372036854776", "-9223372036854776", "x", "1.5", "EMPTY", "SPACED", "+10", "010", "-0", "1e3",
		"0x10",
	}
	relative := map[string][]string{"s": {"10"}, "ms": {"1", "10000"}}
	instants := map[string][]string{
		"s":  {"1", "s(now-1)", "s(now)", "s(now+100)"},
		"ms": {"1", "ms(now-1)", "ms(now)", "ms(now+1)", "ms(now+100000)"},
	}
	var commands []string
	for _, o := range []struct{ form, unit string }{
		{"SET K v EX %s", "s"}, {"SET K v NX EX %s", "s"}, {"SET K v XX GET EX %s", "s"}, {"SETEX K %s v", "s"},
		{"GETEX K EX %s", "s"},
		{"SET K v PX %s", "ms"}, {"SET K v PX %s NX", "ms"}, {"SET K v GET PX %s", "ms"}, {"PSETEX K %s v", "ms"},
		{"GETEX K PX %s", "ms"},
		{"EXPIRE K %s", "s"}, {"EXPIRE K %s GT", "s"}, {"EXPIRE K %s LT", "s"},
		{"PEXPIRE K %s", "ms"}, {"PEXPIRE K %s NX", "ms"}, {"PEXPIRE K %s XX", "ms"}, {"PEXPIRE K %s GT", "ms"},
		{"PEXPIRE K %s LT", "ms"},
	} {
		for _, v := range append(relative[o.unit], values...) {
			commands = append(commands, fmt.Sprintf(o.form, v))
		}
	}
	for _, o := range []struct{ form, unit string }{
		{"SET K v EXAT %s", "s"}, {"SET K v NX EXAT %s", "s"}, {"GETEX K EXAT %s", "s"},
		{"SET K v PXAT %s", "ms"}, {"SET K v NX PXAT %s", "ms"}, {"SET K v XX PXAT %s", "ms"}, {"SET K v PXAT %s GET", "ms"},
		{"GETEX K PXAT %s", "ms"},
		{"EXPIREAT K %s", "s"}, {"EXPIREAT K %s GT", "s"}, {"EXPIREAT K %s LT", "s"},
		{"PEXPIREAT K %s", "ms"}, {"PEXPIREAT K %s NX", "ms"}, {"PEXPIREAT K %s XX", "ms"}, {"PEXPIREAT K %s GT", "ms"},
		{"PEXPIREAT K %s LT", "ms"},
	} {
		for _, v := range append(instants[o.unit], values...) {
			commands = append(commands, fmt.Sprintf(o.form, v))
		}
	}
	commands = append(commands, optionConflicts...)
	var all []expiryCase
	for _, begin := range []string{"", "SET K old", "SET K old PXAT ms(now+100000)",
		"HSET K f old;PEXPIREAT K ms(now+100000)"} {
		for _, command := range commands {
			for _, how := range []way{directly, inMulti, byScript} {
				all = append(all, expiryCase{begin, command, how})
			}
		}
	}
	return all
}

// optionConflicts are combinations of options, some of which exclude each other.
var optionConflicts = []string{
	"SET K v EX 10 PX 10000", "SET K v EX 10 EX 20", "SET K v PX 10000 PX 20000", "SET K v EX 10 EXAT s(now+100)",
	"SET K v PXAT ms(now+100000) EXAT s(now+100)", "SET K v NX XX", "SET K v XX NX", "SET K v NX NX", "SET K v XX XX",
	"SET K v KEEPTTL", "SET K v KEEPTTL NX", "SET K v KEEPTTL XX", "SET K v KEEPTTL EX 10", "SET K v EX 10 KEEPTTL",
	"SET K v KEEPTTL PXAT ms(now)", "SET K v KEEPTTL KEEPTTL", "SET K v GET", "SET K v GET GET", "SET K v GET NX",
	"SET K v NX GET PX 10000", "SET K v XX GET PX 10000", "SET K v GET KEEPTTL", "SET K v PERSIST", "SET K v EX",
	"SET K v PX",
	"SET K v NX EX", "SET K v EX NX", "SET K v EX PX 10", "SET K v nx px 10000", "SET K v Px 10000 Nx", "SET K v FOO",
	"SET K v FOO EX 0",
	"SET K v EX 0 FOO", "SET K v EX x NX XX", "SET K v EX x PX y", "SET K", "SET K v", "SETEX K 10", "SETEX K 10 v NX",
	"PSETEX K", "SETNX K v",
	"SETNX K v w", "GETEX K", "GETEX K PERSIST", "GETEX K PERSIST EX 10", "GETEX K EX 10 PERSIST",
	"GETEX K EX 10 PX 10000",
	"GETEX K EX 10 EX 20", "GETEX K EX", "GETEX K KEEPTTL", "GETEX K NX", "GETEX K FOO", "GETEX K EX 10 NX", "GETEX",
	"GETSET K v", "GETDEL K",
	"EXPIRE K 10 NX XX", "EXPIRE K 10 NX GT", "EXPIRE K 10 NX LT", "EXPIRE K 10 GT LT", "EXPIRE K 10 XX GT",
	"EXPIRE K 10 XX LT",
	"EXPIRE K 1000 XX GT", "EXPIRE K 1000 XX LT", "EXPIRE K 10 NX NX", "EXPIRE K 10 GT GT", "EXPIRE K 10 FOO",
	"EXPIRE K x FOO",
	"EXPIRE K x NX XX", "EXPIRE K 10 NX XX GT LT", "EXPIRE K 10 xx gt", "EXPIRE K", "EXPIRE", "PEXPIRE K 0 XX",
	"PEXPIRE K 0 NX",
	"PEXPIRE K -1 GT", "PEXPIRE K -1 LT", "PEXPIREAT K ms(now+100000) XX GT", "PEXPIREAT K ms(now+100000) XX LT",
	"PEXPIREAT K ms(now+100001) GT", "PEXPIREAT K ms(now+99999) LT", "PEXPIREAT K ms(now+99999) GT",
	"PEXPIREAT K ms(now+100001) LT",
	"PERSIST K", "TTL K", "TTL", "PTTL", "PTTL K K", "EXPIRETIME", "PEXPIRETIME K K", "DEL", "EXISTS", "INCR K",
	"APPEND K w", "SETRANGE K 0 w", "MSET K v", "MSETNX K v",
	"HSET K f v", "HINCRBY K g 1", "DEL K", "UNLINK K", "EXISTS K", "RENAME K K", "COPY K K",
}

// TestExpiryIsThatOfRedis runs every boundary value of every option that sets an expiry in the world and on a real
// server.
func TestExpiryIsThatOfRedis(t *testing.T) {
	soak.RealTime(t)
	if testing.Short() {
		t.Skip("runs many commands, without a goroutine of its own")
	}
	cases := expiryCases()
	var world []string
	withClient(t, sim.Config{Untraced: true}, func(c *client) {
		world = speaker{c.Client, c.ctx}.play(cases)
	})
	sameLines(t, liveSpeaker(t).play(cases), world)
}
