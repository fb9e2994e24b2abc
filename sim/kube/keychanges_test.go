package kube_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	client "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"locksim/sim"
	"locksim/sim/kube"
)

// The record has of each write of a lease whose it was, what it replaced, and the time that was left by the clock of
// the store, for clients that have seen the write before it. Equal seeds give equal records.
func TestKeyChanges(t *testing.T) {
	play := func() (got, full []string) {
		var over *sim.World
		inWorld(t, "application/json", func(w *sim.World, p *sim.Process, first, _ client.LeaseInterface) {
			over = w
			w.WatchKeys(kube.Key("default", "l"))
			now, err := first.Create(p.Context(), lease("a", 15), meta.CreateOptions{})
			renew := func() { // an update that changes nothing is no write
				at := meta.NewMicroTime(p.Clock().Now())
				now.Spec.RenewTime = &at
				now, err = first.Update(p.Context(), now, meta.UpdateOptions{})
			}
			for _, holder := range []string{"a", "b", ""} {
				_ = p.Clock().Sleep(p.Context(), 4*time.Second)
				if err == nil {
					now.Spec.HolderIdentity = &holder
					renew()
				}
			}
			for _, after := range []time.Duration{time.Second, 20 * time.Second} { // the second time it is over
				_ = p.Clock().Sleep(p.Context(), after)
				if holder := "c"; err == nil {
					now.Spec.HolderIdentity = &holder
					renew()
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
		for _, k := range over.KeyChanges() {
			full = append(full, fmt.Sprintf("%+v", k))
			if event := over.Trace().Events[k.Step-1]; event.Peer != k.Asked || k.By != k.Asked {
				t.Errorf("%+v: its step is %s", k, event.String())
			}
			k.Left.Time = k.Left.Time.Round(100 * time.Millisecond)
			line := fmt.Sprintf("%s %s by %s (%s)", k.Value, k.Change, k.By, k.Request)
			if k.Over {
				line += fmt.Sprintf(", over %s of %s", k.Was, k.WasOf)
			}
			got = append(got, fmt.Sprintf("%s, %v", line, k.Left))
		}
		return got, full
	}
	got, first := play()
	if want := []string{
		"a set by c0 (create), no key", "a prolonged by c0 (renew), 11s",
		" deleted by c0 (take), over a of c0, 11s", "b set by c0 (take), over a of c0, 11s",
		" deleted by c0 (release), 11s", "c set by c0 (take), no key", " expired by  (), 0s", "c set by c0 (renew), no key",
	}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if _, again := play(); !slices.Equal(first, again) {
		t.Errorf("an equal seed gives another record: %q and %q", first, again)
	}
}
