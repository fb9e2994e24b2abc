package playground_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/playground"
	"locksim/lock/fence"
)

// story is the source of a scenario of the library.
func story(t *testing.T, name string) string {
	t.Helper()
	menu, err := playground.NewMenu()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range menu.Stories {
		if s.Name == name {
			return s.Source
		}
	}
	t.Fatalf("there is no story %s", name)
	return ""
}

// An answer has a panel and a story for each course of the runs, and the command that makes them again.
func TestPlay(t *testing.T) {
	a := playground.Play(playground.Request{Source: story(t, "gc-pause"), Seed: 1})
	if a.Problem != nil {
		t.Fatal(a.Problem.Text)
	}
	var labels []checker.Label
	for _, m := range a.Modes {
		labels = append(labels, m.Label)
	}
	if len(labels) != 3 || labels[0] != checker.Corrupted || labels[2] != checker.Rescued || len(a.Diagram.Panels) != 2 ||
		len(a.Runs) != 2 || len(a.Answers) != 4 {
		t.Errorf("labels %v, %d panels, %d runs, %d answers", labels, len(a.Diagram.Panels), len(a.Runs), len(a.Answers))
	}
	if want := "locksim run gc-pause --lock fenced --seed 1 --fencing none,check,seal"; a.Command != want {
		t.Errorf("the command is %q, want %q", a.Command, want)
	}
	if r := a.Runs[0]; r.Fatal == 0 || r.Since >= r.At || len(r.Lines) < 10 || len(r.Events) < 20 {
		t.Errorf("the run has the decisive step %d from %d to %d, %d lines and %d events", r.Fatal, r.Since, r.At,
			len(r.Lines), len(r.Events))
	}
}

// A shorter pause does no harm; the file has it where it had the longer one.
func TestAKnobChangesTheFile(t *testing.T) {
	source := story(t, "gc-pause")
	a := playground.Play(playground.Request{Source: source, Seed: 1, Modes: []fence.Mode{fence.None},
		Set: map[string]string{"faults[0].pause.for": "2s", "lock.ttl": "30s"}})
	if a.Problem != nil {
		t.Fatal(a.Problem.Text)
	}
	want := strings.Replace(strings.Replace(source, "for: 15s", "for: 2s", 1), "ttl: 10s", "ttl: 30s", 1)
	if a.Source != want || a.Modes[0].Label != checker.Safe {
		t.Errorf("%s, of\n%s", a.Modes[0].Label, a.Source)
	}
	if !strings.HasPrefix(a.Command, "locksim run ./scenario.yaml ") {
		t.Errorf("the command is %q", a.Command)
	}
}

// Each slider of each story can be moved, and the file then has what it says.
func TestKnobsOfAllStories(t *testing.T) {
	menu, err := playground.NewMenu()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range menu.Stories {
		for _, k := range playground.Knobs(s.Source) {
			to := 3 * time.Second
			changed, err := playground.Turned(s.Source, k.Path, to.String())
			if err != nil {
				t.Errorf("%s: %s: %v", s.Name, k.Path, err)
				continue
			}
			for _, now := range playground.Knobs(changed) {
				if now.Path == k.Path && now.Value != int64(to) {
					t.Errorf("%s: %s is %s, want %v", s.Name, k.Path, now.Text, to)
				}
			}
		}
	}
}

// What is wrong with a file is said with its line.
func TestAProblemHasItsLine(t *testing.T) {
	for source, line := range map[string]int{
		strings.Replace(story(t, "gc-pause"), "ttl: 10s", "ttl: soon", 1):         10,
		strings.Replace(story(t, "gc-pause"), "kind: fenced", "kind: nothing", 1): 10,
		strings.Replace(story(t, "gc-pause"), "faults:", "fault:", 1):             12,
	} {
		if a := playground.Play(playground.Request{Source: source, Seed: 1}); a.Problem == nil || a.Problem.Line != line ||
			a.Problem.Text == "" {
			t.Errorf("the problem is %+v, want line %d", a.Problem, line)
		}
	}
}

func TestLabels(t *testing.T) {
	labels, err := playground.Labels(playground.Request{Source: story(t, "gc-pause"), Seed: 3,
		Modes: []fence.Mode{fence.Seal, fence.None}})
	if err != nil || len(labels) != 2 || labels[0] != checker.Rescued || labels[1] != checker.Corrupted {
		t.Errorf("%v, %v", labels, err)
	}
}

// What a browser loads has no templates, no server that is not asked for, and no client of one.
func TestTheEngineIsSmall(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command("go", "list", "-deps", "./wasm")
	cmd.Env = append(cmd.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	heavy := regexp.MustCompile(
		`^(text/template|html/template|net/http|github.com/spf13/.*|go\.etcd\.io/.*|google\.golang\.org/.*|locksim/reports/html|locksim/internal/playground/page)$`)
	for _, pkg := range strings.Fields(string(out)) {
		if heavy.MatchString(pkg) {
			t.Errorf("the engine compiles %s", pkg)
		}
	}
}
