package scene

import (
	"fmt"
	"slices"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/play"
	"locksim/sim/trace"
)

// Instant is a moment of a run, with its name.
type Instant struct {
	Step int
	At   time.Duration
	Text string
}

// decisions name the decisive step of a run.
var decisions = map[checker.Label]string{
	checker.Corrupted: "it broke here", checker.Rescued: "the fence held here", checker.FalseReject: "wrongly refused here",
	checker.Stuck: "stuck since here", checker.Unknown: "undecided here", checker.Overlap: "overlap here",
	checker.Void: "nothing was promised here", checker.Revived: "held again here", checker.Overtaken: "overtaken here",
	checker.Misconduct: "not as promised here",
	checker.Repeated:   "worked again here",
}

// Decision is the decisive step of the run, nil where there is none.
func (s *Scene) Decision() *Instant {
	if s.Fatal == 0 {
		return nil
	}
	return &Instant{s.Fatal, s.At(checker.Pos(s.Fatal)), decisions[s.Run.Verdict.Label]}
}

// Merged keeps one scene of those whose runs have the same events and the same label:
// the first, with the modes of the others.
func Merged(scenes []*Scene) []*Scene {
	var out []*Scene
	first := map[string]*Scene{}
	for _, s := range scenes {
		same := string(s.Run.Verdict.Label) + " " + s.Run.TraceHash
		if one, known := first[same]; known {
			one.Also = append(one.Also, s.Run.Mode)
			continue
		}
		first[same] = s
		out = append(out, s)
	}
	return out
}

// ShowsRun reports whether a run is that of the scene, or one that was the same.
func (s *Scene) ShowsRun(run *play.ModeRun) bool {
	return run != nil && (s.Run == run || slices.Contains(s.Also, run.Mode))
}

// Modes are the mode of the run and those whose runs were the same.
func (s *Scene) Modes() []fence.Mode { return append([]fence.Mode{s.Run.Mode}, s.Also...) }

// Title is the title of the scene: "mode none", "modes check, seal".
func (s *Scene) Title() string {
	if len(s.Also) == 0 {
		return "mode " + string(s.Run.Mode)
	}
	return "modes " + prose.Commas(s.Modes())
}

// Divergence is the first step at which a run differs from the first one, nil where
// they are the same.
func (s *Scene) Divergence(first *Scene) *Instant {
	d := trace.Diff(first.Run.Trace, s.Run.Trace)
	if d == nil {
		return nil
	}
	return &Instant{d.N, s.At(checker.Pos(d.N)), fmt.Sprintf("parts from mode %s", first.Run.Mode)}
}

// Divergences say how each run differs from the first one. Runs that differ in the
// same way share a sentence.
func Divergences(scenes []*Scene) []string {
	var out []string
	said := map[string]int{}
	for i := 1; i < len(scenes); i++ {
		what := difference(scenes[0], scenes[i])
		at, known := said[what]
		if !known {
			said[what] = len(out)
			out = append(out, "Mode "+string(scenes[i].Run.Mode))
			continue
		}
		out[at] += " and mode " + string(scenes[i].Run.Mode)
	}
	for what, at := range said {
		out[at] += ": " + what
	}
	return out
}

// difference is how a run differs from the first one.
func difference(first, s *Scene) string {
	d := trace.Diff(first.Run.Trace, s.Run.Trace)
	if d == nil {
		return fmt.Sprintf("the same run as mode %s, event by event.", first.Run.Mode)
	}
	text := fmt.Sprintf("the same run as mode %s up to step %d. They part at %s", first.Run.Mode, d.N-1, prose.Seconds(s.At(checker.Pos(d.N))))
	before, after := storyText(first.Run.Story, d.N), storyText(s.Run.Story, d.N)
	switch {
	case after == "":
		return text + "."
	case before == "":
		return text + ": here " + after + "."
	}
	return text + fmt.Sprintf(": in mode %s %s; here %s.", first.Run.Mode, before, after)
}

// storyText is the text of a step in a story, "" where the story does not have it.
func storyText(story []play.Line, n int) string {
	for _, l := range story {
		if l.N == n {
			return l.Actor + " " + l.What
		}
	}
	return ""
}
