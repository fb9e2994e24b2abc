package bruteforce_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock/fence"
)

// sentOp is an operation with the instants at which it was called, the store decided and the answer came.
type sentOp struct {
	checker.Op
	called, decided, answered int
}

// historyOfAFence makes the history of a store under test: a few clients whose operations on one register or two a
// store answers that keeps the rule, or is wrong now and then.
func historyOfAFence(seed uint64) checker.History {
	dice := rand.New(rand.NewPCG(seed, 59))
	h := checker.History{Fence: []fence.Mode{fence.Check, fence.Seal, fence.Strict}[dice.IntN(3)]}
	ops := sendOps(dice, &h)
	answer(dice, h.Fence, ops)
	number(ops)
	for _, o := range ops {
		if o.Client == "probe" {
			h.Last = append(h.Last, o.Op)
		} else {
			h.Ops = append(h.Ops, o.Op)
		}
	}
	return h
}

// sendOps are the operations as they are sent, one after another of each client.
func sendOps(dice *rand.Rand, h *checker.History) (ops []*sentOp) {
	registers := []string{"x", "y"}[:1+dice.IntN(4)/3]
	patience := 2 + dice.IntN(20)
	clients, left := 2+dice.IntN(2), 3+dice.IntN(5)
	instants := make([]int, clients)
	for i := range instants {
		instants[i] = dice.IntN(2 * patience)
	}
	grants := make([]checker.Grant, clients)
	for left > 0 {
		i := dice.IntN(clients)
		if g := &grants[i]; g.ID == 0 || dice.IntN(4) == 0 {
			*g = checker.Grant{ID: len(h.Grants) + 1, Client: fmt.Sprintf("c%d", i), Resource: "a", Invoked: 1, Granted: 1,
				Token: uint64(dice.IntN(5)), Released: 1000}
			h.Grants = append(h.Grants, *g)
		}
		o := &sentOp{Op: checker.Op{ID: fmt.Sprintf("o%d", len(ops)), Client: grants[i].Client, Grant: grants[i].ID,
			Resource: "a", Register: registers[dice.IntN(len(registers))], Token: grants[i].Token, Kind: checker.Write,
			Outcome: checker.OutcomeOK}}
		if dice.IntN(3) == 0 {
			o.Kind = checker.Read
		}
		o.called = instants[i] + 1 + dice.IntN(patience)
		o.decided = o.called + dice.IntN(patience)
		o.answered = o.decided + dice.IntN(patience)
		instants[i] = o.answered
		switch dice.IntN(12) {
		case 0, 1:
			o.Outcome = checker.OutcomeUnknown
			o.decided = o.called + dice.IntN(4*patience)
		case 2:
			o.Outcome = []checker.Outcome{checker.OutcomeNotSent, checker.OutcomeFailed}[dice.IntN(2)]
		}
		ops, left = append(ops, o), left-1
		if o.Kind == checker.Write && left > 0 && dice.IntN(3) == 0 {
			retry := *o
			retry.ID, retry.Again, retry.Outcome = fmt.Sprintf("o%d", len(ops)), o.ID, checker.OutcomeOK
			retry.called = o.answered + dice.IntN(patience)
			retry.decided = retry.called + dice.IntN(patience)
			retry.answered = retry.decided + dice.IntN(patience)
			instants[i] = retry.answered
			ops, left = append(ops, &retry), left-1
		}
	}
	for _, register := range registers {
		if dice.IntN(3) == 0 {
			at := slices.Max(instants) - dice.IntN(3)*patience
			ops = append(ops, &sentOp{Op: checker.Op{ID: "last " + register, Client: "probe", Resource: "a", Register: register,
				Kind: checker.Read, Token: uint64(dice.IntN(6)), Outcome: checker.OutcomeOK},
				called: at, decided: at + dice.IntN(patience), answered: at + patience})
		}
	}
	return ops
}

// answer lets a store answer the operations in the order of its decisions. It may take what it should refuse, refuse
// what it should take, lose a token or a value, and find any value: how often is the same for a whole history.
func answer(dice *rand.Rand, rule fence.Mode, ops []*sentOp) {
	wrong := []int{0, 3, 10, 50}[dice.IntN(4)] // in a hundred times
	errs := func() bool { return dice.IntN(100) < wrong }
	states, values := map[string]fence.State{}, map[string]string{}
	inOrder := slices.Clone(ops)
	dice.Shuffle(len(inOrder), func(i, j int) { inOrder[i], inOrder[j] = inOrder[j], inOrder[i] })
	slices.SortStableFunc(inOrder, func(a, b *sentOp) int { return a.decided - b.decided })
	for _, o := range inOrder {
		decide := rule.Write
		if o.Kind == checker.Read {
			decide = rule.Read
		}
		after, refused := decide(states[o.Register], fence.Op{Token: o.Token, Grant: fmt.Sprint(o.Grant)})
		switch {
		case refused != nil && dice.IntN(50) < wrong:
			refused = nil
		case dice.IntN(300) < wrong:
			refused = fence.ErrStale
		}
		switch {
		case o.Outcome == checker.OutcomeNotSent, o.Outcome == checker.OutcomeFailed,
			o.Outcome == checker.OutcomeUnknown && dice.IntN(4) == 0:
		case refused != nil && o.Outcome == checker.OutcomeOK && (o.Kind == checker.Write || dice.IntN(2) == 0):
			o.Outcome = checker.OutcomeRefused
		default:
			if !errs() {
				states[o.Register] = after
			}
			if o.Kind == checker.Write && !errs() && (o.Outcome == checker.OutcomeOK || dice.IntN(4) > 0) {
				values[o.Register] = o.Stored()
			}
			if o.Kind == checker.Read && o.Outcome == checker.OutcomeOK {
				o.Saw = values[o.Register]
				if errs() {
					o.Saw = []string{"", "nobody's", ops[dice.IntN(len(ops))].Stored()}[dice.IntN(3)]
				}
			}
		}
	}
}

// number gives the calls and the answers their positions, in the order of the instants.
func number(ops []*sentOp) {
	type step struct {
		at int
		p  *checker.Pos
	}
	var steps []step
	for _, o := range ops {
		steps = append(steps, step{2 * o.called, &o.Invoked})
		if o.Outcome != checker.OutcomeUnknown || o.answered%5 == 0 {
			steps = append(steps, step{2*o.answered + 1, &o.Returned})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return a.at - b.at })
	for i, s := range steps {
		*s.p = checker.Pos(10 + i)
	}
}

// factsOfFences are those of a history with History.Fence, as the test names them.
var factsOfFences = []string{"stale_accepted", "stale_forgotten", "stale_rejected", "lost_updates", "overwritten",
	"false_rejects", "unexplained", "data right", "data corrupted"}

// TestFencesAreJudgedTheSame makes random histories of stores under test, 200,000 with LOCKSIM_SOAK=1: both judges have
// the same facts, and porcupine finds an order where there is one, and none where there is none. Each fact occurs under
// each rule.
func TestFencesAreJudgedTheSame(t *testing.T) {
	n := testruns.Soak(t, 200_000, 0.02)
	reached := map[string]int{}
	wrong := 0
	for seed := range uint64(n) {
		h := historyOfAFence(seed)
		v, err := judge(h)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, name := range factsOf(v.Facts) {
			reached[fmt.Sprintf("%s %s", h.Fence, name)]++
		}
		second, err := checker.Corroborate(h, v.Facts)
		if err != nil || second.Agreement != checker.Agrees {
			t.Errorf("seed %d: porcupine %s: %s, %v\n%s", seed, second.Agreement, second.Why, err, text(reflect.ValueOf(h)))
		}
		if all := differences(h, noFence, v); len(all) > 0 {
			if wrong++; wrong <= 5 {
				h = smaller(h)
				v, _ := judge(h)
				t.Errorf("seed %d: %s\n%s", seed, strings.Join(differences(h, noFence, v), "; "), text(reflect.ValueOf(h)))
			}
		}
	}
	t.Logf("%d histories, %d judged differently", n, wrong)
	for _, name := range slices.Sorted(maps.Keys(reached)) {
		t.Logf("%6.2f %% %s", 100*float64(reached[name])/float64(n), name)
	}
	if n < 1000 {
		return
	}
	for _, rule := range []fence.Mode{fence.Check, fence.Seal, fence.Strict} {
		for _, fact := range factsOfFences {
			if name := fmt.Sprintf("%s %s", rule, fact); reached[name] == 0 || reached[name] < n/1000 {
				t.Errorf("only %d of %d histories have %s", reached[name], n, name)
			}
		}
	}
}

// factsOf are the names of the facts that are not zero.
func factsOf(f checker.Facts) (all []string) {
	facts := reflect.ValueOf(f)
	for i := range facts.NumField() {
		name, _, _ := strings.Cut(facts.Type().Field(i).Tag.Get("json"), ",")
		if facts.Field(i).Kind() == reflect.String {
			all = append(all, name+" "+facts.Field(i).String())
		} else if !facts.Field(i).IsZero() {
			all = append(all, name)
		}
	}
	return all
}
