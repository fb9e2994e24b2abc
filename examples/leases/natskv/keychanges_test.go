package natskv_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"locksim/examples/leases/natskv"
	"locksim/scenarios"
)

// The record has of each change of a key whose request it was, and the time that the key had left by the server's
// clock. A value that is stored again is no overwrite. Equal seeds give equal records.
func TestKeyChanges(t *testing.T) {
	const (
		calm = "name: calm\nworld: {nats: 1, clients: 1, latency: 1ms..1ms}\nlock: {kind: %s, ttl: 5s}\nworkload: " +
			"{rounds: 1, hold: 3s, extend: 1}\n"
		crash = calm + "faults:\n  - when: {client: c0, event: written, nth: 1}\n    crash: {process: c0}\n"
	)
	for _, tt := range []struct {
		name, text, lock string
		want             []string
	}{
		{"given back", calm, "nats-kv", []string{
			"set by c0 put, again false, no key", "set by c0 put, again true, 3.5s", "deleted by c0 delete, again false, 3.5s",
		}},
		{"expired", crash, "nats-kv", []string{"set by c0 put, again false, no key", "set by c0 put, again true, 3.5s",
			"expired by  , again false, 0s"}},
		{"kept for ever", calm, "broken/nats-update", []string{
			"set by c0 put, again false, no key", "set by c0 put, again true, 3.5s", "deleted by c0 delete, again false, no end",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			play := func() (got, full []string) {
				i := slices.IndexFunc(natskv.All(), func(l scenarios.Lock) bool { return l.Name == tt.lock })
				l := natskv.All()[i]
				sc, err := scenarios.Parse(tt.name, fmt.Appendf(nil, tt.text, tt.lock), l)
				if err != nil {
					t.Fatal(err)
				}
				o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: 1, Alone: true})
				if err != nil {
					t.Fatal(err)
				}
				for _, k := range o.Modes[0].KeyChanges {
					if k.By == "probe" || k.WasOf == "probe" {
						continue
					}
					full = append(full, fmt.Sprintf("%+v", k))
					again := k.Was != "" && k.Was == k.Value && !k.Over
					k.Left.Time = k.Left.Time.Round(500 * time.Millisecond)
					got = append(got, fmt.Sprintf("%s by %s %s, again %v, %v", k.Change, k.By, k.Request, again, k.Left))
					if k.By != k.Asked {
						t.Errorf("%+v", k)
					}
				}
				return got, full
			}
			got, first := play()
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if _, again := play(); !slices.Equal(first, again) {
				t.Errorf("an equal seed gives another record: %q and %q", first, again)
			}
		})
	}
}
