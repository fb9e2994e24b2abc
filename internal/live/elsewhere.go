//go:build !linux

package live

import (
	"context"
	"errors"

	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/subject"
)

// DefaultScale makes the durations of scenarios a tenth.
const DefaultScale = 0.1

// errLinux is the error of everything here.
var errLinux = errors.New("live runs need Linux: they stop processes, and measure by a clock that all processes share")

// Child returns false.
func Child(...subject.Lock) bool { return false }

// Options say how [Session.Run] plays a scenario.
type Options struct {
	Seed  uint64
	Modes []fence.Mode
	Scale float64
	Alone bool
}

// ScaleFor is the scale that is wanted.
func ScaleFor(_ *file.Scenario, _ subject.Lock, wanted float64) float64 { return wanted }

// Scaled is the scenario.
func Scaled(sc *file.Scenario, _ float64) *file.Scenario { return sc }

// Session plays live runs, of which there are none here.
type Session struct{}

// Open returns an error.
func Open() (*Session, error) { return nil, errLinux }

// Close does nothing.
func (*Session) Close() error { return nil }

// Check returns an error.
func Check(*file.Scenario, subject.Lock, float64) error { return errLinux }

// Run returns an error.
func (*Session) Run(context.Context, *file.Scenario, subject.Lock, Options) (*outcome.Outcome, error) {
	return nil, errLinux
}
