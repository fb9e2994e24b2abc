package zookeeper_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/google/go-cmp/cmp"

	"locksim/sim"
	"locksim/sim/zookeeper"
)

// The record has of each change of a node what made it and what it replaced. No clock ends a node: it goes with its
// session.
func TestKeyChanges(t *testing.T) {
	for _, tt := range []struct {
		name string
		key  string
		f    func(c, other *zk.Conn) error
		want []string
	}{
		{"set, overwritten and deleted", "/k", func(c, other *zk.Conn) error {
			_, err := c.Create("/k", []byte("a"), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
			if err == nil {
				_, err = c.Set("/k", []byte("b"), -1)
			}
			if err == nil {
				_, err = other.Set("/k", []byte("c"), -1)
			}
			if err == nil {
				err = other.Delete("/k", -1)
			}
			return err
		}, []string{
			"/k=a set by c0 (create of c0), no key", "/k=b set by c0 (set of c0), over a of c0, as long as its session",
			"/k= deleted by c1 (set of c1), over b of c0, as long as its session",
			"/k=c set by c0 (set of c1), over b of c0, as long as its session",
			"/k= deleted by c1 (delete of c1), as long as its session",
		}},
		{"with its session", "/k", func(c, _ *zk.Conn) error {
			_, err := c.Create("/k", []byte("a"), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
			c.Close()
			return err
		}, []string{"/k=a set by c0 (create of c0), no key", "/k= deleted by c0 (close of c0), as long as its session"}},
		{"expired", "/k", func(c, _ *zk.Conn) error {
			_, err := c.Create("/k", []byte("a"), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
			time.Sleep(time.Minute)
			return err
		}, []string{"/k=a set by c0 (create of c0), no key", "/k= expired by , as long as its session"}},
		{"a queue", "/q/", func(c, other *zk.Conn) error {
			_, err := c.Create("/q", nil, 0, zk.WorldACL(zk.PermAll))
			if err == nil {
				_, err = c.Create("/q/a", nil, 0, zk.WorldACL(zk.PermAll))
			}
			if err == nil {
				_, err = other.Create("/q/b", nil, 0, zk.WorldACL(zk.PermAll))
			}
			if err == nil {
				err = c.Delete("/q/a", -1)
			}
			return err
		}, []string{
			"/q/=a set by c0 (create of c0), no key", "/q/= deleted by c0 (delete of c0), no end",
			"/q/=b set by c1 (delete of c0), no end",
		}},
		{"the members of a queue", "/q/*", func(c, other *zk.Conn) error {
			_, err := c.Create("/q", nil, 0, zk.WorldACL(zk.PermAll))
			if err == nil {
				_, err = c.Create("/q/a", nil, 0, zk.WorldACL(zk.PermAll))
			}
			if err == nil {
				err = other.Delete("/q/a", -1)
			}
			return err
		}, []string{"/q/*=a set by c0 (create of c0), no key", "/q/*= deleted by c1 (delete of c1), no end"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			play := func() (got, full []string) {
				cfg := sim.Config{Seed: 1, Clients: 2, Servers: []sim.Kind{zookeeper.Servers{}}}
				_, err := sim.Run(cfg, func(w *sim.World) error {
					w.WatchKeys(tt.key)
					w.Client(0).Go(func() {
						c, err := zookeeper.Connect(w.Client(0), 10*time.Second, nil, "z0")
						if err != nil {
							t.Error(err)
							return
						}
						other, err := zookeeper.Connect(w.Client(1), 10*time.Second, nil, "z0")
						if err != nil {
							t.Error(err)
							return
						}
						if err := tt.f(c, other); err != nil {
							t.Error(err)
						}
					})
					w.At(5*time.Second, func() {
						if tt.name == "expired" {
							if err := w.Faults().Pause("c0", 50*time.Second); err != nil {
								t.Error(err)
							}
						}
					})
					err := w.RunUntil(w.Idle)
					for _, k := range w.KeyChanges() {
						full = append(full, fmt.Sprintf("%+v", k))
						if event := w.Trace().Events[k.Step-1]; event.Peer != k.Asked {
							t.Errorf("%+v: its step is %s", k, event.String())
						}
						line := fmt.Sprintf("%s=%s %s by %s", k.Key, valueOf(k.Value), k.Change, k.By)
						if k.Asked != "" {
							line += fmt.Sprintf(" (%s of %s)", k.Request, k.Asked)
						}
						if k.Over {
							line += fmt.Sprintf(", over %s of %s", valueOf(k.Was), k.WasOf)
						}
						got = append(got, fmt.Sprintf("%s, %v", line, k.Left))
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				return got, full
			}
			got, first := play()
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, again := play(); !cmp.Equal(first, again) {
				t.Errorf("an equal seed gives another record:\n%s", cmp.Diff(first, again))
			}
		})
	}
}

// valueOf is the value of a node without the number of the transaction that has created it.
func valueOf(s string) string {
	if _, value, ok := strings.Cut(s, ": "); ok {
		return value
	}
	return s
}
