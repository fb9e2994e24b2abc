package search_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/faults"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/tally"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/search"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// The estimate for given counts, and the sentence about it.
func TestNovelty(t *testing.T) {
	const (
		much   = "; more runs would show much that is new"
		little = "; more runs would show little that is new"
		hardly = "; more runs would show hardly anything new"
	)
	for _, c := range []struct {
		courses tally.Courses
		want    tally.Novelty
		text    string
	}{
		{nil, tally.Novelty{Rate: 1}, "about 100 % of further runs that test the lock would still try something new (0 of " +
			"0 courses were seen in one run only)" + much},
		{tally.Courses{"a": 1}, tally.Novelty{Courses: 1, Once: 1, Rate: 1}, "about 100 % of further runs that test the " +
			"lock would still try something new (1 of 1 course were seen in one run only)" + much},
		{tally.Courses{"a": 1, "b": 1, "c": 2, "d": 6}, tally.Novelty{Courses: 4, Once: 2, Rate: 0.2},
			"about 20 % of further runs that test the lock would still try something new (2 of 4 courses were seen in one " +
				"run only)" + much},
		{tally.Courses{"a": 1, "b": 2, "c": 37}, tally.Novelty{Courses: 3, Once: 1, Rate: 0.025},
			"about 2.5 % of further runs that test the lock would still try something new (1 of 3 courses were seen in one " +
				"run only)" + little},
		{tally.Courses{"a": 2, "b": 98}, tally.Novelty{Courses: 2}, "about 0 % of further runs that test the lock would " +
			"still try something new (0 of 2 courses were seen in one run only)" + hardly},
	} {
		got := c.courses.Novelty()
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v: %s", c.courses, diff)
		}
		if diff := cmp.Diff(c.text, got.String()); diff != "" {
			t.Error(diff)
		}
	}
}

// Where the frequencies of the courses are known, the mean of the estimate is the mean
// probability of a new course, whatever the number of runs. The means of 200 searches
// have a standard error of up to 2 %.
func TestNoveltyIsRight(t *testing.T) {
	const courses, searches = 300, 200
	weights, upTo, sum := make([]float64, courses), make([]float64, courses), 0.0
	for i := range weights {
		weights[i] = 1 / float64(i+1)
		sum += weights[i]
		upTo[i] = sum
	}
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func() int {
		i, _ := slices.BinarySearch(upTo, rng.Float64()*sum)
		return i
	}
	for _, runs := range []int{20, 200, 1000} {
		estimate, actual := 0.0, 0.0
		for range searches {
			seen := tally.Courses{}
			for range runs {
				seen.Add(tally.Courses{name(draw()): 1})
			}
			estimate += seen.Novelty().Rate / searches
			for i, w := range weights {
				if seen[name(i)] == 0 {
					actual += w / sum / searches
				}
			}
		}
		if off := math.Abs(estimate - actual); off > 0.06*actual {
			t.Errorf("%d runs: the estimate is %v, and the probability of a new course %v", runs, estimate, actual)
		}
	}
}

func name(i int) tally.Course { return tally.Course(rune('a' + i)) }

// step is a step of a client in an invented trace.
func step(client string, m trace.Mark) trace.Event { return trace.Event{Actor: client, What: m} }

// A course has the order of the steps of each client, how they ended, and the classes
// of fault that were felt, and nothing else.
func TestCourse(t *testing.T) {
	ask, got := trace.Mark{Step: trace.Acquire, Resource: "r"}, trace.Mark{Step: trace.Granted, Resource: "r", Token: 7}
	over, write := trace.Mark{Step: trace.Until, Resource: "r"}, trace.Mark{Step: trace.Written, Op: "c0.w1"}
	refused, unknown := write, write
	refused.Outcome, refused.Problem = "refused", "the token is stale"
	unknown.Outcome, unknown.Problem = "unknown", "i/o timeout"
	another, point := unknown, trace.Mark{Step: trace.Point, Label: "sent"}
	another.Op, another.Problem = "c1.w8", "EOF"
	pause, reset, crash := faults.Pause{Process: "c0", For: time.Second}, faults.Reset{Between: []string{"c0"}},
		faults.Crash{Process: "c0"}
	course := func(felt []faults.Action, events ...trace.Event) tally.Course {
		sc := &file.Scenario{}
		m := outcome.ModeRun{Trace: &trace.Trace{}}
		for _, a := range append(felt, faults.Flush{}) { // the last one is not felt
			sc.Faults = append(sc.Faults, faults.Fault{Action: a})
			m.FaultsFelt = append(m.FaultsFelt, len(m.FaultsFelt) < len(felt))
		}
		for i, e := range events {
			e.At = time.Duration(i) * time.Millisecond * time.Duration(1+len(events))
			m.Trace.Add(e)
		}
		return (&search.Trial{Case: search.Case{Scenario: sc},
			Outcome: &outcome.Outcome{Scenario: sc, Modes: []outcome.ModeRun{m}}}).Course()
	}
	whole := course([]faults.Action{pause}, step("c0", ask), step("c0", got), step("c0", unknown), step("c0", over))
	for why, same := range map[string]tally.Course{
		"another client": course([]faults.Action{pause}, step("c3", ask), step("c3", got), step("c3", unknown),
			step("c3", over)),
		"several clients, in any order": course([]faults.Action{pause}, step("c0", ask), step("c1", ask), step("c1", got),
			step("c1", unknown), step("c0", got),
			step("c0", unknown), step("c0", over), step("c1", over)),
		"other values": course([]faults.Action{pause}, step("c0", ask), step("c0", trace.Mark{Step: trace.Granted}),
			step("c0", another), step("c0", over)),
		"a point": course([]faults.Action{pause}, step("c0", ask), step("c0", point), step("c0", got),
			step("c0", unknown), step("c0", over)),
		"several of a kind": course([]faults.Action{pause, pause}, step("c0", ask), step("c0", got), step("c0", unknown),
			step("c0", over)),
	} {
		if same != whole {
			t.Errorf("%s: another course", why)
		}
	}
	seen := map[tally.Course]string{whole: "the run"}
	for why, other := range map[string]tally.Course{
		"another order": course([]faults.Action{pause}, step("c0", ask), step("c0", got), step("c0", over),
			step("c0", unknown)),
		"two clients": course([]faults.Action{pause}, step("c0", ask), step("c0", got), step("c1", unknown),
			step("c1", over)),
		"another outcome": course([]faults.Action{pause}, step("c0", ask), step("c0", got), step("c0", refused),
			step("c0", over)),
		"success": course([]faults.Action{pause}, step("c0", ask), step("c0", got), step("c0", write),
			step("c0", over)),
		"no fault": course(nil, step("c0", ask), step("c0", got), step("c0", unknown), step("c0", over)),
		"another fault": course([]faults.Action{reset}, step("c0", ask), step("c0", got), step("c0", unknown),
			step("c0", over)),
		"one more class": course([]faults.Action{pause, crash}, step("c0", ask), step("c0", got), step("c0", unknown),
			step("c0", over)),
		"an earlier end":   course([]faults.Action{pause}, step("c0", ask), step("c0", got), step("c0", unknown)),
		"nothing happened": course(nil),
	} {
		if is, ok := seen[other]; ok {
			t.Errorf("%s: the course of %s", why, is)
		}
		seen[other] = why
	}
}

// explored are the courses of the runs of some seeds, drawn from a space.
func explored(t *testing.T, l subject.Lock, space spaces.Space,
	seeds outcome.Seeds) (trials []*search.Trial, courses tally.Courses) {
	t.Helper()
	for trial := range search.Trials(l, search.Drawn(l, space, seeds)) {
		if trial.Err != nil {
			t.Fatal(trial.Err)
		}
		trials = append(trials, trial)
		courses.Add(trial.Courses())
	}
	return trials, courses
}

// A search that draws from a tiny space has seen nearly all; one that has made a few
// runs of a large space has seen little.
func TestNoveltyOfSpaces(t *testing.T) {
	l, err := redislocks.Kind("single")
	if err != nil {
		t.Fatal(err)
	}
	tiny := spaces.Space{Lock: "single", Faults: []lock.Fault{}, Clients: spaces.Span{Min: 2, Max: 2},
		Rounds: spaces.Span{Min: 2, Max: 2}}
	if _, courses := explored(t, l, tiny, outcome.Seeds{First: 1, Last: 150}); courses.Novelty().Rate > 0.1 {
		t.Errorf("a tiny space: %+v", courses.Novelty())
	}
	large := search.SpaceOf(l)
	large.Strategy = spaces.StrategySwarm // others draw less from it
	large.Clients, large.Rounds, large.MaxFaults = spaces.Span{Min: 8, Max: 8}, spaces.Span{Min: 8, Max: 8}, 8
	if _, courses := explored(t, l, large, outcome.Seeds{First: 1, Last: 20}); courses.Novelty().Rate < 0.8 {
		t.Errorf("a large space: %+v", courses.Novelty())
	}
}

// The courses of two parts of a search add up to those of the whole, wherever it is
// cut, and only runs that are evidence and passed are counted.
func TestCoursesOfParts(t *testing.T) {
	l, err := redislocks.Kind("single")
	if err != nil {
		t.Fatal(err)
	}
	l.Promise = lock.Promise{}
	trials, whole := explored(t, l, search.SpaceOf(l), outcome.Seeds{First: 1, Last: 60})
	counted, violating, vacuous := 0, 0, 0
	for _, trial := range trials {
		switch {
		case len(trial.Violations) > 0:
			violating++
		case trial.Vacuous != "":
			vacuous++
		default:
			counted++
		}
	}
	sum := 0
	for _, n := range whole {
		sum += n
	}
	if violating == 0 || vacuous == 0 || counted == 0 || sum != counted {
		t.Errorf("%d runs are counted: %d are evidence and passed, %d violate, %d are vacuous", sum, counted, violating,
			vacuous)
	}
	for _, cut := range []int{0, 1, len(trials) / 2, len(trials)} {
		var first, second tally.Courses
		for _, trial := range trials[:cut] {
			first.Add(trial.Courses())
		}
		for _, trial := range slices.Backward(trials[cut:]) {
			second.Add(trial.Courses())
		}
		if first.Add(second); !cmp.Equal(whole, first) {
			t.Errorf("cut at %d: %s", cut, cmp.Diff(whole, first))
		}
	}
}
