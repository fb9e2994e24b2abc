package redis_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/faults"
	"locksim/sim"
)

const loading = "LOADING Redis is loading the dataset in memory"

// TestErrorReplyLoading shows that a server which loads refuses what concerns its data, that it carries
// out nothing of it, and that it counts what it has refused.
func TestErrorReplyLoading(t *testing.T) {
	res := withClient(t, sim.Config{}, func(c *client) {
		c.want("SET k v", "OK")
		c.world(func(w *sim.World) error { return w.Faults().ReplyError("r0", faults.ReplyLoading, 2, 0) })
		c.want("ECHO x", "x") // it does not concern the data
		c.want("DEL k", loading)
		c.want("EVAL redis.call('DEL','k') 0", loading)
		c.want("GET k", "v")
		c.world(func(w *sim.World) error { return w.Faults().ReplyError("r0", faults.ReplyLoading, 0, time.Second) })
		c.want("GET k", loading)
		c.want("PING", loading)
		c.want("MULTI", "OK")
		c.want("DEL k", loading)
		c.want("EXEC", "EXECABORT Transaction discarded because of previous errors.")
		time.Sleep(time.Second)
		c.want("GET k", "v")
		c.want("MULTI", "OK")
		c.want("DEL k", "QUEUED")
		c.world(func(w *sim.World) error { return w.Faults().ReplyError("r0", faults.ReplyLoading, 1, time.Second) })
		c.want("EXEC", "EXECABORT Transaction discarded because of: "+loading)
		c.want("GET k", "v")
		c.world(func(w *sim.World) error {
			for _, err := range []error{
				w.Faults().ReplyError("r0", faults.ReplyDeadlock, 1, 0), w.Faults().ReplyError("r9", faults.ReplyLoading, 1, 0),
				w.Faults().ReplyError("r0", faults.ReplyLoading, -1, 0), w.Faults().ReplyError("r0", faults.ReplyLoading, 1, -1),
			} {
				if err == nil {
					t.Error("it was not refused")
				}
			}
			return nil
		})
	})
	want := []string{"r0: loading, the next 2 requests, until healed", "r0: loading, for 1s",
		"r0: loading, the next request, for 1s"}
	if diff := cmp.Diff(want, texts(res.Trace, "world", "error-reply")); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
	if got := texts(res.Trace, "world", "error-reply-end"); len(got) != 3 {
		t.Errorf("ends %q", got)
	}
}

// TestErrorReplyOOM shows that a server without memory refuses what may need more, in scripts and in
// transactions too, and carries out the rest.
func TestErrorReplyOOM(t *testing.T) {
	const oom = "OOM command not allowed when used memory > 'maxmemory'."
	withClient(t, sim.Config{}, func(c *client) {
		c.want("SET k v", "OK")
		c.want("MULTI", "OK")
		c.want("SET a b", "QUEUED")
		c.world(func(w *sim.World) error { return w.Faults().ReplyError("r0", faults.ReplyOOM, 0, 0) })
		c.want("EXEC", "EXECABORT Transaction discarded because of: "+oom)
		c.want("SET k w", oom)
		c.want("GET k", "v")
		c.want("PEXPIRE k 60000", "1")
		c.want("EVAL redis.call('DEL','k')return'done' 0", "done")
		c.want("GET k", "nil")
		c.want("EVAL redis.call('DEL','k')redis.call('SET','k','x')return'done' 0", "done") // it has written before
		c.want("GET k", "x")
		c.want("EVAL redis.call('SET','k','y')return'done' 0", oom)
		c.want("GET k", "x")
		c.want("DEL k", "1")
		c.world(func(w *sim.World) error { w.Heal(); return nil })
		c.want("SET k w", "OK")
	})
}

// TestErrorReplyIsFelt shows that the fault is felt when a request meets it.
func TestErrorReplyIsFelt(t *testing.T) {
	for command, want := range map[string]bool{"GET k": false, "SET k v": true} {
		felt := false
		withClient(t, sim.Config{}, func(c *client) {
			c.world(func(w *sim.World) error {
				return w.Faults().WhenFelt(func() { felt = true }).ReplyError("r0", faults.ReplyOOM, 1, 0)
			})
			c.do(command)
		})
		if felt != want {
			t.Errorf("%s: felt %v, want %v", command, felt, want)
		}
	}
}
