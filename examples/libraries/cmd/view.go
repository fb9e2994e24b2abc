package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/examples/libraries"
	"locksim/internal/prose"
	"locksim/lock"
	"locksim/scenarios/outcome/tally"
)

// enough is how many runs of each class of fault a ✓ needs.
const enough = 30

// part is a part of a cell as it is shown: a mark, and what it means in a sentence.
type part struct {
	kind
	// Short is the mark with its numbers, Sentence what it means.
	Short, Sentence string
	// Failures are those that it counts.
	Failures  []libraries.Failure
	NoVerdict string
	broken    bool
}

// kind says what a part is about.
type kind string

// The kinds of parts: what the documentation says, what one would wish besides, what is under faults for which the lock
// promises nothing.
const (
	documented kind = "documented"
	wished     kind = "wished"
	beyond     kind = "beyond"
)

// counted are shares added up.
type counted struct {
	runs, evidence, broken, wished int
	labels                         map[string]int
	// rarest is the least number of runs in which one of the classes was felt, as each was drawn alone; felt has it for
	// each.
	rarest   int
	felt     []string
	idle     []string // the classes that are nothing here, with the reason
	failures []libraries.Failure
	problem  string
}

// add adds up shares of which some hold for a condition.
func addUp(shares []libraries.Share, promised bool) (n counted, any bool) {
	n.labels = map[string]int{}
	first := true
	for _, s := range shares {
		if s.Promised != promised {
			continue
		}
		any = true
		if s.Idle != "" {
			n.idle = append(n.idle, strings.TrimPrefix(names(s.Faults)+": "+s.Idle, ": "))
			continue
		}
		n.runs, n.evidence, n.broken, n.wished = n.runs+s.Runs, n.evidence+s.Evidence, n.broken+s.Broken, n.wished+s.Wished
		for label, k := range s.Labels {
			n.labels[label] += k
		}
		if len(s.Faults) <= 1 {
			if first || s.Felt < n.rarest {
				n.rarest = s.Felt
			}
			first = false
		}
		if len(s.Faults) == 1 {
			n.felt = append(n.felt, fmt.Sprintf("%s %d", s.Faults[0], s.Felt))
		}
		n.failures = append(n.failures, s.Failures...)
		if n.problem == "" {
			n.problem = s.NoVerdict
		}
	}
	return n, any
}

// partsOf are the parts of a cell that say something. None is left out: each failing run is counted in one.
func partsOf(c *libraries.Cell, l libraries.LockSheet) []part {
	if c.Trouble == libraries.Misused {
		return misusedOf(c, l.Misuse)
	}
	var out []part
	n, promised := addUp(c.Shares, true)
	if promised {
		out = append(out, n.documented(l.Detection))
		if p, ok := n.wishes(); ok {
			out = append(out, p)
		}
	}
	if m, any := addUp(c.Shares, false); any {
		if p := m.beyond(l.Detection); p.Short != "–" || !promised || n.problem != "" {
			out = append(out, p)
		} else { // it says no more in the table than that of the promise
			out[0].Sentence += " " + p.Sentence
		}
	}
	return out
}

// allowed says of a ✓ that two holders within the time that a holder has to notice its loss are not counted: "" is for
// a lock that ends by itself.
func allowed(detection string) string {
	if detection == "" {
		return ""
	}
	return fmt.Sprintf(" Two holders for up to %s, within which a holder learns of its loss, are not counted.", detection)
}

func (n counted) documented(detection string) part {
	p := part{kind: documented, NoVerdict: n.problem}
	for _, f := range n.failures {
		if f.Against != nil {
			p.Failures = append(p.Failures, f)
		}
	}
	switch {
	case n.problem != "":
		p.Short, p.Sentence = "?", "No verdict: "+firstLine(n.problem)
	case n.broken > 0:
		p.broken = true
		p.Short = fmt.Sprintf("✗ %d/%d", n.broken, n.evidence)
		p.Sentence = fmt.Sprintf("It breaks what its documentation says, in %d of the %d runs in which two clients wanted "+
			"it (%s).", n.broken, n.evidence, n.allLabels())
	case n.runs == 0:
		p.Short, p.Sentence = "–", "Not applicable."
	default:
		p.Short = fmt.Sprintf("✓ %d", n.rarest)
		such := "such runs"
		if len(n.felt) > 0 {
			such = "the runs of the rarest fault"
		}
		p.Sentence = fmt.Sprintf("It keeps what its documentation says in all of %d runs in which two clients wanted it; "+
			"with 95 %% confidence fewer than %s of %s break it.", n.evidence, tally.Percent(tally.RateBound(0, n.rarest)),
			such) +
			allowed(detection)
		if n.rarest < enough {
			p.Short = fmt.Sprint(n.rarest)
			p.Sentence += fmt.Sprintf(" Fewer than %d runs of one class are too few for a sign.", enough)
		}
	}
	p.Sentence += n.rest()
	return p
}

// rest says how often each class was felt, and which are nothing here.
func (n counted) rest() (text string) {
	if len(n.felt) > 0 {
		text += " The fault was felt in these runs: " + prose.Commas(n.felt) + "."
	}
	if len(n.idle) > 0 {
		text += " Not played: " + strings.Join(n.idle, "; ") + "."
	}
	return text
}

// wishes is what broke no sentence, but what one would wish.
func (n counted) wishes() (part, bool) {
	if n.wished == 0 || n.problem != "" {
		return part{}, false
	}
	p := part{kind: wished, Short: fmt.Sprintf("(✗ %d/%d)", n.wished, n.evidence), broken: true}
	for _, f := range n.failures {
		if f.Against == nil {
			p.Failures = append(p.Failures, f)
		}
	}
	p.Sentence = fmt.Sprintf("No sentence of the documentation says that this does not happen, and we wish it did: in "+
		"%d of the %d runs in which two clients wanted it (%s).",
		n.wished, n.evidence, n.allLabels())
	return p, true
}

func (n counted) beyond(detection string) part {
	p := part{kind: beyond, Failures: n.failures, NoVerdict: n.problem}
	failed := n.broken + n.wished
	switch {
	case n.problem != "":
		p.Short, p.Sentence = "?", "No verdict: "+firstLine(n.problem)
	case failed > 0:
		p.broken = true
		p.Short = fmt.Sprintf("(✗ %d/%d)", failed, n.evidence)
		p.Sentence = fmt.Sprintf("It promises nothing here, and broke: in %d of the %d runs in which two clients wanted "+
			"it (%s).", failed, n.evidence, n.allLabels())
	case n.runs == 0:
		p.Short = "–"
	default:
		p.Short = fmt.Sprintf("(✓ %d)", n.rarest)
		if n.rarest < enough {
			p.Short = fmt.Sprintf("(%d)", n.rarest)
		}
		p.Sentence = fmt.Sprintf("It promises nothing here, and held in all of %d runs in which two clients wanted it.",
			n.evidence) + allowed(detection)
	}
	p.Sentence = strings.TrimSpace(p.Sentence + n.rest())
	return p
}

// misusedOf is the part of a cell in which the caller makes mistakes, which nobody promises to bear.
func misusedOf(c *libraries.Cell, misuse string) []part {
	n, _ := addUp(c.Shares, false)
	p := n.beyond("")
	if n.runs > 0 && n.problem == "" {
		p.Sentence = fmt.Sprintf("%s: no documentation promises that this does no harm. In %d of the %d runs in which two "+
			"clients wanted it a caller did that; %d runs failed",
			misuse, c.Shares[0].Felt, n.evidence, n.broken+n.wished)
		if p.broken {
			p.Sentence += " (" + n.allLabels() + ")"
		}
		p.Sentence += "."
	}
	return []part{p}
}

// Class names the mark, for a page.
func (p part) Class() string {
	switch {
	case p.NoVerdict != "":
		return "unknown"
	case p.Short == "–":
		return "none"
	case p.kind == documented && p.broken:
		return "broken"
	case p.broken:
		return "beyond"
	}
	return "kept"
}

// markOf are the marks of a cell, in one line, with the findings that are known where no schedule shows them.
func markOf(c *libraries.Cell, l libraries.LockSheet) string {
	var out []string
	for _, p := range partsOf(c, l) {
		out = append(out, p.Short)
	}
	if known(c, l) != nil {
		out[0] += " †"
	}
	return strings.Join(out, " ")
}

// known are the findings that break the lock in this trouble, where the schedules of the cell do not: it has a dagger
// for them. They say more than the schedules do.
func known(c *libraries.Cell, l libraries.LockSheet) []string {
	parts := partsOf(c, l)
	if len(parts) == 0 || parts[0].broken || parts[0].Class() == "none" {
		return nil
	}
	return l.Why[c.Trouble]
}

// beside are the columns of other faults in which a smallest run has faults of this one alone: a loss of power may have
// become the end of a process. Such a run breaks the lock here too, though no schedule of the cell does.
func beside(c *libraries.Cell, l libraries.LockSheet, others []*libraries.Cell) (columns []string) {
	trouble, err := libraries.FindTrouble(c.Trouble)
	if parts := partsOf(c, l); err != nil || len(parts) == 0 || parts[0].broken || parts[0].Class() == "none" {
		return nil
	}
	within := func(f libraries.Failure) bool {
		return len(f.Classes) > 0 && !slices.ContainsFunc(f.Classes, func(class lock.Fault) bool {
			return !slices.Contains(trouble.Faults, class)
		})
	}
	for _, other := range others {
		if other.Trouble == c.Trouble {
			continue
		}
		if slices.ContainsFunc(other.Shares,
			func(s libraries.Share) bool { return slices.ContainsFunc(s.Failures, within) }) {
			columns = append(columns, other.Trouble)
		}
	}
	return columns
}

// names are those of classes of fault, "" for runs without any.
func names(faults []lock.Fault) string {
	var out []string
	for _, f := range faults {
		out = append(out, cmp.Or(string(f), "runs without faults"))
	}
	return prose.Commas(out)
}

// allLabels says how many runs had each label.
func (n counted) allLabels() string {
	keys := slices.SortedFunc(maps.Keys(n.labels), func(a, b string) int {
		if n.labels[a] != n.labels[b] {
			return n.labels[b] - n.labels[a]
		}
		return strings.Compare(a, b)
	})
	for i, k := range keys {
		keys[i] = fmt.Sprintf("`%s` %d", k, n.labels[k])
	}
	return strings.Join(keys, ", ")
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}

// labelText is a label with its meaning, for the legend.
type labelText struct{ Label, Means string }

// legend has the labels that occur in a table.
func legend() []labelText {
	var out []labelText
	for _, l := range checker.Labels() {
		if text, ok := meanings[l]; ok {
			out = append(out, labelText{string(l), text})
		}
	}
	return out
}

// meanings are those of the labels of failing runs.
var meanings = map[checker.Label]string{
	checker.Corrupted:   "the data is wrong, in the mode in which it should be right",
	checker.Panicked:    "the code of the lock panicked",
	checker.Stuck:       "the lock could not be taken again, or a key was left behind",
	checker.Hung:        "a call other than an Acquire did not return in time, although most of the servers answered",
	checker.FalseReject: "the fence refused a client that rightfully had the lock",
	checker.Rescued:     "two clients had the lock, and the fence saved the data",
	checker.Void:        "an Acquire returned as granted, with a lease that had ended or that the lock knew to be lost",
	checker.Revived:     "a lease that had ended, and was granted to another client, was made to hold again",
	checker.Misconduct: "a call failed although nothing was wrong, or a holder was told of its loss later than the " +
		"lock says",
	checker.Overtaken: "a later request was granted first, by a lock that promises an order",
	checker.Repeated:  "work that the lock should have prevented was done twice",
	checker.Regressed: "a fencing token was not above those of the grants before it",
	checker.Overlap:   "two clients had the lock at once, and the data was right by luck",
}

// storyOf is the story of a failure, a line for each step.
func storyOf(f libraries.Failure) []string {
	out := slices.Clone(f.Reasons)
	for _, s := range f.Story {
		if s.N == 0 {
			out = append(out, fmt.Sprintf("… %s", prose.Count(s.Skipped, "step")))
			continue
		}
		mark := " "
		if s.Fatal {
			mark = ">"
		}
		out = append(out, fmt.Sprintf("%s %10s  %4d  %-6s %s", mark, prose.Seconds(s.At), s.N, s.Actor, s.Text))
	}
	return out
}
