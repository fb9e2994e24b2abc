package file

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"locksim/internal/prose"
)

// MaxSteps is the greatest number of steps of a section.
const MaxSteps = 16

// Step is one step of a section: what a client does while it has the lock.
type Step struct {
	// Do is what it does.
	Do StepKind
	// Register is what a read or a write is of: a word of lower-case letters, digits
	// and hyphens. Other steps have none.
	Register string
	// For is the length of work. 0 means Workload.Hold. Other steps have none.
	For time.Duration
}

// StepKind is what a step of a section does.
type StepKind string

const (
	// StepRead reads a register.
	StepRead StepKind = "read"
	// StepWork works for some time.
	StepWork StepKind = "work"
	// StepCheck looks whether the lease still stands, and ends the section if not.
	StepCheck StepKind = "check"
	// StepWrite writes a register that the section has read.
	StepWrite StepKind = "write"
)

// stepKinds lists them.
var stepKinds = []StepKind{StepRead, StepWork, StepCheck, StepWrite}

// String is the step as a file writes it.
func (s Step) String() string {
	switch {
	case s.Register != "":
		return fmt.Sprintf("%s: %s", s.Do, scalar(s.Register))
	case s.For != 0:
		return fmt.Sprintf("%s: %v", s.Do, s.For)
	}
	return string(s.Do)
}

// Registers that the sections of the kinds work on.
const (
	balance = "balance"
	reserve = "reserve"
	stock   = "stock"
)

// Steps are the steps of a section: those that the workload lists, or those of its
// kind. The caller owns the slice.
func (w Workload) Steps() []Step {
	switch {
	case w.Section != nil:
		return slices.Clone(w.Section)
	case w.Kind.row().steps != nil:
		return slices.Clone(w.Kind.row().steps)
	}
	return []Step{{Do: StepRead, Register: balance}, {Do: StepWork}, {Do: StepWrite, Register: balance}}
}

// Writes are the registers that a section writes, in order.
func (w Workload) Writes() []string { return registersOf(w.Steps(), StepWrite) }

// Registers are the registers that a section reads, in order: it writes no others.
func (w Workload) Registers() []string { return registersOf(w.Steps(), StepRead) }

func registersOf(steps []Step, kind StepKind) []string {
	var out []string
	for _, s := range steps {
		if s.Do == kind {
			out = append(out, s.Register)
		}
	}
	return out
}

// Working is how long a client works under one grant.
func (w Workload) Working() time.Duration {
	var total time.Duration
	for _, s := range w.Steps() {
		if s.Do == StepWork {
			total += s.WorksFor(w.Hold)
		}
	}
	return total * time.Duration(w.Sections())
}

// WorksFor is the length of work, if a section of the workload works for hold.
func (s Step) WorksFor(hold time.Duration) time.Duration {
	if s.For > 0 {
		return s.For
	}
	return hold
}

var registerName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// IsRegister reports whether a section can name a register so.
func IsRegister(name string) bool { return registerName.MatchString(name) }

// validateSection checks the steps of a section: the checker knows what a write is
// based on only if its section has read the register before, and takes whatever is done
// after the last write for another section.
func (s checked) validateSection() error {
	w := s.Workload
	if w.Section == nil {
		return nil
	}
	switch {
	case w.Kind != "" && w.Kind != WorkloadRegister:
		return wrong("workload.kind", "the section has steps of its own: leave kind out, or section")
	case w.Nested > 0:
		return wrong("workload.nested", "a section with steps of its own has no section within it: leave nested out, or "+
			"section")
	case len(w.Section) == 0:
		return wrong("workload.section", "there is no step: list some, such as %s", exampleSection)
	case len(w.Section) > MaxSteps:
		return wrong(fmt.Sprintf("workload.section[%d]", MaxSteps), "there are %d steps: a section has at most %d",
			len(w.Section), MaxSteps)
	}
	var read, written []string
	writes := len(w.Writes())
	for i, step := range w.Section {
		path := fmt.Sprintf("workload.section[%d]", i)
		if err := step.validate(path); err != nil {
			return err
		}
		switch r := step.Register; {
		case step.Do == StepRead && slices.Contains(read, r):
			return wrong(path, "%s was read before: a section reads a register once", r)
		case step.Do == StepRead && writes > 0 && len(written) == writes:
			return wrong(path, "%s is read after the last write, where nothing depends on it: read it before, or leave the "+
				"step out", r)
		case step.Do == StepRead:
			read = append(read, r)
		case step.Do == StepWrite && slices.Contains(written, r):
			return wrong(path, "%s was written before: a section writes a register once", r)
		case step.Do == StepWrite && !slices.Contains(read, r):
			return wrong(path, "%s was not read before: what a write is based on is known only of a register that its section "+
				"has read; put read: %s before it", r, r)
		case step.Do == StepWrite:
			written = append(written, r)
		}
	}
	return nil
}

// validate checks one step.
func (s Step) validate(path string) error {
	switch s.Do {
	case StepRead, StepWrite:
		if !IsRegister(s.Register) {
			return wrong(path, "%q cannot be a register: write a word of up to 32 of a-z, 0-9 and -, such as stock", s.Register)
		}
	case StepWork:
		return inLimits(path, s.For, 0)
	case StepCheck:
	default:
		return wrong(path, "there is no step %q: %s", string(s.Do), prose.Choose(string(s.Do), words(stepKinds)))
	}
	return nil
}

// exampleSection is for errors.
const exampleSection = "[read: stock, work: 2s, check, write: stock]"

// readSection reads the steps of a section.
func readSection(v value) []Step {
	steps := []Step{}
	for _, element := range v.elements(exampleSection) {
		steps = append(steps, readStep(element))
	}
	return steps
}

// readStep reads a step: a word, or one key with its value.
func readStep(v value) (s Step) {
	key, operand := value{}, false
	if all, isWord := v.word(); isWord {
		key = value{p: v.p, path: v.path, pos: v.pos, keyPos: v.pos, key: all}
	} else {
		pairs := v.entries()
		if len(pairs) != 1 {
			v.p.fail(v.pos, "%s: a step is a word or one key with its value, such as check or read: stock", v.name())
			return s
		}
		key, operand = pairs[0], true
	}
	s.Do = StepKind(key.key)
	switch s.Do {
	case StepRead, StepWrite:
		if !operand {
			v.p.fail(key.keyPos, "%s: a %s needs a register, such as %s: stock", v.name(), s.Do, s.Do)
			return s
		}
		key.text(&s.Register)
		v.p.at[v.path] = key.pos
	case StepWork:
		if !operand {
			return s
		}
		key.duration(&s.For)
		v.p.at[v.path] = key.pos
		if s.For == 0 {
			v.p.fail(key.pos, "%s: 0s is no length of time: leave the step out, or write work for the time of hold", v.name())
		}
	case StepCheck:
		if operand {
			v.p.fail(key.pos, "%s: a check has no value: write check alone", v.name())
		}
	default:
		v.p.fail(key.keyPos, "%s: there is no step %q: %s", v.name(), key.key, prose.Choose(key.key, words(stepKinds)))
	}
	return s
}

// formatSection is the key of the steps, if the workload lists them.
func formatSection(steps []Step) string {
	if steps == nil {
		return ""
	}
	texts := make([]string, len(steps))
	for i, s := range steps {
		texts[i] = s.String()
	}
	return fmt.Sprintf(", section: [%s]", strings.Join(texts, ", "))
}
