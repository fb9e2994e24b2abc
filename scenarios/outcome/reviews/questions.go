package reviews

import (
	"fmt"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/lock/promise"
)

// questionRule is a question that the team has to answer, and its condition.
type questionRule struct {
	id, when string
	holds    func(f *Figures) bool
	ask      func(f *Figures) string
}

// questionRules are all of them, in the order in which they are asked.
var questionRules = slices.Concat([]questionRule{
	{"describe", "the lock has no description",
		func(f *Figures) bool { return !f.Described },
		func(*Figures) string {
			return "How does the lock work? It has no description (the field About of its Traits)."
		}},
	{"promise", "the lock promises nothing",
		func(f *Figures) bool { return !f.Promises },
		func(*Figures) string {
			return "What does the lock promise, and under which faults? Without a promise (the field Promise of its " +
				"Traits) it cannot be judged by one."
		}},
	{"fence", "a fence rescued data",
		func(f *Figures) bool { _, ok := f.rescuer(); return ok },
		func(f *Figures) string {
			m, _ := f.rescuer()
			n, _ := f.mode(fence.None)
			return fmt.Sprintf("Can the protected store apply the rule %s to every operation? It rescued the data in %s of "+
				"the library; where it cannot, data is lost as without a fence, in %s.",
				m.Mode, runsOf(m.Total().Labels[checker.Rescued]), share(n.Total()))
		}},
	{"ttl", "a pause, a delay or a slow process did harm",
		func(f *Figures) bool {
			return f.seen(promise.Pause, promise.Slow, promise.Latency, promise.Stall, promise.Partition) > 0
		},
		func(f *Figures) string {
			return fmt.Sprintf("Is the TTL longer than the longest stop that you have measured: garbage collection, a "+
				"throttled container, a migrated machine, a network that stalls? %s.",
				f.harmWith(promise.Pause, promise.Slow, promise.Latency, promise.Stall, promise.Partition))
		}},
	{"hold", "data was lost without any fault, only because there was no fence",
		func(f *Figures) bool { return len(f.Outlived) > 0 },
		func(f *Figures) string {
			return fmt.Sprintf("Can the work ever take longer than the lease? Without a fence data was lost here although "+
				"nothing had gone wrong (%s).", strings.Join(f.Outlived, "; "))
		}},
	{"several-writes", "a section that writes more than once lost data",
		func(f *Figures) bool {
			return slices.ContainsFunc(f.Modes, func(m Mode) bool { return m.Grounds[GroundSeveralWrites].corrupted() > 0 })
		},
		func(*Figures) string {
			return "Does a section ever write more than once? No fence makes several writes atomic: they need a transaction " +
				"of the store."
		}},
	{"independent", "the lock has several nodes",
		func(f *Figures) bool { return f.Nodes > 1 },
		func(f *Figures) string {
			return fmt.Sprintf("Are the %d nodes independent of each other: machines, disks, power, clocks, and the people "+
				"who restart them?", f.Nodes)
		}},
	{"stuck", "the lock could not be acquired again",
		func(f *Figures) bool {
			return f.All.Violations[checker.Stuck]+f.Within.Violations[checker.Stuck]+f.Swept.Violations[checker.Stuck] > 0
		},
		func(f *Figures) string {
			return fmt.Sprintf("Who notices that no client can get the lock, and who may free it? That happened in %s.",
				explored(f.All.Violations[checker.Stuck]+f.Within.Violations[checker.Stuck]))
		}},
	{"partial", "the lock acted during a pause",
		func(f *Figures) bool { return f.Partial > 0 },
		func(f *Figures) string {
			return fmt.Sprintf("Which timers of its own does the lock have? In %s it acted while its process was paused, "+
				"which no real process can; these runs prove nothing about pauses.", runsOf(f.Partial))
		}},
}, classQuestions())

// classQuestions ask about faults that the promise does not cover.
func classQuestions() []questionRule {
	var out []questionRule
	for _, q := range []struct {
		class promise.Fault
		text  string
	}{
		{promise.Worker, "What ends a process whose worker has died? The lock is held for as long as the process lives."},
		{promise.ClockDrift, "How are clocks kept at one rate, on clients and nodes? The promise does not allow for drift."},
		{promise.ClockRate, "What tells you that a clock runs at a wrong rate, or stands still, on a client or a node?"},
		{promise.NodeClock, "How is the time of the Redis nodes kept: is it slewed, never stepped, also after a start and " +
			"by hand?"},
		{promise.NodeCrash, "What does a Redis node keep when its process ends (appendonly yes), and how long does it stay " +
			"down before it restarts?"},
		{promise.NodePower, "What does a Redis node keep when its machine loses power (appendfsync always, or less), and " +
			"how long does it stay down before it restarts?"},
		{promise.Failover, "Does the key live on a primary that a replica can replace? What had not been replicated is " +
			"lost with it."},
		{promise.Eviction, "Is maxmemory-policy noeviction on the nodes, and does nothing else fill their memory?"},
		{promise.Flush, "Who may run FLUSHALL on the nodes?"},
		{promise.Intervention, "Who may delete or overwrite the lock's key, or end its session, and how do they learn " +
			"that its holder is gone?"},
	} {
		out = append(out, questionRule{
			id:   string(q.class),
			when: fmt.Sprintf("%s is not promised, and did harm", q.class),
			holds: func(f *Figures) bool {
				return slices.Contains(f.Unpromised, q.class) && f.Seen[q.class] > 0
			},
			ask: func(f *Figures) string {
				return fmt.Sprintf("%s %s, and the lock promises nothing about it.", q.text, f.harmWith(q.class))
			},
		})
	}
	return out
}

// seen counts the breaks and the scenarios with a harm in which one of some
// classes struck.
func (f *Figures) seen(classes ...promise.Fault) int {
	n := 0
	for _, class := range classes {
		n += f.Seen[class]
	}
	return n
}

// harmWith says for each class how often harm was done with its faults.
func (f *Figures) harmWith(classes ...promise.Fault) string {
	var parts []string
	for _, class := range classes {
		if n := f.Seen[class]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s in %d", class, n))
		}
	}
	return fmt.Sprintf("Harm was done with %s of the breaks and scenarios here", strings.Join(parts, ", with "))
}

// rescuer is the mode of the promise if it rescued anything, or else the one that
// rescued most.
func (f *Figures) rescuer() (Mode, bool) {
	best, ok := f.bestFence()
	if ok && best.Total().Labels[checker.Rescued] > 0 {
		return best, true
	}
	i, most := -1, 0
	for j, m := range f.Modes {
		if n := m.Total().Labels[checker.Rescued]; m.Mode != fence.CAS && n > most {
			i, most = j, n
		}
	}
	if i < 0 {
		return Mode{}, false
	}
	return f.Modes[i], true
}

// Questions are the conditions of the questions, in order.
func Questions() []Rule {
	var out []Rule
	for _, q := range questionRules {
		out = append(out, Rule{q.id, q.when})
	}
	return out
}

// Questions are the questions that the figures leave to the team.
func (f *Figures) Questions() []Rule {
	out := []Rule{}
	for _, q := range questionRules {
		if q.holds(f) {
			out = append(out, Rule{q.id, q.ask(f)})
		}
	}
	return out
}
