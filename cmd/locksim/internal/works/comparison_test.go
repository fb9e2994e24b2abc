package works

import (
	"errors"
	"strings"
	"testing"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/roster"
	"locksim/lock"
	"locksim/scenarios/outcome"
	"locksim/scenarios/subject"
)

// A lock that cannot be made is an answer.
func TestMeasureUnusableLock(t *testing.T) {
	r := roster.Roster{Extra: []subject.Lock{{Name: "mylock", New: func(subject.Env) (lock.Locker, error) {
		return nil,
			errors.New("no quorum possible")
	}}}}
	answer, err := measure(&console.Console{Program: "mysim"}, r,
		compareJob{Lock: "mylock", Seeds: outcome.Seeds{First: 1, Last: 1}}, func() {})
	if err != nil || !strings.Contains(answer.Unusable, "no quorum possible") {
		t.Errorf("a lock that cannot be made: %+v, %v", answer, err)
	}
}
