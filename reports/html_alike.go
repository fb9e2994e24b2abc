package reports

import (
	"slices"
	"strings"

	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/play"
)

// Alike says how [HTML] shows runs that were the same, event by event, and ended
// alike.
type Alike int

const (
	// Apart gives each run a diagram and a story of its own. It is the default.
	Apart Alike = iota
	// Together gives them one diagram and one story that name all of their modes.
	// A page of many modes is then a fraction as long.
	Together
)

// together leaves of the runs that were the same the first, with the modes of the
// others.
func together(scenes []*scene) []*scene {
	var out []*scene
	first := map[string]*scene{}
	for _, s := range scenes {
		same := string(s.run.Verdict.Label) + " " + s.run.TraceHash
		if one, known := first[same]; known {
			one.also = append(one.also, s.run.Mode)
			continue
		}
		first[same] = s
		out = append(out, s)
	}
	return out
}

// tells says that the story of the scene is that of a run: its own, or the same.
func (s *scene) tells(run *play.ModeRun) bool {
	return run != nil && (s.run == run || slices.Contains(s.also, run.Mode))
}

// inModes is a mode, with those whose runs were the same.
func inModes(mode fence.Mode, also []fence.Mode) string {
	if len(also) == 0 {
		return "mode " + string(mode)
	}
	return "modes " + prose.Commas(append([]fence.Mode{mode}, also...))
}

// Named is what the panel is called: its mode, or its modes.
func (p panel) Named() string { return inModes(p.Mode, p.Also) }

// Named is what the story is called.
func (p storyPart) Named() string { return inModes(p.Mode, p.Also) }

// Modes are those of the story, as a choice names them.
func (p storyPart) Modes() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.Named(), "modes "), "mode ")
}
