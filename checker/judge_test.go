package checker

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// gcPause is F11: c0 has read, is paused beyond its validity, c1 is granted the
// lock and writes, c0 resumes and writes.
func gcPause(stale func(Op) Op, final string) History {
	a, b := held(1, "c0", 2, 50).until(12, 0).token(33), held(2, "c1", 14, 30).asked(8).token(34)
	return story(final, []Grant{a, b}, a.read("c0.1", 4, ""), b.read("c1.1", 16, ""), b.write("c1.2", 20, ""),
		stale(a.write("c0.2", 40, "")))
}

func accepted(o Op) Op { return o }

func TestLabels(t *testing.T) {
	broken := &Facts{Data: DataCorrupted, LostUpdates: 1}
	saved := gcPause(Op.refused, "c1.2")
	with := func(h History, change func(*History)) History { change(&h); return h }
	stuck := func(h *History) { h.Ending.Loops = "c9 waited 12s." }
	leaked := func(h *History) {
		h.Ending = Ending{Asked: 1, Granted: true, Leftovers: []Leftover{{Server: "r0", Key: "order"}}}
	}
	hung := func(h *History) {
		h.Ending.Waiting = []Waiting{{Client: "c0", Call: "Release", Resource: "a", Since: 7, For: time.Hour, Ever: true}}
	}
	twoHolders := []Grant{held(1, "c0", 2, 50), held(2, "c1", 14, 30)}
	holder := held(1, "c0", 2, 50)
	for _, c := range []struct {
		name string
		h    History
		none *Facts
		want Label
		says string // the first reason
	}{
		{"nothing happened", story("", nil), nil, Untested, "No client was granted the lock"},
		{"one holder", story("", []Grant{holder}), nil, Safe, "Nothing went wrong"},
		{"hung", with(story("", []Grant{holder}), hung), nil, Hung, "c0 called Release of a at step 7 and waits for ever"},
		{"stuck before hung", with(with(story("", []Grant{holder}), hung), stuck), nil, Stuck, "When all was over"},
		{"the pause, unfenced", gcPause(accepted, "c0.2"), nil, Corrupted, "c1's write c1.2 (step 21) to orders was " +
			"acknowledged. c0's write c0.2 (step 41), based on"},
		{"the pause, fenced", saved, broken, Rescued, "The store refused what was stale, and that saved the data: without " +
			"a fence the run ended corrupted, with lost updates: 1."},
		// Without the other run, or if that was right too, nothing was rescued.
		{"fenced, not compared", saved, nil, Overlap, "c1 was granted orders with token 34 at step 14, while c0 outlived " +
			"its claim"},
		{"fenced, no need", saved, &Facts{Data: DataRight}, Overlap, "c1 was granted orders"},
		{"fenced, other undecided", saved, &Facts{Data: DataUndecided}, Overlap, "c1 was granted orders"},
		// The fence refused an operation and the data is wrong nevertheless.
		{"fenced in vain", gcPause(Op.refused, "c0.2"), broken, Corrupted, "c1's write c1.2 (step 21) to orders was " +
			"acknowledged. The store took no write that undid it, but the final value is c0.2"},
		// The other run was corrupted, but the fence had nothing to refuse here.
		{"nothing refused", story("", twoHolders), broken, Overlap, "c1 was granted orders"},
		{"stuck", with(story("", nil), stuck), nil, Stuck, "When all was over, the lock could not be taken again. c9 " +
			"waited 12s."},
		{"leaked", with(story("", nil), leaked), nil, Stuck, "The lock left a key behind that nobody will release."},
		{"false reject", story("", []Grant{holder}, holder.write("a1", 5, "").refused()), nil, FalseReject,
			"c0's write a1 was refused at step 6"},
		// What is behind the label comes first, also before what alone would have been a milder one.
		{"rescued, and a void grant", with(saved, func(h *History) {
			void := held(3, "c2", 60, 70).asked(56).lost(60, 0).token(35)
			void.LostBefore = true
			h.Grants = append(h.Grants, void)
		}), broken, Rescued, "The store refused what was stale, and that saved the data"},
		// Of two labels the worse one is given.
		{"corrupted before stuck", with(gcPause(accepted, "c0.2"), stuck), nil, Corrupted, "c1's write c1.2"},
		{"stuck before rescued", with(saved, stuck), broken, Stuck, "When all was over"},
		{"stuck before false reject", with(story("", []Grant{holder}, holder.write("a1", 5, "").refused()), leaked), nil,
			Stuck, "The lock left a key"},
		{"false reject before rescued", with(saved, func(h *History) {
			h.Ops = append(h.Ops, h.Grants[1].write("c1.3", 24, "c1.2").refused())
		}), broken, FalseReject, "c1's write c1.3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := mustJudge(t, c.h, c.none)
			if v.Label != c.want {
				t.Errorf("label %s, want %s\n%q", v.Label, c.want, texts(v.Reasons))
			}
			if !strings.HasPrefix(v.Reasons[0].Text, c.says) {
				t.Errorf("first reason %q\nwant %q", v.Reasons[0].Text, c.says)
			}
		})
	}
}

// One history, all facts and all sentences: what a report shows of the pause.
func TestWholeVerdict(t *testing.T) {
	got := mustJudge(t, gcPause(accepted, "c0.2"), nil)
	want := Verdict{
		Label: Corrupted,
		Facts: Facts{BeliefOverlaps: 1, Data: DataCorrupted, LostUpdates: 1, StaleAccepted: 1,
			Liveness: LivenessOK, Grants: 2, Calls: Calls{Granted: 2}, Holders: 2, Contended: 1, Operations: 4},
		Reasons: []Reason{
			{Text: "c1's write c1.2 (step 21) to orders was acknowledged. c0's write c0.2 (step 41), based on the initial " +
				"value, overwrote c1.2: c1.2 is lost.", At: []Pos{21, 41}},
			{Text: "c1 was granted orders with token 34 at step 14, while c0 outlived its claim: its belief from step 2 went " +
				"on to step 50, when it released.", At: []Pos{14, 2, 50}},
			{Text: "c0's stale write c0.2 with token 33 was accepted at step 41: c1 had been granted orders with token 34 at " +
				"step 14.", At: []Pos{41, 14}},
		},
		Slack: []Slack{{Kind: SlackTokens, Value: 1, Client: "c1", Other: "c0", Resource: "orders", At: []Pos{14, 2}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("verdict (-want +got):\n%s", diff)
	}
}

// The names in JSON are part of the command's output.
func TestFactsJSON(t *testing.T) {
	got, err := json.Marshal(mustJudge(t, gcPause(Op.refused, "c1.2"), nil).Facts)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"claim_overlaps":0,"belief_overlaps":1,"data":"right","lost_updates":0,"torn_sections":0,"stale_accepted":0,"stale_rejected":1,` +
		`"false_rejects":0,"token_regressions":0,"token_duplicates":0,"foreign_releases":0,"overtaken":0,"recomputed":0,"work_twice":0,"panics":0,"hung_calls":0,"liveness":"ok","grants":2,"attempts":0,"calls":{"granted":2,"taken":0,"gave_up":0,"failed":0,"extended":0,"not_extended":0,"failed_extends":0,` +
		`"released":0,"not_held":0,"failed_releases":0},"idle_seconds":0,"overdue":0,"denied":0,"self_excluded":0,"late_grants":0,"void_grants":0,"revived_claims":0,"misconduct":0,"noticed_late_seconds":0,"failed_calls":0,"withheld":0,"holders":2,"contended":1,"operations":4}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The verdict, its sentences and their order depend only on the history: not on
// the order of its slices or of any map. Judge does not change the history.
func TestJudgeIsPure(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 4))
		h := randomHistory(rng)
		if seed%2 == 0 {
			h = randomTransfers(rng)
			h.Holdings, h.Queue = randomHoldings(rng), QueueFair
			for i := range 5 {
				h.Deletions = append(h.Deletions, deleted(Pos(1+rng.IntN(3)), "r0", "c0", []string{"c0", "c1"}[rng.IntN(2)]))
				h.Attempts = append(h.Attempts, Attempt{Client: fmt.Sprint("c", i), Resource: "orders", Invoked: 1, Returned: 200,
					Enqueued: Pos(2 + i/2), Left: Pos(150 + i/3), Outcome: OutcomeUnknown})
			}
			h.Ending.Loops = "c9 waited 12s."
		}
		if filling := h; seed%4 == 1 {
			if filling.Fill = true; filling.Validate() == nil {
				h = filling
			}
		}
		before := shuffled(h, func(int, func(i, j int)) {})
		want := mustJudge(t, h, nil)
		if diff := cmp.Diff(before, h); diff != "" {
			t.Fatalf("seed %d: Judge changed the history:\n%s", seed, diff)
		}
		for range 5 {
			if diff := cmp.Diff(want, mustJudge(t, shuffled(h, rng.Shuffle), nil)); diff != "" {
				t.Fatalf("seed %d: the order of the slices changed the verdict:\n%s", seed, diff)
			}
		}
	}
}

func shuffled(h History, shuffle func(n int, swap func(i, j int))) History {
	h.Grants = append([]Grant(nil), h.Grants...)
	h.Ops = append([]Op(nil), h.Ops...)
	shuffle(len(h.Grants), func(i, j int) { h.Grants[i], h.Grants[j] = h.Grants[j], h.Grants[i] })
	h.Attempts = append([]Attempt(nil), h.Attempts...)
	h.Deletions = append([]Deletion(nil), h.Deletions...)
	h.Holdings = append([]Holding(nil), h.Holdings...)
	shuffle(len(h.Attempts), func(i, j int) { h.Attempts[i], h.Attempts[j] = h.Attempts[j], h.Attempts[i] })
	shuffle(len(h.Deletions), func(i, j int) { h.Deletions[i], h.Deletions[j] = h.Deletions[j], h.Deletions[i] })
	shuffle(len(h.Holdings), func(i, j int) { h.Holdings[i], h.Holdings[j] = h.Holdings[j], h.Holdings[i] })
	shuffle(len(h.Ops), func(i, j int) { h.Ops[i], h.Ops[j] = h.Ops[j], h.Ops[i] })
	return h
}

// There is always a reason, and it is never empty.
func TestReasonsAreNotEmpty(t *testing.T) {
	for seed := range uint64(1_000) {
		v := mustJudge(t, randomHistory(rand.New(rand.NewPCG(seed, 5))), nil)
		if len(v.Reasons) == 0 {
			t.Fatalf("seed %d: no reason for %s", seed, v.Label)
		}
		for _, r := range v.Reasons {
			if !strings.HasSuffix(r.Text, ".") {
				t.Fatalf("seed %d: not a sentence: %q", seed, r.Text)
			}
		}
	}
}
