package lock_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/redis/redisclient"
)

// execution is one run of a script, and its result.
type execution struct {
	script     string
	keys, args []string
	watched    []string // keys whose state is read in the same step
	luck       bool     // the result depends on a fraction of a millisecond: it is not compared
	got        outcomeOf
}

// String names a script by its first comment, or shows all of it.
func (e execution) String() string {
	shown := e.script
	if title, _, ok := strings.Cut(shown, "\n"); ok && strings.HasPrefix(title, "--") {
		shown = title
	}
	return fmt.Sprintf("%s\nKEYS %q ARGV %q", shown, e.keys, e.args)
}

// outcomeOf is the answer of a script, and the state of the keys directly after it.
type outcomeOf struct {
	failed bool
	answer string
	reply  any           // the raw answer
	at     time.Time     // on the server's clock
	took   time.Duration // by the same clock
	state  []keyState
}

type keyState struct {
	key, kind string
	ttl       int64 // in ms; -1: it never expires, -2: there is no key
	value     string
	instants  []int64 // scores of a sorted set that are instants, in ms since 1970; value has a dash for each
}

// firstInstant is far above every other score: 9 September 2001.
const firstInstant = 1e12

// observed is a script that runs another one and then reads the state of keys, in one step.
func observed(script string, watched []string) string {
	names := make([]string, len(watched))
	for i, key := range watched {
		names[i] = strconv.Quote(key)
	}
	return fmt.Sprintf(`local began = redis.call('TIME')
local ok, answer = pcall(function()
%s
end)
local failed = 0
if not ok or (type(answer) == 'table' and answer.err) then
  failed = 1
  if type(answer) == 'table' then
    answer = answer.err
  end
end
local seen = {}
for i, key in ipairs({%s}) do
  local kind = redis.call('TYPE', key).ok
  local value = {}
  if kind == 'string' then
    value = {redis.call('GET', key)}
  elseif kind == 'hash' then
    value = redis.call('HGETALL', key)
  elseif kind == 'zset' then
    value = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  elseif kind == 'list' then
    value = redis.call('LRANGE', key, 0, -1)
  elseif kind == 'set' then
    value = redis.call('SMEMBERS', key)
  end
  seen[i] = {kind, redis.call('PTTL', key), value}
end
return {failed, {answer}, seen, began, redis.call('TIME')}`, script, strings.Join(names, ", "))
}

// run runs an execution's script at a server.
func (e execution) run(server redis.Scripter) (outcomeOf, error) {
	args := make([]any, len(e.args))
	for i, a := range e.args {
		args[i] = a
	}
	reply, err := server.Eval(context.Background(), observed(e.script, e.watched), e.keys, args...).Slice()
	if err != nil { // it was not run
		return outcomeOf{failed: true, answer: err.Error()}, err
	}
	var got outcomeOf
	got.failed = reply[0].(int64) == 1
	got.answer = written(reply[1])
	if answer := reply[1].([]any); len(answer) > 0 {
		got.reply = answer[0]
	}
	for i, s := range reply[2].([]any) {
		s := s.([]any)
		k := keyState{key: e.watched[i], kind: s[0].(string), ttl: s[1].(int64)}
		k.set(s[2].([]any))
		got.state = append(got.state, k)
	}
	got.at = instant(reply[3])
	got.took = instant(reply[4]).Sub(got.at)
	return got, nil
}

// instant is an answer of TIME.
func instant(reply any) time.Time {
	parts := reply.([]any)
	seconds, _ := strconv.ParseInt(parts[0].(string), 10, 64)
	micros, _ := strconv.ParseInt(parts[1].(string), 10, 64)
	return time.Unix(seconds, micros*1000)
}

// written is a reply as text.
func written(v any) string {
	switch v := v.(type) {
	case []any:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = written(x)
		}
		return "[" + strings.Join(parts, " ") + "]"
	case string:
		return strconv.Quote(v)
	}
	return fmt.Sprint(v)
}

// set puts the value into the state, as text. Fields and members that have no order are sorted.
func (k *keyState) set(v []any) {
	var parts []string
	switch k.kind {
	case "hash":
		for i := 0; i+1 < len(v); i += 2 {
			parts = append(parts, written(v[i])+":"+written(v[i+1]))
		}
		slices.Sort(parts)
	case "zset":
		for _, pair := range slices.SortedFunc(slices.Chunk(v, 2),
			func(a, b []any) int { return strings.Compare(a[0].(string), b[0].(string)) }) {
			parts = append(parts, written(pair[0])+":"+k.score(pair[1].(string)))
		}
	case "set":
		for _, x := range v {
			parts = append(parts, written(x))
		}
		slices.Sort(parts)
	default:
		parts = []string{written(v)}
	}
	k.value = strings.Join(parts, " ")
}

// score is a score as text. Instants are compared separately.
func (k *keyState) score(text string) string {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	if f >= firstInstant && f < 1e15 {
		k.instants = append(k.instants, int64(f))
		return "-"
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// near is the tolerance of times in milliseconds: clocks are read at different instants.
const near = 5

func apart(a, b int64) bool { return max(a-b, b-a) > near }

// harmless are the known differences between a replica's answers and those of Redis 7: a match of a pattern equals its
// substitute.
var harmless = []struct {
	why     string
	replica string
	pattern *regexp.Regexp
	same    string
}{
	{"an error of redis.call that a script catches with pcall begins with its line", "miniredis",
		regexp.MustCompile(`":\d+: `), `"`},
	{"a command with the wrong number of arguments has a different error", "miniredis",
		regexp.MustCompile(`ERR wrong number of arguments for '\w+' command`), "ERR Wrong number of args calling Redis " +
			"command from script"},
	{"an unknown command is reported with the script's SHA-1 and no code", "miniredis",
		regexp.MustCompile(`Unknown Redis command called from script script: \w+, &c\.`),
		"ERR Unknown Redis command called from script"},
}

func withoutHarmless(replica, answer string) string {
	for _, h := range harmless {
		if h.replica == replica {
			answer = h.pattern.ReplaceAllString(answer, h.same)
		}
	}
	return answer
}

// differ is the difference of an outcome on a replica to the real one, "" if there is none.
func differ(replica string, want, got outcomeOf) string {
	got.answer = withoutHarmless(replica, got.answer)
	if want.failed != got.failed || want.answer != got.answer {
		return fmt.Sprintf("answer %s (failed: %v), want %s (failed: %v)", got.answer, got.failed, want.answer, want.failed)
	}
	for i, w := range want.state {
		g := got.state[i]
		if w.kind != g.kind || w.value != g.value ||
			!slices.EqualFunc(w.instants, g.instants, func(a, b int64) bool { return !apart(a, b) }) {
			return fmt.Sprintf("%s is %s %s %d, want %s %s %d", w.key, g.kind, g.value, g.instants, w.kind, w.value, w.instants)
		}
		if (w.ttl < 0 || g.ttl < 0) && w.ttl != g.ttl || apart(w.ttl, g.ttl) {
			return fmt.Sprintf("%s lasts %d ms, want %d ms", w.key, g.ttl, w.ttl)
		}
	}
	return ""
}

// replica runs the executions of a real server again, at the same instants of its own clock.
type replica struct {
	name string
	run  func([]execution) ([]outcomeOf, error)
}

var replicas = []replica{{"the world", inWorld}, {"miniredis", inMiniredis}}

// inWorld runs executions on a simulated node, whose scripts share one Lua state.
func inWorld(all []execution) (got []outcomeOf, err error) {
	const lead = 10 * time.Millisecond // for the connection
	cfg := sim.Config{Servers: []sim.Kind{simredis.Servers{}}, Latency: sim.Latency{Min: 1, Max: 1}, Untraced: true}
	_, err = sim.Run(cfg, func(w *sim.World) error {
		c0 := w.Client(0)
		r0, err := w.Node("r0")
		if err != nil {
			return err
		}
		start := all[0].got.at
		if err := w.Faults().JumpClock("r0", start.Sub(r0.Now())-lead); err != nil {
			return err
		}
		c0.Go(func() {
			server := redisclient.New(c0, "r0")
			server.Ping(c0.Context())
			for _, e := range all {
				// Half a microsecond more, so that the time of sending does not cross a tick of TIME.
				time.Sleep(e.got.at.Sub(start) + lead + 500 - w.Now())
				o, _ := e.run(server)
				got = append(got, o)
			}
		})
		return w.RunUntil(w.Idle)
	})
	return got, err
}

// inMiniredis runs executions on plain miniredis, with a Lua state for each.
func inMiniredis(all []execution) (got []outcomeOf, err error) {
	node := miniredis.NewMiniRedis()
	if err := node.Start(); err != nil {
		return nil, err
	}
	defer node.Close()
	o := redisclient.Quiet()
	o.Addr = node.Addr()
	server := redis.NewClient(o)
	defer func() { _ = server.Close() }()
	now := all[0].got.at
	for _, e := range all {
		node.FastForward(e.got.at.Sub(now))
		now = e.got.at
		node.SetTime(now)
		o, _ := e.run(server)
		got = append(got, o)
	}
	return got, nil
}
