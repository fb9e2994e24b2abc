package zklock_test

import (
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"locksim/faults"
	"locksim/lock/zklock"
	"locksim/sim"
	"locksim/sim/zookeeper"
)

// A client whose first server is gone when it connects is with another one after a session timeout, and not after
// seven.
func TestDialerGivesUp(t *testing.T) {
	const timeout = 6 * time.Second
	connected := func(dial func(zk.Dialer) zk.Dialer) (at time.Duration) {
		cfg := sim.Config{Seed: 1, Servers: []sim.Kind{zookeeper.Servers{Count: 3}}, Clients: 1, Untraced: true}
		_, err := sim.Run(cfg, func(w *sim.World) error {
			p := w.Client(0)
			p.Go(func() {
				var once sync.Once
				lost := func(network, address string, timeout time.Duration) (net.Conn, error) {
					c, err := zookeeper.Dialer(p)(network, address, timeout)
					once.Do(func() { // it is connected, and has not asked for a session
						if err := w.Faults().Crash("z0", faults.CrashPower); err != nil {
							t.Error(err)
						}
					})
					return c, err
				}
				c, err := zookeeper.ConnectBy(dial(lost), p, timeout, nil, "z0", "z1", "z2")
				if err != nil {
					t.Error(err)
					return
				}
				if _, _, err := c.Get("/"); err != nil && !errors.Is(err, zk.ErrConnectionClosed) {
					t.Error(err)
				}
				at = w.Now()
			})
			return w.RunUntil(w.Idle)
		})
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	plain := connected(func(d zk.Dialer) zk.Dialer { return d })
	ours := connected(func(d zk.Dialer) zk.Dialer { return zklock.NewDialer(timeout, d, nil).Dial })
	if plain < 6*timeout || ours > timeout {
		t.Errorf("connected after %v without the dialer, after %v with it", plain, ours)
	}
}

// The errors of the inner dialer are those of the dialer.
func TestDialerFails(t *testing.T) {
	want := errors.New("no route")
	d := zklock.NewDialer(time.Second, func(string, string, time.Duration) (net.Conn, error) { return nil, want }, nil)
	if _, err := d.Dial("tcp", "z0", time.Second); !errors.Is(err, want) {
		t.Error(err)
	}
}
