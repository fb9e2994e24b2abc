package register

import (
	"bufio"
	"fmt"
	"slices"
	"testing"
	"time"

	"locksim/sim"
)

// The record has of each change of a register what made it, what it replaced, and the time that was left by the
// server's clock. Equal seeds give equal records.
func TestKeyChanges(t *testing.T) {
	play := func() (got, full []string) {
		_, err := sim.Run(sim.Config{Clients: 2, Servers: []sim.Kind{servers(1)}}, func(w *sim.World) error {
			w.WatchKeys("k")
			w.Client(0).Go(func() {
				ask := func(client int, line string) {
					p := w.Client(client)
					conn, err := p.Dial(p.Context(), "tcp", p.Address("k0"))
					if err != nil {
						t.Error(err)
						return
					}
					defer func() { _ = conn.Close() }()
					_, _ = fmt.Fprintln(conn, line)
					if answer, err := bufio.NewReader(conn).ReadString('\n'); answer != "OK\n" {
						t.Errorf("%s: %s, %v", line, answer, err)
					}
				}
				for _, r := range []struct {
					client int
					line   string
				}{
					{0, "CAS k - a 9000"}, {0, "CAS k a a 9000"}, {1, "CAS k a b 9000"}, {1, "CAS k b - 0"}, {0, "CAS k - a 0"},
					{0, "CAS k a c 3000"},
				} {
					ask(r.client, r.line)
					time.Sleep(2 * time.Second)
				}
				time.Sleep(5 * time.Second)
			})
			err := w.RunUntil(w.Idle)
			for _, k := range w.KeyChanges() {
				full = append(full, fmt.Sprintf("%+v", k))
				if event := w.Trace().Events[k.Step-1]; event.Peer != k.Asked || k.By != k.Asked {
					t.Errorf("%+v: its step is %s", k, event.String())
				}
				k.Left.Time = k.Left.Time.Round(time.Second)
				got = append(got, fmt.Sprintf("%s=%s %s by %s %s, over %v: %s of %s, %v", k.Key, k.Value, k.Change, k.By, k.Request,
					k.Over, k.Was, k.WasOf, k.Left))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return got, full
	}
	got, first := play()
	if want := []string{
		"k=a set by c0 CAS, over false:  of , no key", "k=a prolonged by c0 CAS, over false: a of c0, 7s",
		"k=b set by c1 CAS, over true: a of c0, 7s", "k= deleted by c1 CAS, over false: b of c1, 7s",
		"k=a set by c0 CAS, over false:  of , no key", "k=c set by c0 CAS, over true: a of c0, no end",
		"k= expired by  , over false: c of c0, 0s",
	}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if _, again := play(); !slices.Equal(first, again) {
		t.Errorf("an equal seed gives another record: %q and %q", first, again)
	}
}
