package consul_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"locksim/faults"
	"locksim/sim"
	"locksim/sim/trace"
)

// The record has of each change of a lock what made it, what it replaced, and the time that its session had left by the
// clock of the leader: up to twice the TTL. A new leader gives it its time again, by no request.
func TestKeyChanges(t *testing.T) {
	for _, tt := range []struct {
		name, key string
		f         func(w world)
		want      []string
	}{
		{"prolonged, and given back", "k", func(w world) {
			id := w.session(`{"TTL": "10s"}`)
			w.is(w.put("kv/k?acquire="+id, ""), "true")
			w.sleep(4 * time.Second)
			w.put("session/renew/"+id, "")
			w.sleep(3 * time.Second)
			w.is(w.put("kv/k?release="+id, ""), "true")
		}, []string{"set by c0 (acquire of c0), no key", "prolonged by c0 (renew of c0), 16s",
			"deleted by c0 (release of c0), 17s"}},
		{"a session without a TTL", "k", func(w world) {
			id := w.session(`{}`)
			w.is(w.put("kv/k?acquire="+id, ""), "true")
			w.put("session/renew/"+id, "")
			w.is(w.put("session/destroy/"+id, ""), "true")
		}, []string{"set by c0 (acquire of c0), no key", "deleted by c0 (destroy of c0), as long as its session"}},
		{"expired", "k", func(w world) {
			w.is(w.put("kv/k?acquire="+w.session(`{"TTL": "10s"}`), ""), "true")
			w.sleep(30 * time.Second)
		}, []string{"set by c0 (acquire of c0), no key", "expired by , 0s"}},
		{"a new leader", "k", func(w world) {
			w.is(w.put("kv/k?acquire="+w.session(`{"TTL": "10s"}`), ""), "true")
			w.after(5*time.Second, func(f *sim.Faults) error { return f.Crash("consul2", faults.CrashProcess) })
			w.sleep(25 * time.Second)
			w.put("kv/k", "the world goes on")
		}, []string{"set by c0 (acquire of c0), no key", "prolonged by , unknown"}},
		{"a semaphore is overwritten", "k/.lock", func(w world) {
			one, two := w.session(`{"TTL": "20s"}`), w.session(`{"TTL": "10s"}`)
			for _, id := range []string{one, two} {
				w.is(w.put("kv/k/"+id+"?acquire="+id, ""), "true")
				w.is(w.put("kv/k/.lock", fmt.Sprintf(`{"Holders": {%q: true}}`, id)), "true")
			}
		}, []string{"set by c0 (set of c0), no key", "set by c0 (set of c0) over another of c0, 40s"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			play := func() (got, full []string) {
				var over *sim.World
				inWorld(t, func(w world) {
					over = w.World
					w.WatchKeys(tt.key)
					tt.f(w)
				})
				for _, k := range over.KeyChanges() {
					full = append(full, fmt.Sprintf("%+v", k))
					if event := over.Trace().Events[k.Step-1]; k.Change != trace.KeyProlonged && event.Peer != k.Asked {
						t.Errorf("%+v: its step is %s", k, event.String())
					}
					line := fmt.Sprintf("%s by %s", k.Change, k.By)
					if k.Asked != "" {
						line += fmt.Sprintf(" (%s of %s)", k.Request, k.Asked)
					}
					if k.Over {
						line += " over another of " + k.WasOf
					}
					k.Left.Time = k.Left.Time.Round(time.Second)
					got = append(got, fmt.Sprintf("%s, %v", line, k.Left))
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
