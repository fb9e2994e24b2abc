package compare

import (
	"errors"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome/comparisons"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
)

// crowd is a run in which each client wants the lock again as soon as it has released it.
const crowd = "name: crowd\nworld: {clients: 5, latency: 1ms..2ms}\nlock: {ttl: 10s, backoff: 20ms..200ms}\n" +
	"workload: {rounds: 12, hold: 50ms, think: 10ms}\n"

// crowdOf says how long the clients of a crowd wait for a lock; nil if it cannot be played, or if there is no lock.
func crowdOf(l subject.Lock) (*comparisons.Crowd, error) {
	if l.Promise.Unlocked {
		return nil, nil
	}
	sc, err := file.Parse("", []byte(crowd))
	if err != nil {
		return nil, err
	}
	o, err := play.Run(sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}, Alone: true})
	if _, misfit := errors.AsType[*file.InputError](err); misfit {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h := o.Modes[0].History
	w := checker.WaitsOf(h)
	if w.Median == 0 {
		return nil, nil
	}
	return &comparisons.Crowd{Waits: w.Count, MedianSeconds: w.Median.Seconds(), LongestSeconds: w.Longest.Seconds(),
		Starved: o.Modes[0].Verdict.Facts.Starved}, nil
}
