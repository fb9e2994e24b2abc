package failure

import (
	"fmt"
	"strings"

	"locksim/internal/prose"
	"locksim/scenarios/outcome"
)

// Headline is the failure in one line, which begins with its seed.
func (f *Failure) Headline() string {
	if len(f.Violations) == 0 {
		return fmt.Sprintf("seed %d: %s is not deterministic: two runs of this seed differ", f.Seed, f.Lock)
	}
	broken := make([]string, len(f.Violations))
	for i, v := range f.Violations {
		broken[i] = v.String()
	}
	often := ""
	if f.Same < f.Replays {
		often = fmt.Sprintf(" in %d of %d plays", f.Again, f.Replays)
	}
	return fmt.Sprintf("seed %d: %s fails%s: %s", f.Seed, f.Lock, often, strings.Join(broken, ", "))
}

// Text is everything needed to understand the failure: the headline, the answers, the
// violations, the story, and the schedule. The caller adds the last lines, such as
// the command that replays it, and advice about a lock that is not deterministic that depends on how the program was
// built: play.Unseeded.
func (f *Failure) Text(unseeded string, last ...string) string {
	var b strings.Builder
	b.WriteString(f.Headline() + "\n")
	if len(f.Violations) > 0 {
		for _, a := range f.Sure() {
			fmt.Fprintf(&b, "  %s: %s\n", a.Question, prose.Visible(a.Text))
		}
		b.WriteString(indent(f.Reasons))
	}
	b.WriteString(f.doubt(unseeded))
	if len(f.Violations) > 0 {
		fmt.Fprintf(&b, "\nstory in mode %s:\n%s\n", f.Violations[0].Mode, storyText(f.Story))
	}
	fmt.Fprintf(&b, "\nschedule, %s:\n%s\n", f.shrunk(), indent(f.source()))
	return b.String() + strings.Join(last, "\n")
}

// Sure are the answers of a run that is the same each time. Of another one they would say too much, and there are none.
func (f *Failure) Sure() []outcome.Answer {
	if f.Same != f.Replays {
		return nil
	}
	return f.Answers
}

// source is the schedule, line by line.
func (f *Failure) source() []string {
	if f.Run == nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(f.Run.Source, "\n"), "\n")
}

func indent(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("  " + line + "\n")
	}
	return b.String()
}

// shrunk says how many of the drawn faults the schedule has.
func (f *Failure) shrunk() string {
	switch {
	case f.Replays == 0:
		return "as it is stored"
	case f.Again < min(Enough, f.Replays):
		return "as it was drawn"
	}
	return fmt.Sprintf("%s of the %d that were drawn", prose.Count(f.Faults, "fault"), f.Drawn)
}

// doubt says how often the failure replays, if not always.
func (f *Failure) doubt(unseeded string) string {
	if f.Same == f.Replays {
		return ""
	}
	text := fmt.Sprintf("\nNOT DETERMINISTIC: the run replays %s of %d", prose.Count(f.Same, "time"), f.Replays)
	if len(f.Violations) > 0 {
		text += fmt.Sprintf(", and breaks the promise %s of %d", prose.Count(f.Again, "time"), f.Replays)
	}
	return text + "\n" + f.Divergence + "\n" + remedy + unseeded + "\n"
}

// remedy says what to do about a lock that is not deterministic.
const remedy = "a lock must draw from e.Source or e.Entropy, and take its time from e.Clock: the seed does not " +
	"decide the order\n" +
	"of a map, or a select with two ready cases"
