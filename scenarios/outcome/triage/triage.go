// Package triage remembers the violations of earlier explorations by their shape, and says of each what has become of
// it: new, still there, back, or gone.
//
// The memory is one file, [FileName], in a folder that the user chooses. It counts rounds and knows no time of the
// clock: the same explorations in the same order give the same file.
package triage

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"locksim/internal/prose"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/failure"
)

// FileName is the name of the memory in its folder.
const FileName = "triage.json"

// Version is the version of the file that this package reads and writes, and Kind is its kind.
const (
	Version = 1
	Kind    = "triage"
)

// State is what has become of a violation in the latest round.
type State string

// The states.
const (
	// New means that no earlier round has seen the shape.
	New State = "new"
	// Back means that the shape was gone before.
	Back State = "back"
	// Still means that the round before has seen it too.
	Still State = "still"
	// Gone means that the latest round has not found the shape, and that the stored schedule no longer breaks the lock.
	Gone State = "gone"
)

// States are the states, in the order in which they are shown.
func States() []State { return []State{New, Back, Still, Gone} }

// Words is the state as a person says it: "still there".
func (s State) Words() string {
	if s == Still {
		return "still there"
	}
	return string(s)
}

// History is what a folder knows of all its explorations.
type History struct {
	// Version is the version of the file.
	Version int `json:"version"`
	// Kind is the kind of the document.
	Kind string `json:"kind"`
	// Subjects are the locks that were explored, by name and by what they are judged by.
	Subjects []Subject `json:"subjects"`
}

// Subject is what is known of one lock, judged in one way.
type Subject struct {
	// Lock is the name of the lock.
	Lock string `json:"lock"`
	// Judge is what the lock is judged by.
	Judge string `json:"judge"`
	// Rounds counts the explorations so far, the latest among them.
	Rounds int `json:"rounds" jsonschema:"minimum=1"`
	// Shapes are the violations, by their shape: new ones first, then those that are back, still there, and gone.
	Shapes []Shape `json:"shapes"`
}

// Shape is one violation over time.
type Shape struct {
	// Shape is what the violations that count as one have in common.
	Shape string `json:"shape"`
	// State is what has become of it in the latest round.
	State State `json:"state" jsonschema:"enum=new,enum=back,enum=still,enum=gone"`
	// First is the first round in which the lock failed so, from 1 on.
	First int `json:"first_round" jsonschema:"minimum=1"`
	// Last is the latest round in which the lock failed so.
	Last int `json:"last_round" jsonschema:"minimum=1"`
	// Returns counts how often it came back.
	Returns int `json:"returns"`
	// Replayed says that the latest round did not find it, and that its stored schedule still breaks the lock.
	Replayed bool `json:"replayed,omitempty"`
	// Problem says why its stored schedule could not be played. Then it is not known whether it is gone.
	Problem string `json:"problem,omitempty"`
	// Seed is the seed of its smallest run.
	Seed uint64 `json:"seed"`
	// Happened says what happened in that run, in a sentence.
	Happened string `json:"happened,omitempty"`
	// Replay is the command that makes that run again.
	Replay string `json:"replay,omitempty"`
	// Run is its smallest run, which can be made again. It is absent in the document of an exploration, which has the run
	// elsewhere.
	Run *outcome.RunFile `json:"run,omitempty"`
}

// Read reads the file. name names it in the error.
func Read(name string, data []byte) (*History, error) {
	h := new(History)
	if err := json.Unmarshal(data, h); err != nil {
		return nil, fmt.Errorf("%s: this is no memory of explorations: %w: name another folder, or remove the file", name,
			err)
	}
	if h.Kind != Kind || h.Version != Version {
		return nil, fmt.Errorf("%s: this is no memory of explorations of version %d: name another folder, or remove the file",
			name, Version)
	}
	return h, nil
}

// JSON is the file.
func (h *History) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(h)
	return b.Bytes(), err
}

// Take adds the violations that one more exploration of a lock has found, and returns what is known of the lock now.
//
// replay is the command that makes the run of a violation again. A known shape that was not found is played again:
// again reports for each of the runs whether it still breaks the lock. An error in its place says that the run could
// not be played: the shape counts as still there, with that problem. An error of again itself ends Take, and the
// history is as before.
func (h *History) Take(lock, judge string, found failure.Failures, replay func(*failure.Failure) string,
	again func([]*outcome.RunFile) ([]bool, []error, error)) (*Subject, error) {
	s := h.subject(lock, judge)
	next := Subject{Lock: lock, Judge: judge, Rounds: s.Rounds + 1, Shapes: slices.Clone(s.Shapes)}
	seen := map[string]bool{}
	for i := range found {
		f := &found[i]
		if f.Run == nil || seen[f.Shape] {
			continue
		}
		seen[f.Shape] = true
		next.see(f, replay(f))
	}
	var missing []int
	var runs []*outcome.RunFile
	for i, known := range next.Shapes {
		if !seen[known.Shape] {
			missing, runs = append(missing, i), append(runs, known.Run)
		}
	}
	if len(runs) > 0 {
		fails, problems, err := again(runs)
		if err != nil {
			return nil, err
		}
		for n, i := range missing {
			next.Shapes[i].tried(next.Rounds, fails[n], problems[n])
		}
	}
	slices.SortStableFunc(next.Shapes, func(a, b Shape) int {
		return cmp.Or(slices.Index(States(), a.State)-slices.Index(States(), b.State), strings.Compare(a.Shape, b.Shape))
	})
	*s = next
	return s, nil
}

// subject is the entry of a lock. A new one is added in its place.
func (h *History) subject(lock, judge string) *Subject {
	i, known := slices.BinarySearchFunc(h.Subjects, Subject{Lock: lock, Judge: judge}, func(a, b Subject) int {
		return cmp.Or(strings.Compare(a.Lock, b.Lock), strings.Compare(a.Judge, b.Judge))
	})
	if !known {
		h.Subjects = slices.Insert(h.Subjects, i, Subject{Lock: lock, Judge: judge})
	}
	return &h.Subjects[i]
}

// see notes a violation that the latest round has found, and the command that makes its run again.
func (s *Subject) see(f *failure.Failure, replay string) {
	i := slices.IndexFunc(s.Shapes, func(known Shape) bool { return known.Shape == f.Shape })
	if i < 0 {
		i = len(s.Shapes)
		s.Shapes = append(s.Shapes, Shape{Shape: f.Shape, State: New, First: s.Rounds, Last: s.Rounds})
	} else {
		s.Shapes[i].failed(s.Rounds)
	}
	shape := &s.Shapes[i]
	shape.Seed, shape.Run, shape.Replay, shape.Replayed, shape.Problem = f.Run.Seed, f.Run, replay, false, ""
	shape.Happened = ""
	for _, a := range f.Answers {
		if a.Question == outcome.WhatHappened {
			shape.Happened = a.Text
		}
	}
}

// failed notes that the lock fails so in a round.
func (s *Shape) failed(round int) {
	if s.State == Gone {
		s.State, s.Returns = Back, s.Returns+1
	} else {
		s.State = Still
	}
	s.Last = round
}

// tried notes what became of the stored schedule in a round.
func (s *Shape) tried(round int, fails bool, problem error) {
	s.Replayed, s.Problem = fails, ""
	switch {
	case problem != nil:
		first, _, _ := strings.Cut(problem.Error(), "\n")
		s.Problem = first
		if s.State != Gone {
			s.State = Still
		}
	case fails:
		s.failed(round)
	default:
		s.State = Gone
	}
}

// Counts are the numbers of shapes by state. Of those that are gone, only those count that were there the round before.
func (s *Subject) Counts() map[State]int {
	out := map[State]int{}
	for _, shape := range s.Shapes {
		if shape.State != Gone || shape.Last == s.Rounds-1 {
			out[shape.State]++
		}
	}
	return out
}

// Text is the latest round in a sentence: "Round 3: 1 new, 2 still there, 1 gone."
func (s *Subject) Text() string {
	counts, parts := s.Counts(), []string{}
	for _, state := range States() {
		if n := counts[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state.Words()))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "no violation")
	}
	return fmt.Sprintf("Round %d: %s.", s.Rounds, strings.Join(parts, ", "))
}

// Worse reports whether the latest round has a violation that the round before had not.
func (s *Subject) Worse() bool {
	counts := s.Counts()
	return counts[New]+counts[Back] > 0
}

// Brief is the subject without the stored runs.
func (s *Subject) Brief() *Subject {
	brief := *s
	brief.Shapes = slices.Clone(s.Shapes)
	for i := range brief.Shapes {
		brief.Shapes[i].Run = nil
	}
	return &brief
}

// Text is what has become of the shape, after the state: "since round 2", "first seen in round 1, gone since round 4".
func (s Shape) Text() string {
	var parts []string
	switch s.State {
	case New:
		return fmt.Sprintf("first seen in round %d", s.First)
	case Gone:
		when := fmt.Sprintf("rounds %d to %d", s.First, s.Last)
		if s.First == s.Last {
			when = fmt.Sprintf("round %d", s.First)
		}
		parts = append(parts, "seen in "+when+": its stored schedule does not break the lock any more")
	case Back, Still:
		parts = append(parts, fmt.Sprintf("first seen in round %d", s.First))
	}
	if s.Returns > 0 {
		parts = append(parts, "came back "+prose.Count(s.Returns, "time"))
	}
	if s.Replayed {
		parts = append(parts, "not drawn in this round: its stored schedule still breaks the lock")
	}
	if s.Problem != "" {
		parts = append(parts, "its stored schedule could not be played: "+s.Problem)
	}
	return strings.Join(parts, "; ")
}
