package compare_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/lock/fence"
	"locksim/scenarios/compare"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/comparisons"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/sentinellocks"
	"locksim/scenarios/subject"
	"locksim/scenarios/zklocks"
)

func anyKind(t *testing.T, name string) subject.Lock {
	t.Helper()
	l, err := redislocks.Find(name, slices.Concat(etcdlocks.All(), sentinellocks.All(), zklocks.All()))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// after is for how long a lock was not to be had in one run of each of some seeds, the shortest first.
func after(t *testing.T, l subject.Lock, trouble comparisons.Trouble, leads string, seeds ...uint64) []time.Duration {
	t.Helper()
	var all []time.Duration
	for _, seed := range seeds {
		sc, err := compare.Troubled(l, trouble, seed, leads)
		if err != nil || sc == nil {
			t.Fatalf("%s has no run of %s: %v", l.Name, trouble, err)
		}
		o, err := play.Run(sc, l, play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}, Alone: true, Bare: true})
		if err != nil {
			t.Fatal(err)
		}
		seen := compare.NotToBeHad(&o.Modes[0])
		if seen.Whom == "" || seen.Never {
			t.Errorf("%s, %s, seed %d: %+v", l.Name, trouble, seed, seen)
		}
		all = append(all, seen.Longest)
	}
	slices.Sort(all)
	return all
}

// What is known of some locks from how they work: a lease has to end, less what had passed of it when the other client
// first asked, and a client that waits asks every 0.2 s; a server is back after 3 s; four of five are a majority.
func TestNotToBeHadForAsLongAs(t *testing.T) {
	const (
		lease = 10 * time.Second
		polls = 200*time.Millisecond + 50*time.Millisecond // and what the requests take
		think = 1600 * time.Millisecond                    // until the other client asks, at most
	)
	for _, tt := range []struct {
		lock        string
		trouble     comparisons.Trouble
		least, most time.Duration
	}{
		{"single", comparisons.HolderCrashes, lease - think, lease + polls},
		{"single", comparisons.HolderLost, lease - think, lease + polls},
		{"single", comparisons.HolderPaused, lease - think, lease + polls},
		{"single", comparisons.ServerCrashes, 3*time.Second - think, lease + polls},
		{"redlock", comparisons.MemberLost, 0, 2 * polls},
		{"sentinel-single", comparisons.MemberLost, 0, 2 * polls},
		{"sentinel-single", comparisons.PrimaryLost, 5*time.Second - think, lease + polls},
	} {
		all := after(t, anyKind(t, tt.lock), tt.trouble, "", 1, 2, 3, 4, 5, 6, 7, 8)
		if least, most := all[0], all[len(all)-1]; least < tt.least || most > tt.most {
			t.Errorf("%s, %s: %v to %v, want %v to %v", tt.lock, tt.trouble, least, most, tt.least, tt.most)
		}
	}
}

// The member that a group loses is not the one that led it: a client that asks soon after a leader has crashed has to
// wait for etcd's own time limit of a request, 7 s, and a client that does not meet the lost member for nothing.
func TestTheMemberThatIsLostDoesNotLead(t *testing.T) {
	m, err := compare.Measure(anyKind(t, "etcd"), compare.Options{Seeds: outcome.Seeds{First: 1, Last: 1}, Replay: again,
		Troubles: 6})
	if err != nil {
		t.Fatal(err)
	}
	crashes, _ := m.Availability.Of(comparisons.ServerCrashes)
	lost, _ := m.Availability.Of(comparisons.MemberLost)
	if crashes.Runs != 6 || crashes.MedianSeconds < 1 || lost.Runs != 6 || lost.LongestSeconds > 1 {
		t.Errorf("the leader %+v, a member %+v", crashes, lost)
	}
	if sc, err := compare.Troubled(anyKind(t, "etcd"), comparisons.MemberLost, 1, ""); sc != nil || err != nil {
		t.Errorf("it is not known who leads: %v, %v", sc, err)
	}
}

// Each lock has the troubles that its servers can have, and what is no lock has none.
func TestTroublesOfALock(t *testing.T) {
	holder := []comparisons.Trouble{comparisons.HolderCrashes, comparisons.HolderLost, comparisons.HolderPaused}
	of := func(servers ...comparisons.Trouble) []comparisons.Trouble { return append(servers, holder...) }
	for name, want := range map[string][]comparisons.Trouble{
		"single":          of(comparisons.ServerCrashes),
		"redlock":         of(comparisons.MemberLost),
		"zookeeper":       of(comparisons.ServerCrashes, comparisons.MemberLost),
		"sentinel-single": of(comparisons.ServerCrashes, comparisons.MemberLost, comparisons.PrimaryLost),
	} {
		var got []comparisons.Trouble
		for _, trouble := range comparisons.Troubles() {
			sc, err := compare.Troubled(anyKind(t, name), trouble, 1, "z0")
			if err != nil {
				t.Fatal(err)
			}
			if sc != nil {
				got = append(got, trouble)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if m := measure(t, redislocks.Unlocked()[0]); m.Availability != nil {
		t.Errorf("what is no lock is not to be had: %+v", m.Availability)
	}
	if _, ok := (*comparisons.Availability)(nil).Of(comparisons.MemberLost); ok {
		t.Error("what is no lock has a trouble")
	}
}

// The run in the middle and the longest one, where runs in which the lock was granted no more are the longest ones.
func TestSummary(t *testing.T) {
	of := func(seconds ...int) (all []compare.Seen) {
		for _, s := range seconds { // a negative one is granted no more
			all = append(all, compare.Seen{Longest: time.Duration(max(s, -s)) * time.Second, Never: s < 0})
		}
		return all
	}
	type summary struct {
		median, longest float64
		never           int
		middle          bool // the run in the middle is one without an end
	}
	for name, tt := range map[string]struct {
		seen []compare.Seen
		want summary
	}{
		"one":                 {of(3), summary{3, 3, 0, false}},
		"in any order":        {of(9, 1, 4), summary{4, 9, 0, false}},
		"the upper of two":    {of(1, 2), summary{2, 2, 0, false}},
		"never is longest":    {of(9, -1, 4), summary{9, 1, 1, false}},
		"never in the middle": {of(9, -1, -4), summary{1, 4, 2, true}},
	} {
		got := compare.Summary("", tt.seen)
		if n := (summary{got.MedianSeconds, got.LongestSeconds, got.Never, got.MedianNever()}); n != tt.want ||
			got.Runs != len(tt.seen) {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
