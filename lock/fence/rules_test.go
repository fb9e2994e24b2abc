package fence_test

import (
	"errors"
	"fmt"
	"testing"

	"locksim/lock/fence"
)

type op struct {
	kind  string // "read" or "write"
	token uint64
	stale bool // whether it must be refused
}

func r(token uint64) op { return op{"read", token, false} }
func w(token uint64) op { return op{"write", token, false} }

func (o op) refused() op { o.stale = true; return o }

func (o op) apply(m fence.Mode, s fence.State) (fence.State, error) {
	if o.kind == "read" {
		return m.Read(s, o.token)
	}
	return m.Write(s, o.token)
}

func TestRules(t *testing.T) {
	for _, tc := range []struct {
		name    string
		mode    fence.Mode
		ops     []op
		highest uint64
	}{
		{"none accepts everything and remembers nothing", fence.None, []op{r(2), w(2), w(1), r(1), w(0)}, 0},
		{"check refuses a lower write", fence.Check, []op{w(2), w(1).refused(), w(3)}, 3},
		{"check accepts an equal write", fence.Check, []op{w(2), w(2)}, 2},
		{"check is not raised by reads, so F14 passes", fence.Check, []op{r(1), r(2), w(1), w(2)}, 2},
		{"check never refuses a read", fence.Check, []op{w(2), r(1), r(0)}, 2},
		{"check refuses a write without a token after one with it", fence.Check, []op{w(0), w(1), w(0).refused()}, 1},
		{"seal is raised by reads, so F14 is refused", fence.Seal, []op{r(1), r(2), w(1).refused(), w(2)}, 2},
		{"seal refuses a lower read", fence.Seal, []op{w(2), r(1).refused()}, 2},
		{"seal accepts equal operations", fence.Seal, []op{r(2), w(2), r(2), w(2)}, 2},
		{"seal refuses a missing token once a read showed one", fence.Seal, []op{r(0), w(0), r(1), w(0).refused(), r(0).refused()}, 1},
		{"a refusal changes nothing", fence.Seal, []op{w(5), w(4).refused(), r(3).refused(), w(5)}, 5},
		{"the largest token", fence.Seal, []op{w(1<<64 - 1), w(1<<64 - 2).refused()}, 1<<64 - 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var s fence.State
			for i, o := range tc.ops {
				next, err := o.apply(tc.mode, s)
				if o.stale != errors.Is(err, fence.ErrStale) || (err != nil && !o.stale) {
					t.Fatalf("operation %d, %s with token %d: error %v, want stale %v", i, o.kind, o.token, err, o.stale)
				}
				if o.stale && next != s {
					t.Fatalf("operation %d was refused and changed the state from %v to %v", i, s, next)
				}
				s = next
			}
			if s.Highest != tc.highest {
				t.Errorf("highest token is %d, want %d", s.Highest, tc.highest)
			}
		})
	}
}

func TestParseMode(t *testing.T) {
	for _, m := range fence.Modes() {
		if got, err := fence.ParseMode(string(m)); got != m || err != nil {
			t.Errorf("ParseMode(%q) = %q, %v", m, got, err)
		}
	}
	_, err := fence.ParseMode("Seal")
	if want := `unknown fencing mode "Seal": want one of ["none" "check" "seal"]`; err == nil || err.Error() != want {
		t.Errorf("ParseMode of a wrong name: %v, want %s", err, want)
	}
}

func TestNeedsToken(t *testing.T) {
	want := map[fence.Mode]bool{fence.None: false, fence.Check: true, fence.Seal: true}
	for _, m := range fence.Modes() {
		if m.NeedsToken() != want[m] {
			t.Errorf("%s.NeedsToken() = %v", m, m.NeedsToken())
		}
	}
}

func TestUnknownModePanics(t *testing.T) {
	defer func() {
		if got := fmt.Sprint(recover()); got != `fence: "" is not a mode` {
			t.Errorf("panic %q", got)
		}
	}()
	_, _ = fence.Mode("").Write(fence.State{}, 1)
}
