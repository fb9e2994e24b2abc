package playground

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/reports/diagram"
	"locksim/reports/scene"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// Menu is what can be chosen.
type Menu struct {
	Stories []Story      `json:"stories"`
	Locks   []Lock       `json:"locks"`
	Modes   []fence.Mode `json:"modes"`
}

// Story is a scenario of the library that plays on Redis.
type Story struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	Lock   string `json:"lock"`
	Source string `json:"source"`
}

// Lock is a lock on Redis.
type Lock struct {
	Name  string `json:"name"`
	About string `json:"about"`
	// Modes are the fencing modes that its runs compare, unless others are chosen.
	Modes []fence.Mode `json:"modes"`
	// Specimen says that it is wrong on purpose.
	Specimen bool `json:"specimen,omitempty"`
}

// NewMenu is what can be chosen. An error means that the library itself is broken.
func NewMenu() (*Menu, error) {
	m := &Menu{Modes: fence.Modes()}
	for _, name := range slices.Concat(kinds.Names(), kinds.Specimens()) {
		l, err := redislocks.Kind(name)
		if err != nil {
			return nil, err
		}
		m.Locks = append(m.Locks, Lock{name, l.About, subject.DefaultModes(l), strings.HasPrefix(name, kinds.BrokenPrefix)})
	}
	library, err := file.Library()
	if err != nil {
		return nil, err
	}
	for _, sc := range library {
		if _, err := redislocks.Find(sc.Lock.Kind, nil); err == nil {
			m.Stories = append(m.Stories, Story{sc.Name, sc.Title, sc.Lock.Kind, string(sc.Source)})
		}
	}
	return m, nil
}

// Request asks for a run.
type Request struct {
	// Source is the scenario as YAML.
	Source string `json:"source"`
	// Lock is the name of the lock, "" for that of the scenario.
	Lock string `json:"lock"`
	// Modes are the fencing modes, none for those that the lock's runs compare.
	Modes []fence.Mode `json:"modes"`
	Seed  uint64       `json:"seed"`
	// Set changes lengths of time of the scenario first, by the paths of [Knob].
	Set map[string]string `json:"set"`
}

// Answer is a run as the page shows it, or a [Problem].
type Answer struct {
	Problem *Problem `json:"problem,omitempty"`
	// Source is the scenario that was played.
	Source   string           `json:"source"`
	Knobs    []Knob           `json:"knobs"`
	Name     string           `json:"name"`
	Title    string           `json:"title"`
	Lock     string           `json:"lock"`
	Headline string           `json:"headline"`
	Answers  []outcome.Answer `json:"answers"`
	Modes    []ModeEnd        `json:"modes"`
	Remarks  []string         `json:"remarks"`
	// Divergences say how the runs differ.
	Divergences []string        `json:"divergences"`
	Diagram     diagram.Diagram `json:"diagram"`
	Runs        []Run           `json:"runs"` // one for each panel
	Command     string          `json:"command"`
	// Library says that Source is that of the library, so that the command needs no file.
	Library bool `json:"library"`
}

// ModeEnd is how the run of a mode ended.
type ModeEnd struct {
	Mode  fence.Mode    `json:"mode"`
	Label checker.Label `json:"label"`
	Rule  string        `json:"rule"`
	Hash  string        `json:"hash"`
}

// Run is the story of one run, and the moments that its diagram marks.
type Run struct {
	Mode   fence.Mode `json:"mode"`
	Title  string     `json:"title"`
	Fatal  int        `json:"fatal"`
	At     int64      `json:"fatalAt"`
	Since  int64      `json:"since"`
	Lines  []Line     `json:"lines"`
	Listed []string   `json:"listed"`
	Events []Event    `json:"events"`
}

// Line is a line of a story.
type Line struct {
	Step    int    `json:"n"`
	At      int64  `json:"at"`
	Time    string `json:"time"`
	Actor   string `json:"actor"`
	Text    string `json:"text"`
	Fatal   bool   `json:"fatal,omitempty"`
	Shared  bool   `json:"shared,omitempty"`
	LeftOut bool   `json:"gap,omitempty"`
}

// Event is an event that the diagram draws.
type Event struct {
	N     int    `json:"n"`
	At    int64  `json:"at"`
	Actor string `json:"actor"`
	Kind  string `json:"kind"`
	Peer  string `json:"peer"`
	Text  string `json:"text"`
}

// Problem says what is wrong with a request.
type Problem struct {
	Line    int    `json:"line"` // 0 where it is about the whole
	Column  int    `json:"column"`
	Text    string `json:"text"`
	Excerpt string `json:"excerpt"`
}

// Play plays a request.
func Play(r Request) *Answer {
	t, err := newTask(&r)
	if err != nil {
		return &Answer{Problem: problem(err), Source: r.Source}
	}
	o, err := play.Run(t.scenario, t.lock, play.RunOptions{Seed: r.Seed, Modes: t.modes, Shared: true})
	if err != nil {
		return &Answer{Problem: problem(err), Source: r.Source, Knobs: knobs(t.scenario)}
	}
	a := &Answer{Source: r.Source, Knobs: knobs(t.scenario), Name: t.scenario.Name, Title: o.Title(), Lock: t.lock.Name,
		Headline: scene.Headline(o), Answers: outcome.Answers(o), Remarks: scene.Remarks(o), Library: t.inLibrary}
	for _, m := range o.Modes {
		a.Modes = append(a.Modes, ModeEnd{m.Mode, m.Verdict.Label, scene.Rule(m.Mode), m.TraceHash})
	}
	scenes := scene.Merged(scene.All(o))
	a.Divergences, a.Diagram = scene.Divergences(scenes), diagram.Of(scenes)
	for i, s := range scenes {
		a.Runs = append(a.Runs, newRun(s, a.Diagram.Panels[i]))
	}
	a.Command = t.command(r.Seed)
	return a
}

func newRun(s *scene.Scene, p diagram.Panel) Run {
	r := Run{Mode: s.Run.Mode, Title: s.Title(), Fatal: s.Fatal, At: int64(s.At(checker.Pos(s.Fatal))), Listed: p.Listed()}
	if focus := s.Focus(); focus != nil {
		r.Since = int64(focus.Start)
	}
	for _, l := range scene.Excerpt(s.Story()) {
		r.Lines = append(r.Lines, Line{l.Step, int64(l.At), prose.Seconds(l.At), prose.Visible(l.Actor), l.Text, l.Fatal,
			l.Shared, l.LeftOut > 0})
	}
	for _, n := range p.Drawn(s.Run.Trace.Len()) {
		e := s.Run.Trace.Events[n-1]
		r.Events = append(r.Events, Event{e.N, int64(e.At), e.Actor, e.Kind(), e.Peer, prose.Visible(e.Text())})
	}
	return r
}

// task is a request that can be played.
type task struct {
	scenario  *file.Scenario
	lock      subject.Lock
	modes     []fence.Mode
	inLibrary bool
}

// newTask reads a request, and writes its changes into its source.
func newTask(r *Request) (*task, error) {
	sc, err := read(r.Source)
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(r.Set)) {
		if r.Source, err = turn(sc, path, r.Set[path]); err != nil {
			return nil, err
		}
		if sc, err = read(r.Source); err != nil {
			return nil, err
		}
	}
	t := &task{scenario: sc, modes: r.Modes}
	name := r.Lock
	if name == "" {
		name = sc.Lock.Kind
	}
	if t.lock, err = redislocks.Find(name, nil); err != nil {
		return nil, sc.ErrorAt(sc.Pos("lock.kind"), "there is no lock %q here: choose one of %s", name,
			prose.Commas(kinds.Names()))
	}
	if len(t.modes) == 0 {
		t.modes = subject.DefaultModes(t.lock)
	}
	if known, err := file.Load(sc.Name); err == nil {
		t.inLibrary = string(known.Source) == r.Source
	}
	return t, nil
}

// fileName is what the source of a page is called.
const fileName = "scenario.yaml"

func read(source string) (*file.Scenario, error) {
	return file.Parse(fileName, []byte(source), subject.ServerNames()...)
}

func (t *task) command(seed uint64) string {
	what := "./" + fileName
	if t.inLibrary {
		what = t.scenario.Name
	}
	modes := make([]string, len(t.modes))
	for i, m := range t.modes {
		modes[i] = string(m)
	}
	return fmt.Sprintf("locksim run %s --lock %s --seed %d --fencing %s", what, t.lock.Name, seed,
		strings.Join(modes, ","))
}

func problem(err error) *Problem {
	if e, ok := errors.AsType[*file.InputError](err); ok {
		return &Problem{e.Pos.Line, e.Pos.Column, e.Msg, e.Excerpt}
	}
	return &Problem{Text: err.Error()}
}

// Labels plays a request with one seed, and says how each mode ended.
func Labels(r Request) ([]checker.Label, error) {
	t, err := newTask(&r)
	if err != nil {
		return nil, err
	}
	o, err := play.Run(t.scenario, t.lock, play.RunOptions{Seed: r.Seed, Modes: t.modes, Bare: true, Shared: true})
	if err != nil {
		return nil, err
	}
	labels := make([]checker.Label, len(o.Modes))
	for i, m := range o.Modes {
		labels[i] = m.Verdict.Label
	}
	return labels, nil
}

// lengthOf is the text of a length as a scenario file has it: "15s", "1m30s".
func lengthOf(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
