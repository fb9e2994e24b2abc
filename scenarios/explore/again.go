package explore

import (
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/replay"
	"locksim/scenarios/search"
	"locksim/scenarios/subject"
)

// Again is a violation that an earlier exploration has stored, to be played once more. It is a value that can be sent
// to another process.
type Again struct {
	Run   *outcome.RunFile   `json:"run"`
	Judge explorations.Judge `json:"judge"`
}

// Fails plays the run and reports whether the lock still breaks what it is judged by. extra are locks that do not come
// with locksim. Errors are those of [replay.Setup] and [play.Run].
func (a Again) Fails(extra []subject.Lock) (bool, error) {
	sc, l, err := replay.Setup(a.Run, extra)
	if err != nil {
		return false, err
	}
	f, err := search.Fails(Judged(l, a.Judge), search.Case{Scenario: sc, Seed: a.Run.Seed})
	return f != nil, err
}
