package fence_test

import (
	"errors"
	"fmt"
	"testing"

	"locksim/lock/fence"
)

type op struct {
	verb string // "read" or "write"
	fence.Op
	refused error // its error must wrap it; nil: it must be accepted
}

func r(token uint64) op { return op{verb: "read", Op: fence.Op{Token: token, Grant: "g"}} }
func w(token uint64) op { return op{verb: "write", Op: fence.Op{Token: token, Grant: "g"}} }

func (o op) by(grant string) op { o.Grant = grant; return o }
func (o op) based(v uint64) op  { o.Version = v; return o }
func (o op) stale() op          { o.refused = fence.ErrStale; return o }
func (o op) withoutGrant() op   { o.Grant, o.refused = "", fence.ErrNoGrant; return o }
func (o op) String() string     { return fmt.Sprintf("%s %+v", o.verb, o.Op) }
func (o op) apply(m fence.Mode, s fence.State) (fence.State, error) {
	if o.verb == "read" {
		return m.Read(s, o.Op)
	}
	return m.Write(s, o.Op)
}

func TestRules(t *testing.T) {
	const top = 1<<64 - 1
	for _, tc := range []struct {
		name string
		mode fence.Mode
		ops  []op
		want fence.State
	}{
		{"none accepts everything and changes nothing", fence.None,
			[]op{r(2), w(2), w(1), r(1), w(0).by("").based(7)}, fence.State{}},

		{"check refuses a lower write", fence.Check, []op{w(2), w(1).stale(), w(3)}, fence.State{Highest: 3}},
		{"check accepts an equal write", fence.Check, []op{w(2), w(2).by("other")}, fence.State{Highest: 2}},
		{"check is not raised by reads, so F14 passes", fence.Check, []op{r(1), r(2), w(1), w(2)}, fence.State{Highest: 2}},
		{"check never refuses a read", fence.Check, []op{w(2), r(1), r(0)}, fence.State{Highest: 2}},
		{"check refuses a write without a token after one with it", fence.Check,
			[]op{w(0), w(1), w(0).stale()}, fence.State{Highest: 1}},

		{"seal is raised by reads, so F14 is refused", fence.Seal,
			[]op{r(1), r(2), w(1).stale(), w(2)}, fence.State{Highest: 2}},
		{"seal refuses a lower read", fence.Seal, []op{w(2), r(1).stale()}, fence.State{Highest: 2}},
		{"seal accepts equal operations of any grant", fence.Seal,
			[]op{r(2), w(2), r(2).by("other"), w(2).by("")}, fence.State{Highest: 2}},
		{"seal refuses a missing token once a read showed one", fence.Seal,
			[]op{r(0), w(0), r(1), w(0).stale(), r(0).stale()}, fence.State{Highest: 1}},
		{"a refusal changes nothing", fence.Seal, []op{w(5), w(4).stale(), r(3).stale(), w(5)}, fence.State{Highest: 5}},
		{"the largest token", fence.Seal, []op{w(top), w(top - 1).stale()}, fence.State{Highest: top}},

		{"strict refuses what seal refuses", fence.Strict,
			[]op{r(1), r(2), w(1).stale(), r(1).stale(), w(2)}, fence.State{Highest: 2, Grant: "g"}},
		{"strict refuses the equal token of another grant", fence.Strict,
			[]op{r(2), r(2).by("h").stale(), w(2).by("h").stale(), w(2), r(3).by("h")}, fence.State{Highest: 3, Grant: "h"}},
		{"strict stores the grant of a write too", fence.Strict,
			[]op{w(2).by("h"), w(2).stale()}, fence.State{Highest: 2, Grant: "h"}},
		{"strict treats a missing token as a token", fence.Strict,
			[]op{r(0), w(0), w(0).by("h").stale(), r(1).by("h"), w(0).stale()}, fence.State{Highest: 1, Grant: "h"}},
		{"strict needs grants", fence.Strict, []op{r(1).withoutGrant(), w(1).withoutGrant()}, fence.State{}},

		{"claim accepts writes after a read of the same grant", fence.Claim, []op{r(0), w(0), w(0)}, fence.State{Grant: "g"}},
		{"another read ends a claim, so F14 is refused", fence.Claim,
			[]op{r(0), r(0).by("h"), w(0).stale(), w(0).by("h")}, fence.State{Grant: "h"}},
		{"a late read takes the claim", fence.Claim,
			[]op{r(2), r(1).by("late"), w(2).stale(), w(1).by("late")}, fence.State{Grant: "late"}},
		{"claim refuses a write without a read", fence.Claim, []op{w(0).stale(), r(0), w(0).by("h").stale()},
			fence.State{Grant: "g"}},
		{"claim needs grants", fence.Claim, []op{r(0).withoutGrant(), w(0).withoutGrant()}, fence.State{}},

		{"cas accepts one write on each version", fence.CAS,
			[]op{r(0), w(0), w(0).stale(), w(0).based(1).by("")}, fence.State{Version: 2}},
		{"cas refuses a version above the stored one", fence.CAS, []op{w(0).based(1).stale()}, fence.State{}},
		{"cas ignores tokens", fence.CAS, []op{w(9), w(1).based(1)}, fence.State{Version: 2}},
		{"cas never refuses a read", fence.CAS, []op{w(9), r(0), r(1).based(7)}, fence.State{Version: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var s fence.State
			for i, o := range tc.ops {
				next, err := o.apply(tc.mode, s)
				if !errors.Is(err, o.refused) || (err != nil && o.refused == nil) {
					t.Fatalf("operation %d, %v: error %v, want %v", i, o, err, o.refused)
				}
				if err != nil && next != s {
					t.Fatalf("operation %d was refused and changed the state from %+v to %+v", i, s, next)
				}
				s = next
			}
			if s != tc.want {
				t.Errorf("state is %+v, want %+v", s, tc.want)
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
	want := `unknown fencing mode "Seal": want one of ["none" "check" "seal" "strict" "claim" "cas"]`
	if err == nil || err.Error() != want {
		t.Errorf("ParseMode of a wrong name: %v, want %s", err, want)
	}
}

func FuzzParseMode(f *testing.F) {
	for _, s := range []string{"", "seal", "Seal", " cas", "none\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := fence.ParseMode(s)
		if err != nil {
			return
		}
		m.NeedsToken() // panics on an unknown mode
		if string(m) != s {
			t.Errorf("ParseMode(%q) = %q", s, m)
		}
	})
}

func TestNeeds(t *testing.T) {
	type needs struct{ token, grant bool }
	want := map[fence.Mode]needs{
		fence.None: {}, fence.Check: {token: true}, fence.Seal: {token: true},
		fence.Strict: {token: true, grant: true}, fence.Claim: {grant: true}, fence.CAS: {},
	}
	for _, m := range fence.Modes() {
		if got := (needs{m.NeedsToken(), m.NeedsGrant()}); got != want[m] {
			t.Errorf("%s needs %+v, want %+v", m, got, want[m])
		}
	}
}

func TestUnknownModePanics(t *testing.T) {
	defer func() {
		if got := fmt.Sprint(recover()); got != `fence: "" is not a mode` {
			t.Errorf("panic %q", got)
		}
	}()
	_, _ = fence.Mode("").Write(fence.State{}, fence.Op{Token: 1})
}
