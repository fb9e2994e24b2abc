package play_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
)

const shop = `name: shop
lock: {ttl: 10s, backoff: 50ms..200ms}
workload: {rounds: 1, stagger: 1s}
`

const nestedShop = `name: shop
lock: {kind: fenced}
workload: {nested: 1}
`

// sell is the section of scenario order-and-stock, in Go.
func sell(_ context.Context, h subject.Holder) error {
	if _, err := h.Read("stock"); err != nil {
		return err
	}
	if err := h.Work(2 * time.Second); err != nil { // the payment
		return err
	}
	if err := h.Check(); err != nil {
		return err
	}
	if _, err := h.Read("order"); err != nil {
		return err
	}
	if err := h.Write("order"); err != nil {
		return err
	}
	return h.Write("stock")
}

// sectioned plays a scenario with lock single and a section.
func sectioned(t *testing.T, source string, s subject.Section, modes ...fence.Mode) (*outcome.Outcome, error) {
	t.Helper()
	l := testruns.Kind(t, "fenced")
	l.Section = s
	return play.Run(testruns.Parse(t, source), l, play.RunOptions{Seed: 1, Modes: modes, Repeat: outcome.Twice})
}

// A section in Go has the same run as its steps in a file.
func TestSectionInGoIsThatOfAFile(t *testing.T) {
	sc, err := file.Load("order-and-stock")
	if err != nil {
		t.Fatal(err)
	}
	l, modes := testruns.Kind(t, "fenced"), fence.Modes()
	want := testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Modes: modes})
	l.Section = subject.Section{Writes: []string{"order", "stock"}, Run: sell}
	got := testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Modes: modes})
	if d := play.Differ(l, want, got); d != nil {
		t.Error(d)
	}
	for i := range modes {
		if g, w := got.Modes[i].Verdict.Label, want.Modes[i].Verdict.Label; g != w {
			t.Errorf("mode %s: %s in Go, %s in the file", modes[i], g, w)
		}
	}
}

// What the checker could not judge is an error of the run that says what to do.
func TestSectionMisuse(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  func(h subject.Holder)
		want string
	}{
		{"write before read", func(h subject.Holder) { _ = h.Write("stock") }, "writes stock and has not read it"},
		{"read twice", func(h subject.Holder) { _, _ = h.Read("stock"); _, _ = h.Read("stock") }, "reads stock twice"},
		{"written twice", func(h subject.Holder) { _, _ = h.Read("stock"); _ = h.Write("stock"); _ = h.Write("stock") },
			"writes stock twice"},
		{"not declared", func(h subject.Holder) { _, _ = h.Read("bill"); _ = h.Write("bill") },
			"writes bill, which is not in its Writes"},
		{"no register", func(h subject.Holder) { _, _ = h.Read("The Stock") },
			`reads "The Stock", which cannot be a register`},
		{"a part", func(h subject.Holder) { _, _ = h.Read("stock"); _ = h.Write("stock") },
			"returned nil and wrote stock alone"},
		{"read at the end", func(h subject.Holder) {
			for _, r := range []string{"stock", "order"} {
				_, _ = h.Read(r)
				_ = h.Write(r)
			}
			_, _ = h.Read("bill")
		}, "reads bill after its last write"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := sectioned(t, shop, subject.Section{Writes: []string{"stock", "order"},
				Run: func(_ context.Context, h subject.Holder) error {
					tt.run(h)
					return nil
				}}, fence.None)
			if _, ok := errors.AsType[*file.InputError](err); !ok ||
				!strings.Contains(err.Error(), "the Section of lock fenced, on c0, "+tt.want) {
				t.Errorf("error %v, want an *file.InputError with %q", err, tt.want)
			}
		})
	}
}

func TestSectionValidate(t *testing.T) {
	run := func(context.Context, subject.Holder) error { return nil }
	for want, s := range map[string]subject.Section{
		"the Section has Writes and no Run":     {Writes: []string{"stock"}},
		"cannot be a register":                  {Writes: []string{"my stock"}, Run: run},
		"has stock twice in its Writes":         {Writes: []string{"stock", "stock"}, Run: run},
		"which has no section within it: leave": {Run: run},
	} {
		if _, err := sectioned(t, nestedShop, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// A section that writes nothing, and one that stops by an error of its own before it
// writes, are right; one that stops between its writes is torn.
func TestSectionStops(t *testing.T) {
	errSoldOut := errors.New("sold out")
	for name, tt := range map[string]struct {
		run  func(h subject.Holder) error
		want checker.Label
	}{
		"only reads": {func(h subject.Holder) error { _, err := h.Read("stock"); return err }, checker.Safe},
		"before":     {func(h subject.Holder) error { _, _ = h.Read("stock"); return errSoldOut }, checker.Safe},
		"between": {func(h subject.Holder) error {
			_, _ = h.Read("stock")
			_ = h.Write("stock")
			return errSoldOut
		}, checker.Corrupted},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := sectioned(t, shop, subject.Section{Writes: []string{"stock", "order"},
				Run: func(_ context.Context, h subject.Holder) error {
					return tt.run(h)
				}}, fence.None)
			if err != nil {
				t.Fatal(err)
			}
			if v := o.Modes[0].Verdict; v.Label != tt.want {
				t.Errorf("%s, want %s: %v", v.Label, tt.want, v.Reasons)
			}
		})
	}
}

// Where a section looks at its lease and finds it over, its belief ends, also in a
// scenario whose clients do not check it; without the look it goes on to the release.
func TestCheckEndsBelief(t *testing.T) {
	const late = shop + "faults: [{when: {client: c0, event: read}, pause: {process: c0, for: 15s}}]\n"
	for _, looks := range []bool{true, false} {
		o, err := sectioned(t, late,
			subject.Section{Writes: []string{"stock"}, Run: func(_ context.Context, h subject.Holder) error {
				if _, err := h.Read("stock"); err != nil {
					return err
				}
				if looks {
					if err := h.Check(); err != nil {
						return h.Work(time.Second) // which returns the same error at once
					}
				}
				if err := h.Work(time.Second); err != nil {
					return err
				}
				return h.Write("stock")
			}}, fence.None)
		if err != nil {
			t.Fatal(err)
		}
		run := o.Modes[0]
		g := run.History.Grants[0]
		belief := g.Belief(run.History.Care)
		if seen := g.UntilSeen > 0; g.Client != "c0" || seen != looks || looks && belief.End != g.UntilSeen || !looks &&
			belief.End != g.Released {
			t.Errorf("looks %v: the belief of %s ends at %d, the end of its validity is seen at %d, and it releases at %d",
				looks, g.Client, belief.End, g.UntilSeen, g.Released)
		}
		if label := run.Verdict.Label; (label == checker.Corrupted) == looks {
			t.Errorf("looks %v: %s", looks, label)
		}
	}
}

// A section is interrupted by a crash: its context ends, and its steps return errors.
func TestSectionCrash(t *testing.T) {
	var after error
	o, err := sectioned(t, shop+"faults: [{when: {client: c0, event: written}, crash: {process: c0}}]\n",
		subject.Section{Writes: []string{"order", "stock"}, Run: func(ctx context.Context, h subject.Holder) error {
			err := sell(ctx, h)
			if h.Env().Name() == "c0" {
				<-ctx.Done()
				after = h.Check()
			}
			return err
		}}, fence.None)
	if err != nil {
		t.Fatal(err)
	}
	if v := o.Modes[0].Verdict; v.Facts.TornSections != 1 || after == nil {
		t.Errorf("%d torn sections, and a step after the crash returned %v: %v", v.Facts.TornSections, after, v.Reasons)
	}
}

// A section that does not end is an error of the run: it is not the lock's fault.
func TestSectionWithoutEnd(t *testing.T) {
	_, err := sectioned(t, shop, subject.Section{Run: func(ctx context.Context, _ subject.Holder) error {
		<-ctx.Done()
		return ctx.Err()
	}}, fence.None)
	if err == nil || !strings.Contains(err.Error(), "had not ended after") ||
		!strings.Contains(err.Error(), "let it return when its context ends") {
		t.Errorf("error %v", err)
	}
}

// After a read without an answer, and whatever it calls then, a section has the error that it is over.
func TestReadWithoutAnAnswerEndsTheSection(t *testing.T) {
	calls := map[string]func(h subject.Holder) error{
		"read":       func(h subject.Holder) error { _, err := h.Read("stock"); return err },
		"read again": func(h subject.Holder) error { _, err := h.Read("order"); return err },
		"write":      func(h subject.Holder) error { return h.Write("stock") },
		"work":       func(h subject.Holder) error { return h.Work(time.Second) },
		"check":      func(h subject.Holder) error { return h.Check() },
	}
	got := map[string]error{}
	_, err := sectioned(t, "name: cut\nworld: {clients: 1}\nlock: {ttl: 10s}\nworkload: {rounds: 1, timeout: 1s}\n"+
		"faults: [{at: 0s, partition: {between: [c0], and: [s0], for: 1m}}]\n",
		subject.Section{Writes: []string{"stock"}, Run: func(_ context.Context, h subject.Holder) error {
			for _, name := range []string{"read", "read again", "write", "work", "check"} {
				got[name] = calls[name](h)
			}
			return got["read"]
		}}, fence.None)
	if err != nil {
		t.Fatal(err)
	}
	for name := range calls {
		if !errors.Is(got[name], subject.ErrSectionOver) {
			t.Errorf("%s: %v", name, got[name])
		}
	}
}
