package scene

import (
	"fmt"
	"slices"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
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
	checker.Corrupted: "it broke here", checker.Rescued: "the fence held here",
	checker.FalseReject: "wrongly refused here",
	checker.Panicked:    "it panicked here",
	checker.Stuck:       "stuck since here", checker.Hung: "called here, and did not return",
	checker.Unknown: "undecided here", checker.Overlap: "overlap here",
	checker.Void: "nothing was promised here", checker.Revived: "held again here", checker.Overtaken: "overtaken here",
	checker.Misconduct: "not as promised here",
	checker.Repeated:   "worked again here", checker.Regressed: "the token did not grow here",
}

// Decision is the decisive step of the run, nil where there is none.
func (s *Scene) Decision() *Instant {
	if s.Fatal == 0 {
		return nil
	}
	return &Instant{s.Fatal, s.At(checker.Pos(s.Fatal)), decisions[s.Run.Verdict.Label]}
}

// Merged keeps one scene of those whose runs took the same course to the same label:
// the first, with the modes of the others.
func Merged(scenes []*Scene) []*Scene {
	var out []*Scene
	for _, s := range scenes {
		i := slices.IndexFunc(out, func(one *Scene) bool {
			return one.Run.Verdict.Label == s.Run.Verdict.Label && sameCourse(one.Run, s.Run)
		})
		if i < 0 {
			out = append(out, s)
			continue
		}
		out[i].Also = append(out[i].Also, s.Run.Mode)
		out[i].reworded = out[i].reworded || out[i].Run.TraceHash != s.Run.TraceHash
	}
	return out
}

// sameCourse reports whether two runs have the same events at the same times, and differ
// at most in the reasons that the store gives for what it refuses: each rule has its own.
func sameCourse(a, b *outcome.ModeRun) bool {
	d := trace.Diff(a.Trace, b.Trace)
	if d == nil {
		return true
	}
	if a.Trace.Len() != b.Trace.Len() {
		return false
	}
	for i := d.N - 1; i < a.Trace.Len(); i++ {
		if !sameEvent(a.Trace.Events[i], b.Trace.Events[i]) {
			return false
		}
	}
	return true
}

// sameEvent reports whether two events differ at most in the reason of a refusal.
func sameEvent(a, b trace.Event) bool {
	if a.At != b.At || a.Actor != b.Actor || a.Peer != b.Peer || a.Kind() != b.Kind() {
		return false
	}
	switch x := a.What.(type) {
	case trace.Decision:
		y, ok := b.What.(trace.Decision)
		return ok && x.Same(y) && x.Value == y.Value && (x.Refused == "") == (y.Refused == "")
	case trace.Mark:
		if y, ok := b.What.(trace.Mark); ok && x.Outcome != "" && y.Outcome != "" {
			x.Problem, y.Problem = "", ""
			return x == y
		}
	case trace.Send:
		if a.Actor == trace.Store { // its decisions are compared
			return true
		}
	case trace.Receive:
		if a.Peer == trace.Store {
			return true
		}
	}
	return a.Text() == b.Text()
}

// ShowsRun reports whether a run is that of the scene, or one that was the same.
func (s *Scene) ShowsRun(run *outcome.ModeRun) bool {
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

// Story is the story of the run. In a scene of several modes, the remark on the decisive
// step is about all of them.
func (s *Scene) Story() []outcome.Line {
	at := Decisive(s.Run.Story)
	if at < 0 || len(s.Also) == 0 || s.Run.Story[at].Shared {
		return s.Run.Story
	}
	remark := outcome.FatalRemark(s.Run, s.Modes())
	if remark == "" {
		return s.Run.Story
	}
	story := slices.Clone(s.Run.Story)
	story[at].Remark, story[at].Text = remark, story[at].What+" — "+remark
	return story
}

// Reworded says that modes of the scene differ in the words of a refusal, and whose
// words are shown; it is empty where they do not.
func (s *Scene) Reworded() string {
	if !s.reworded {
		return ""
	}
	return fmt.Sprintf("Modes %s gave the same run: they differ only in the reason that the store gives for a refusal. "+
		"The words are those of mode %s.",
		prose.Commas(s.Modes()), s.Run.Mode)
}

// Divergence is the first step at which a run differs from the first one, nil where
// they are the same, and for live runs, which differ from the first step on.
func (s *Scene) Divergence(first *Scene) *Instant {
	if s.live {
		return nil
	}
	d := trace.Diff(first.Run.Trace, s.Run.Trace)
	if d == nil {
		return nil
	}
	return &Instant{d.N, s.At(checker.Pos(d.N)), fmt.Sprintf("parts from mode %s", first.Run.Mode)}
}

// Divergences say how each run differs from the first one. Runs that differ in the
// same way share a sentence, and so do the modes of one scene. There is nothing to say of
// live runs, which differ from the first step on.
func Divergences(scenes []*Scene) []string {
	if len(scenes) > 0 && scenes[0].live {
		return nil
	}
	var out []string
	said := map[string]int{}
	for i := 1; i < len(scenes); i++ {
		what := difference(scenes[0], scenes[i])
		for _, mode := range scenes[i].Modes() {
			at, known := said[what]
			if !known {
				said[what] = len(out)
				out = append(out, "Mode "+string(mode))
				continue
			}
			out[at] += " and mode " + string(mode)
		}
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
	text := fmt.Sprintf("the same run as mode %s up to step %d. They part at %s", first.Run.Mode, d.N-1,
		prose.Seconds(s.At(checker.Pos(d.N))))
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
func storyText(story []outcome.Line, n int) string {
	for _, l := range story {
		if l.N == n {
			return l.Actor + " " + l.What
		}
	}
	return ""
}
