package etcd_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/etcd"
	"locksim/sim/trace"
)

// keyChanges are the changes of watched keys: "key=value change by client (request of client), over value of client,
// left". Of a value the number of the revision is left out, and the time left is to the tenth of a second.
func keyChanges(t *testing.T, cfg sim.Config, keys []string,
	f func(w *sim.World)) (text []string, all []trace.KeyChange) {
	t.Helper()
	cfg.Latency = sim.Latency{Min: time.Millisecond, Max: time.Millisecond}
	_, err := sim.Run(cfg, func(w *sim.World) error {
		w.WatchKeys(keys...)
		f(w)
		err := w.RunUntil(w.Idle)
		last, events := 0, w.Trace().Events
		for _, k := range w.KeyChanges() {
			if k.Step < last || k.Step > len(events) || k.Change != trace.KeyProlonged && events[k.Step-1].Peer != k.Asked {
				t.Errorf("%+v is not at its step, or before the one before it", k)
			}
			last = k.Step
			all = append(all, k)
			k.Left.Time = k.Left.Time.Round(100 * time.Millisecond)
			line := fmt.Sprintf("%s=%s %s by %s", k.Key, valueOf(k.Value), k.Change, k.By)
			if k.Asked != "" {
				line += fmt.Sprintf(" (%s of %s)", k.Request, k.Asked)
			}
			if k.Over {
				line += fmt.Sprintf(", over %s of %s", valueOf(k.Was), k.WasOf)
			}
			text = append(text, fmt.Sprintf("%s, %v", line, k.Left))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text, all
}

func valueOf(s string) string {
	if _, value, ok := strings.Cut(s, ": "); ok {
		return value
	}
	return s
}

// client is a client of a member, which does one thing at a time.
type client struct {
	*clientv3.Client
	t   *testing.T
	ctx context.Context
	p   *sim.Process
}

func clientOf(t *testing.T, p *sim.Process, member string) *client {
	t.Helper()
	c, err := etcd.Client(p, member)
	if err != nil {
		t.Fatal(err)
	}
	return &client{c, t, p.Context(), p}
}

func (c *client) sleep(d time.Duration) { _ = c.p.Clock().Sleep(c.ctx, d) }

func (c *client) put(key, value string, lease clientv3.LeaseID) {
	if _, err := c.Put(c.ctx, key, value, clientv3.WithLease(lease)); err != nil {
		c.t.Error(err)
	}
}

func (c *client) delete(key string) {
	if _, err := c.Delete(c.ctx, key); err != nil {
		c.t.Error(err)
	}
}

func (c *client) lease(seconds int64) clientv3.LeaseID {
	l, err := c.Grant(c.ctx, seconds)
	if err != nil {
		c.t.Error(err)
		return 0
	}
	return l.ID
}

func (c *client) keepAlive(id clientv3.LeaseID) {
	if _, err := c.KeepAliveOnce(c.ctx, id); err != nil {
		c.t.Error(err)
	}
}

// The record has of each change of a key what made it, what it replaced, and the time that its lease had left by the
// clock of the leader.
func TestKeyChanges(t *testing.T) {
	for _, tt := range []struct {
		name string
		key  string
		f    func(c, other *client)
		want []string
	}{
		{"without a lease", "k", func(c, _ *client) {
			c.put("k", "a", 0)
			c.put("k", "a", 0)
			c.delete("k")
		}, []string{"k=a set by c0 (PutRequest of c0), no key", "k= deleted by c0 (DeleteRangeRequest of c0), no end"}},
		{"overwritten by its client", "k", func(c, _ *client) {
			c.put("k", "a", c.lease(10))
			c.sleep(4 * time.Second)
			c.put("k", "b", 0)
		}, []string{"k=a set by c0 (PutRequest of c0), no key", "k=b set by c0 (PutRequest of c0), over a of c0, 6s"}},
		{"overwritten by another client", "k", func(c, other *client) {
			c.put("k", "a", 0)
			other.put("k", "b", 0)
		}, []string{
			"k=a set by c0 (PutRequest of c0), no key",
			"k= deleted by c1 (PutRequest of c1), over a of c0, no end", "k=b set by c0 (PutRequest of c1), over a of c0, " +
				"no end",
		}},
		{"prolonged and expired", "k", func(c, other *client) {
			id := c.lease(10)
			c.put("k", "a", id)
			c.sleep(4 * time.Second)
			c.keepAlive(id)
			c.sleep(3 * time.Second)
			other.keepAlive(id)
			c.sleep(20 * time.Second)
		}, []string{
			"k=a set by c0 (PutRequest of c0), no key",
			"k=a prolonged by c0 (LeaseKeepAliveRequest of c0), 6s", "k=a prolonged by c1 (LeaseKeepAliveRequest of c1), 7s",
			"k= expired by , -500ms",
		}},
		{"revoked", "k", func(c, _ *client) {
			id := c.lease(10)
			c.put("k", "a", id)
			c.sleep(4 * time.Second)
			if _, err := c.Revoke(c.ctx, id); err != nil {
				c.t.Error(err)
			}
		}, []string{"k=a set by c0 (PutRequest of c0), no key", "k= deleted by c0 (LeaseRevokeRequest of c0), 6s"}},
		{"a queue", "q/", func(c, other *client) {
			id := c.lease(10)
			c.put("q/a", "", id)
			other.put("q/b", "", 0)
			c.sleep(4 * time.Second)
			c.keepAlive(id)
			other.delete("q/a")
			other.put("q/c", "", 0)
			other.delete("q/b")
		}, []string{
			"q/=q/a set by c0 (PutRequest of c0), no key", "q/=q/a prolonged by c0 (LeaseKeepAliveRequest of c0), 6s",
			"q/=q/b set by c1 (DeleteRangeRequest of c1), 10s", "q/=q/c set by c1 (DeleteRangeRequest of c1), no end",
		}},
		{"a queue whose first one leaves", "q/", func(c, other *client) {
			c.put("q/a", "", 0)
			other.put("q/b", "", 0)
			c.delete("q/a")
		}, []string{
			"q/=q/a set by c0 (PutRequest of c0), no key",
			"q/= deleted by c0 (DeleteRangeRequest of c0), no end", "q/=q/b set by c1 (DeleteRangeRequest of c0), no end",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := keyChanges(t, sim.Config{Clients: 2, Servers: []sim.Kind{etcd.Servers{}}}, []string{tt.key},
				func(w *sim.World) {
					c, other := clientOf(t, w.Client(0), "e0"), clientOf(t, w.Client(1), "e0")
					c.p.Go(func() { tt.f(c, other) })
				})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A leader that has followed another one gives each lease its time again: no request does, and the time that was left
// by the clock of the former leader is not known. A renewal through another member is that of its client. Equal seeds
// give equal records.
func TestKeyChangesOfANewLeader(t *testing.T) {
	cfg := sim.Config{Seed: 3, Clients: 2, Servers: []sim.Kind{etcd.Servers{Members: 3}}}
	play := func() ([]string, []trace.KeyChange) {
		return keyChanges(t, cfg, []string{"k"}, func(w *sim.World) {
			var followers []*client
			w.Client(0).Go(func() {
				for i := range 3 {
					followers = append(followers, clientOf(t, w.Client(0), fmt.Sprint("e", i)))
				}
				id := followers[0].lease(60)
				followers[0].put("k", "a", id)
				followers[0].sleep(4 * time.Second)
				for _, c := range followers {
					c.keepAlive(id)
					c.sleep(time.Second)
				}
				followers[0].sleep(30 * time.Second)
			})
			w.At(20*time.Second, func() {
				if err := w.Faults().Crash(etcd.Leader, faults.CrashPower); err != nil {
					t.Error(err)
				}
			})
		})
	}
	got, first := play()
	if diff := cmp.Diff([]string{
		"k=a set by c0 (PutRequest of c0), no key",
		"k=a prolonged by c0 (LeaseKeepAliveRequest of c0), 56s", "k=a prolonged by c0 (LeaseKeepAliveRequest of c0), 59s",
		"k=a prolonged by c0 (LeaseKeepAliveRequest of c0), 59s", "k=a prolonged by , unknown",
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, again := play(); !cmp.Equal(first, again) {
		t.Errorf("an equal seed gives another record:\n%s", cmp.Diff(first, again))
	}
}
