package review

import (
	"fmt"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/play"
)

// Fence is what a fencing mode made of a break.
type Fence struct {
	Mode  fence.Mode    `json:"mode"`
	Label checker.Label `json:"label"`
	// Effect is what the fence did, compared with no fence.
	Effect    FenceEffect `json:"effect"`
	TraceHash string      `json:"trace_hash,omitempty"`
}

// FenceEffect is what a fence did in a run, compared with the run without one.
type FenceEffect string

// The effects.
const (
	// NoFence is the run without a fence, with which the others are compared.
	NoFence FenceEffect = "no-fence"
	// FenceRescues means that no harm was done, and without a fence there was.
	FenceRescues FenceEffect = "rescues"
	// FenceCosts means that the data is right, which without a fence it is not,
	// and that another harm was done instead: a rightful holder was refused.
	FenceCosts FenceEffect = "rescues-at-a-price"
	// FenceFails means that the harm is done with it, too.
	FenceFails FenceEffect = "does-not-rescue"
	// FenceHarms means that a harm was done that is not there without a fence.
	FenceHarms FenceEffect = "harms"
	// FenceIdle means that no harm was done, with it or without.
	FenceIdle FenceEffect = "nothing-to-rescue"
	// FenceUndecided means that the data was not decided.
	FenceUndecided FenceEffect = "undecided"
	// FenceNeedsTokens means that the mode needs tokens, and the lock mints none.
	FenceNeedsTokens FenceEffect = "needs-tokens"
)

// effectOf compares the labels of a run without a fence and with one.
func effectOf(without, with checker.Label) FenceEffect {
	switch {
	case with == checker.NotApplicable:
		return FenceNeedsTokens
	case with == checker.Unknown || without == checker.Unknown:
		return FenceUndecided
	case harmful(with) && !harmful(without):
		return FenceHarms
	case harmful(with) && without == checker.Corrupted && with != checker.Corrupted:
		return FenceCosts
	case harmful(with):
		return FenceFails
	case harmful(without):
		return FenceRescues
	}
	return FenceIdle
}

// Trial is the smallest run of a break, to be made in each fencing mode. It
// is a value that can be sent to another process.
type Trial struct {
	Run *play.RunFile `json:"run"`
}

// Play makes the runs, each twice. extra are locks besides those that come with
// locksim. Errors are those of [play.RunFile.Setup] and [play.Run].
func (t Trial) Play(extra []play.Lock) ([]Fence, error) {
	sc, l, err := t.Run.Setup(extra)
	if err != nil {
		return nil, err
	}
	o, err := play.Run(sc, l, play.RunOptions{Seed: t.Run.Seed, Modes: fence.Modes(), Repeat: play.Twice})
	if err != nil {
		return nil, fmt.Errorf("a break in every fencing mode: %w", err)
	}
	var out []Fence
	for _, m := range o.Modes {
		f := Fence{Mode: m.Mode, Label: m.Verdict.Label, Effect: NoFence, TraceHash: m.TraceHash}
		if m.Mode != fence.None {
			f.Effect = effectOf(o.Modes[0].Verdict.Label, m.Verdict.Label)
		}
		out = append(out, f)
	}
	return out, nil
}
