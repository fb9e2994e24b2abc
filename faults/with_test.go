package faults_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/faults"
)

// pauser is a world that can pause, and nothing else.
type pauser struct{ did []string }

func (p *pauser) Pause(process string, _ time.Duration) error {
	p.did = append(p.did, process)
	return nil
}

// TestWith shows that an action finds an ability in either of two worlds, in the
// second before the first, also where worlds lie on top of others; and that what
// none of them can do is an error.
func TestWith(t *testing.T) {
	under, over, top := &notebook{}, &pauser{}, &pauser{}
	world := faults.With(under, over)
	for _, apply := range []struct {
		action faults.Action
		world  any
	}{
		{faults.Pause{Process: "c0", For: time.Second}, world},
		{faults.Restart{Process: "c1"}, world},
		{faults.Pause{Process: "c2", For: time.Second}, faults.With(world, top)},
		{faults.Restart{Process: "c3"}, faults.With(world, top)},
		{faults.Pause{Process: "c4", For: time.Second}, faults.With(struct{}{}, world)},
	} {
		if err := apply.action.Apply(apply.world); err != nil {
			t.Error(err)
		}
	}
	for whose, did := range map[string][2][]string{
		"under": {{"restart c1", "restart c3"}, under.did}, "over": {{"c0", "c4"}, over.did}, "top": {{"c2"}, top.did},
	} {
		if diff := cmp.Diff(did[0], did[1]); diff != "" {
			t.Errorf("%s did (-want +got):\n%s", whose, diff)
		}
	}
	if err := (faults.Restart{Process: "c0"}).Apply(faults.With(over, top)); !errors.Is(err, faults.ErrUnable) {
		t.Errorf("what neither can do: %v", err)
	}
}
