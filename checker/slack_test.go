package checker

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/lock/promise"
)

// inMilliseconds gives a story a timing: position n is at n milliseconds.
func inMilliseconds(h History) History {
	t := Timing{At: make([]time.Duration, 100)}
	for i := range t.At {
		t.At[i] = time.Duration(i+1) * time.Millisecond
	}
	h.Timing = &t
	return h
}

// left says what was left of the lease at the grant.
func (g Grant) left(d time.Duration) Grant { g.Left = &d; return g }

func (g Grant) doubted(p Pos) Grant { g.Doubted = p; return g }

func voted(client string, at Pos, nodes int) Vote {
	return Vote{Client: client, Resource: "orders", At: at, Nodes: nodes}
}

// Each case has the values of all kinds that a history has; times in milliseconds.
func TestSlack(t *testing.T) {
	type values map[SlackKind]int64
	heldBy := func(client string, from, to Pos) func(*History) {
		return func(h *History) { h.Holdings = append(h.Holdings, holds(client, from, to)) }
	}
	for _, c := range []struct {
		name   string
		grants []Grant
		more   func(h *History)
		want   values
	}{
		// The next client waited when the lease ended, and got the lock 4 ms later.
		{name: "after the lease", grants: []Grant{held(1, "c0", 2, 30).until(10, 0), held(2, "c1", 14, 20).asked(5)},
			want: values{SlackLease: 4}},
		// It asked later: nothing was missed.
		{name: "asked after the end", grants: []Grant{held(1, "c0", 2, 30).until(10, 0), held(2, "c1", 14, 20).asked(10)}},
		{name: "asked just before the end", grants: []Grant{held(1, "c0", 2, 30).until(10, 0),
			held(2, "c1", 14, 20).asked(9)}, want: values{SlackLease: 4}},
		// It got the lock because it was released: that is no miss.
		{name: "after the release", grants: []Grant{held(1, "c0", 2, 10), held(2, "c1", 14, 20).asked(5)},
			want: values{SlackRelease: 4}},
		// The second claim begins where the first ends: they do not overlap.
		{name: "touching", grants: []Grant{held(1, "c0", 2, 30).until(10, 0), held(2, "c1", 10, 20)},
			want: values{SlackLease: 0}},
		{name: "overlap", grants: []Grant{held(1, "c0", 2, 30).until(13, 0), held(2, "c1", 10, 20)},
			want: values{SlackLease: -3}},
		{name: "overlap up to the release", grants: []Grant{held(1, "c0", 2, 13), held(2, "c1", 10, 20)},
			want: values{SlackLease: -3}},
		// It has no end: it lasts to the end of the history.
		{name: "no end", grants: []Grant{held(1, "c0", 2, 0), held(2, "c1", 10, 20)}, want: values{SlackLease: -90}},
		// The least counts: that of the claim that ended last.
		{name: "the last of several", grants: []Grant{held(1, "c0", 2, 0).until(10, 0),
			held(2, "c1", 11, 0).asked(3).until(17, 0), held(3, "c2", 19, 30).asked(4)},
			want: values{SlackLease: 1}},
		{name: "each lock by itself", grants: []Grant{held(1, "c0", 2, 0).until(10, 0),
			held(2, "c1", 11, 20).asked(3).of("stock")}},
		{name: "an empty claim", grants: []Grant{held(1, "c0", 2, 0).until(10, 0), held(2, "c1", 12, 20).asked(3).until(12,
			0)}},
		// The holder could not know better: its claim ends for that, a moment before the grant.
		{name: "in doubt", grants: []Grant{held(1, "c0", 2, 0).doubted(9), held(2, "c1", 10, 20).asked(3)}},
		{name: "in doubt, and after it", grants: []Grant{held(1, "c0", 2, 0).doubted(12), held(2, "c1", 10, 20).asked(3)},
			want: values{SlackLease: -2}},
		// Both are entries of one client, and no miss; the third is another's.
		{name: "entered again", more: func(h *History) { h.Entry = EntryReentrant },
			grants: []Grant{held(1, "c0", 2, 0).until(10, 0), held(2, "c0", 4, 0).until(8, 0), held(3, "c1", 13, 20).asked(3)},
			want:   values{SlackLease: 3}},
		{name: "entered again last", more: func(h *History) { h.Entry = EntryReentrant },
			grants: []Grant{held(1, "c1", 2, 0).until(4, 0), held(2, "c0", 6, 0).until(10, 0).asked(3), held(3, "c0", 9, 20)},
			want:   values{SlackLease: 2}},

		// The nodes' key outlasts the claim, or does not, whether others come or not.
		{name: "key outlasts the lease", grants: []Grant{held(1, "c0", 5, 0).until(10, 0)}, more: heldBy("c0", 3, 16),
			want: values{SlackExpiry: 6}},
		{name: "lease outlasts the key", grants: []Grant{held(1, "c0", 5, 0).until(10, 0)}, more: heldBy("c0", 3, 8),
			want: values{SlackExpiry: -2}},
		{name: "the key is back before the lease ends", grants: []Grant{held(1, "c0", 5, 0).until(14, 0)},
			more: func(h *History) {
				heldBy("c0", 3, 8)(h)
				heldBy("c0", 11, 16)(h)
			}, want: values{SlackExpiry: -3}},
		{name: "key ended before the grant", grants: []Grant{held(1, "c0", 9, 0).until(12, 0).asked(2)},
			more: heldBy("c0", 3, 6), want: values{SlackExpiry: -6}},
		{name: "key of another time", grants: []Grant{held(1, "c0", 9, 0).until(12, 0)}, more: heldBy("c0", 3, 6)},
		{name: "key of another client", grants: []Grant{held(1, "c0", 9, 0).until(12, 0)}, more: heldBy("c1", 3, 10)},
		{name: "key remains", grants: []Grant{held(1, "c0", 9, 0).until(12, 0)}, more: heldBy("c0", 3, 0)},
		{name: "the release ends the key", grants: []Grant{held(1, "c0", 5, 10)}, more: heldBy("c0", 3, 11)},
		{name: "the key ends before the release", grants: []Grant{held(1, "c0", 5, 10)}, more: heldBy("c0", 3, 9),
			want: values{SlackExpiry: -1}},
		{name: "the key ends between two steps", grants: []Grant{held(1, "c0", 5, 0).until(10, 0)},
			more: func(h *History) {
				heldBy("c0", 3, 16)(h)
				h.Holdings[0].Ended = 12 * time.Millisecond
			}, want: values{SlackExpiry: 2}},
		{name: "the holder may be told later", grants: []Grant{held(1, "c0", 5, 0).until(10, 0)}, more: func(h *History) {
			heldBy("c0", 3, 8)(h)
			h.Detection = time.Second
		}},

		// What was left of the lease when it was granted.
		{name: "validity", grants: []Grant{held(1, "c0", 5, 9).left(30 * time.Millisecond),
			held(2, "c0", 12, 19).left(20 * time.Millisecond)}, want: values{SlackValidity: 20}},
		{name: "validity of a late grant", grants: []Grant{held(1, "c0", 5, 9).until(5, 0).left(0)},
			want: values{SlackValidity: 0}},
		{name: "validity after an extension", grants: []Grant{held(1, "c0", 5, 9).left(30 * time.Millisecond)},
			more: func(h *History) {
				left := 10 * time.Millisecond
				h.Calls = append(h.Calls, Call{Client: "c0", Resource: "orders", What: "Extend", About: 5, Called: 6, Returned: 7,
					Result: ResultDone, Left: &left})
			}, want: values{SlackValidity: 10}},

		// Three nodes of five are a majority.
		{name: "votes", grants: []Grant{held(1, "c0", 5, 9)}, more: func(h *History) {
			h.Voters, h.Votes = 5, []Vote{voted("c0", 2, 1), voted("c0", 4, 5), voted("c0", 7, 4), voted("c0", 9, 0)}
		}, want: values{SlackVotes: 1}},
		{name: "votes lost", grants: []Grant{held(1, "c0", 5, 9)}, more: func(h *History) {
			h.Voters, h.Votes = 5, []Vote{voted("c0", 8, 2), voted("c0", 4, 3), voted("c1", 8, 0)}
		}, want: values{SlackVotes: -1}},
		{name: "votes at the grant", grants: []Grant{held(1, "c0", 5, 9)}, more: func(h *History) {
			h.Voters, h.Votes = 5,
				[]Vote{voted("c0", 4, 3)}
		},
			want: values{SlackVotes: 0}},
		{name: "votes unknown", grants: []Grant{held(1, "c0", 5, 9)}, more: func(h *History) {
			h.Voters, h.Votes = 5,
				[]Vote{voted("c0", 6, 2)}
		}},
		{name: "one node has no votes", grants: []Grant{held(1, "c0", 5, 9)}, more: func(h *History) {
			h.Voters, h.Votes = 1,
				[]Vote{voted("c0", 4, 1)}
		}},

		// The next number is the least that is right.
		{name: "tokens", grants: []Grant{held(1, "c0", 2, 5).token(3), held(2, "c1", 8, 10).token(7),
			held(3, "c1", 12, 14).token(9)}, want: values{SlackTokens: 2}},
		{name: "tokens back", grants: []Grant{held(1, "c0", 2, 5).token(7), held(2, "c1", 8, 10).token(4)},
			want: values{SlackTokens: -3}},
		{name: "tokens twice", grants: []Grant{held(1, "c0", 2, 5).token(7), held(2, "c1", 8, 10).token(7)},
			want: values{SlackTokens: 0}},
		{name: "tokens of one entry", grants: []Grant{held(1, "c0", 2, 15).token(7), held(2, "c0", 8, 10).token(7)},
			more: func(h *History) { h.Entry = EntryReentrant }},
		{name: "tokens far apart", grants: []Grant{held(1, "c0", 2, 5).token(1<<64 - 1), held(2, "c1", 8, 10).token(1)},
			want: values{SlackTokens: -1<<63 + 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := inMilliseconds(story("", c.grants))
			if c.more != nil {
				c.more(&h)
			}
			got := values{}
			for _, s := range mustJudge(t, h, nil).Slack {
				if s.Kind == SlackWait {
					continue // TestSlackOfAWait
				}
				got[s.Kind] = s.Value
				if !s.Kind.Counts() {
					got[s.Kind] /= int64(time.Millisecond)
				}
			}
			if c.want == nil {
				c.want = values{}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("slack (-want +got):\n%s", d)
			}
		})
	}
}

// Two claims that overlap may have all their instants in common.
func TestSlackOfAnOverlapIsNegative(t *testing.T) {
	h := story("", []Grant{held(1, "c0", 2, 0).until(11, 0), held(2, "c1", 10, 20)})
	h.Timing = &Timing{At: make([]time.Duration, 30)}
	s, ok := mustJudge(t, h, nil).SlackOf(SlackLease)
	if !ok || s.Value != -1 || !s.Broken() {
		t.Errorf("slack %+v, %t, want -1", s, ok)
	}
}

// The client that waits must have the lock within the grace, and within what the promise allows after that.
func TestSlackOfAWait(t *testing.T) {
	for _, c := range []struct {
		name    string
		granted Pos // to c1, which asks at 5; c0 releases from 10 to 11
		within  time.Duration
		want    time.Duration
	}{
		{name: "within the grace", granted: 13, want: 3 * time.Millisecond},
		{name: "at its end", granted: 16, want: 0},
		{name: "later", granted: 20, want: -4 * time.Millisecond},
		{name: "within the promise", granted: 20, within: 6 * time.Millisecond, want: 2 * time.Millisecond},
	} {
		h := inMilliseconds(story("", []Grant{held(1, "c0", 2, 10), held(2, "c1", c.granted, 40).asked(5)}))
		h.Timing.Grace, h.Timing.Trips = 5*time.Millisecond, 2*time.Millisecond
		h.Timing.Within = map[promise.Cause]time.Duration{promise.CauseOther: c.within}
		v := mustJudge(t, h, nil)
		s, ok := v.SlackOf(SlackWait)
		if !ok || time.Duration(s.Value) != c.want || s.Broken() != (v.Facts.Overdue > 0) || s.Client != "c1" {
			t.Errorf("%s: slack %+v, %t, overdue %d, want %v", c.name, s, ok, v.Facts.Overdue, c.want)
		}
	}
}

// The nearest miss is that of two claims, or a claim to what the nodes had given up. It says what it is.
func TestNearestMiss(t *testing.T) {
	h := inMilliseconds(story("", []Grant{held(1, "c0", 2, 0).until(10, 0), held(2, "c1", 14, 20).asked(5)}))
	s, ok := mustJudge(t, h, nil).NearestMiss()
	if want := "4ms: c1 was granted orders 4ms after the claim of c0 had ended"; !ok || s.Miss() != want {
		t.Errorf("%q, %t, want %q", s.Miss(), ok, want)
	}
	h.Holdings = []Holding{holds("c0", 2, 11)}
	if s, ok = mustJudge(t, h, nil).NearestMiss(); !ok || s.Kind != SlackLease {
		t.Errorf("%q, %t, although the key outlasted the claim", s, ok)
	}
	h.Holdings = []Holding{holds("c0", 2, 7)}
	s, ok = mustJudge(t, h, nil).NearestMiss()
	if want := "c0 still claimed orders 3ms after the servers had given up its key"; !ok || s.Miss() != want {
		t.Errorf("%q, %t, want %q", s.Miss(), ok, want)
	}
	if s, ok := mustJudge(t, story("", h.Grants), nil).NearestMiss(); ok {
		t.Errorf("%q without a timing", s)
	}
}

// A search must not depend on the order in which a history lists things.
func TestSlackInAnyOrder(t *testing.T) {
	a, b := held(1, "c0", 2, 0).until(10, 0), held(2, "c1", 12, 0).asked(5).until(20, 0)
	c := held(3, "c2", 22, 30).asked(15)
	one, other := inMilliseconds(story("", []Grant{a, b, c})), inMilliseconds(story("", []Grant{c, b, a}))
	if d := cmp.Diff(mustJudge(t, one, nil).Slack, mustJudge(t, other, nil).Slack); d != "" {
		t.Errorf("slack depends on the order:\n%s", d)
	}
}
