package lock_test

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/sim/redis/redisclient"
)

// recorder is a hook of go-redis between clients and a real server. It runs each of their commands inside a script that
// also reads the keys, and records it.
type recorder struct {
	t         testing.TB
	server    *redis.Client
	namespace string // prefix of every key on the server, which is shared

	mu      sync.Mutex // guards the rest; commands run one at a time, in the recorded order
	sources map[string]string
	watched []string
	all     []execution
	ran     time.Time // instant of the last one, on this machine's clock
	stopped bool
}

func newRecorder(t testing.TB, addr, namespace string) *recorder {
	o := redisclient.Quiet()
	o.Addr = addr
	r := &recorder{t: t, server: redis.NewClient(o), namespace: namespace, sources: map[string]string{}}
	t.Cleanup(func() { _ = r.server.Close() })
	return r
}

// client returns a client whose commands are recorded.
func (r *recorder) client() *redis.Client {
	o := redisclient.Quiet()
	o.Addr = r.server.Options().Addr
	c := redis.NewClient(o)
	c.AddHook(r)
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

// DialHook does nothing.
func (r *recorder) DialHook(redis.DialHook) redis.DialHook {
	return func(context.Context, string, string) (net.Conn, error) {
		return nil, fmt.Errorf("no command bypasses the recorder")
	}
}

// ProcessPipelineHook does not support pipelines: no lock uses one.
func (r *recorder) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook runs and records each command. The end of ctx does not interrupt it.
func (r *recorder) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(_ context.Context, c redis.Cmder) error {
		e, err := r.translate(c)
		if err == nil {
			answer, failure := r.exec(e)
			if err = failure; err == nil {
				err = r.reply(c, answer)
			}
		}
		if err != nil {
			c.SetErr(err)
		}
		return err
	}
}

// serverError is an error reply.
type serverError string

func (e serverError) Error() string { return string(e) }
func (serverError) RedisError()     {}

// translate turns a command into a script, and puts its keys into the recorder's namespace.
func (r *recorder) translate(c redis.Cmder) (e execution, err error) {
	var args []string
	for _, a := range c.Args() {
		args = append(args, fmt.Sprint(a))
	}
	switch strings.ToLower(args[0]) {
	case "eval", "evalsha":
		e.script, err = r.source(args)
		var n int
		_, _ = fmt.Sscan(args[2], &n)
		e.keys, e.args = args[3:3+n], args[3+n:]
	case "mget", "del", "exists":
		e.script = "return redis.call(ARGV[1], unpack(KEYS))"
		e.keys, e.args = args[1:], args[:1]
	default:
		e.script = "return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))"
		e.keys, e.args = args[1:2], slices.Delete(slices.Clone(args), 1, 2)
	}
	e.keys = slices.Clone(e.keys)
	for i := range e.keys {
		e.keys[i] = r.namespace + e.keys[i]
	}
	return e, err
}

// source is the script of EVAL or EVALSHA.
func (r *recorder) source(args []string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if strings.EqualFold(args[0], "eval") {
		sum := sha1.Sum([]byte(args[1]))
		r.sources[hex.EncodeToString(sum[:])] = args[1]
		return args[1], nil
	}
	source, ok := r.sources[args[1]]
	if !ok {
		return "", serverError("NOSCRIPT No matching script.")
	}
	return source, nil
}

// stop ends the recording and returns it.
func (r *recorder) stop() []execution {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	return r.all
}

// exec runs a script at an instant when no key is about to expire, and records it. It returns the script's answer. If a
// key may have expired nevertheless, every key is deleted, so that the state is known again.
func (r *recorder) exec(e execution) (any, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return nil, redis.ErrClosed
	}
	for _, key := range e.keys {
		if !slices.Contains(r.watched, key) {
			r.watched = append(r.watched, key)
		}
	}
	r.avoidExpiry()
	e, err := r.runAndRecord(e)
	if err != nil {
		return nil, err
	}
	if e.luck {
		if _, err := r.runAndRecord(execution{script: "return redis.call('DEL', unpack(KEYS))", keys: r.watched,
			luck: true}); err != nil {
			return nil, err
		}
	}
	if e.got.failed {
		return nil, serverError(fmt.Sprint(e.got.reply))
	}
	return e.got.reply, nil
}

// runAndRecord runs a script and records it.
func (r *recorder) runAndRecord(e execution) (execution, error) {
	e.keys, e.watched = slices.Clone(e.keys), slices.Clone(r.watched)
	ends := r.ends()
	var err error
	if e.got, err = e.run(r.server); err != nil {
		return e, err
	}
	ends = append(ends, e.got.ends()...) // a script can set an expiry that is as good as over
	e.luck = e.luck || e.got.took > luck || slices.ContainsFunc(ends, func(end time.Time) bool {
		return e.got.at.Sub(end).Abs() <= luck
	})
	r.ran, r.all = time.Now(), append(r.all, e)
	return e, nil
}

// luck is how close to the expiry of a key it is random whether the key still exists. A script that takes as long, on a
// busy machine, has read the clock at several instants.
const luck = 3 * time.Millisecond

// ends are the instants at which keys, and entries of queues, expire on the server's clock, as of the last execution.
func (r *recorder) ends() (ends []time.Time) {
	if len(r.all) == 0 {
		return nil
	}
	return r.all[len(r.all)-1].got.ends()
}

// ends are the instants at which keys, and entries of queues, expire after the execution.
func (o outcomeOf) ends() (ends []time.Time) {
	for _, k := range o.state {
		if k.ttl >= 0 {
			ends = append(ends, o.at.Add(time.Duration(k.ttl)*time.Millisecond))
		}
		for _, instant := range k.instants {
			ends = append(ends, time.UnixMilli(instant))
		}
	}
	slices.SortFunc(ends, time.Time.Compare)
	return ends
}

// avoidExpiry waits while a key is about to expire.
func (r *recorder) avoidExpiry() {
	for _, end := range r.ends() {
		now := r.all[len(r.all)-1].got.at.Add(time.Since(r.ran))
		if left := end.Sub(now); left.Abs() <= 2*luck {
			time.Sleep(left + 2*luck)
		}
	}
}

// reply sets the command's answer.
func (r *recorder) reply(c redis.Cmder, answer any) error {
	if answer == nil {
		if b, ok := c.(*redis.BoolCmd); ok { // SET NX that was not granted
			b.SetVal(false)
			return nil
		}
		return redis.Nil
	}
	switch c := c.(type) {
	case *redis.Cmd:
		c.SetVal(answer)
	case *redis.BoolCmd:
		c.SetVal(answer == "OK" || answer == int64(1))
	case *redis.IntCmd:
		c.SetVal(answer.(int64))
	case *redis.StatusCmd:
		c.SetVal(answer.(string))
	case *redis.StringCmd:
		c.SetVal(answer.(string))
	case *redis.SliceCmd:
		c.SetVal(answer.([]any))
	default:
		r.t.Errorf("the recorder cannot answer a %T: %v", c, c)
	}
	return nil
}
