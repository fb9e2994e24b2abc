package file_test

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
)

func TestLibraryIsSortedAndNamedLikeItsFiles(t *testing.T) {
	all, err := file.Library()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
		if want := "library/" + s.Name + ".yaml"; s.File != want {
			t.Errorf("%s is in %s, want %s", s.Name, s.File, want)
		}
	}
	want := []string{"calm", "gc-pause", "holder-crash", "late-packet", "partition-holder"}
	if missing := slices.DeleteFunc(want, func(n string) bool { return slices.Contains(names, n) }); len(missing) > 0 {
		t.Errorf("the library lacks %v", missing)
	}
	if !slices.IsSorted(names) {
		t.Errorf("not sorted: %v", names)
	}
}

// A scenario fits on one screen, and has a title, a reason and an expectation.
func TestLibraryFilesAreReadable(t *testing.T) {
	all, err := file.Library()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		lines := strings.Split(string(s.Source), "\n")
		if len(lines) > 48 {
			t.Errorf("%s has %d lines: more than a screen", s.File, len(lines))
		}
		for i, line := range lines {
			if len(line) > 80 {
				t.Errorf("%s:%d has %d characters: more than a screen", s.File, i+1, len(line))
			}
		}
		if s.Title == "" || s.Why == "" || len(s.Expect) == 0 {
			t.Errorf("%s lacks a title, a reason or an expectation", s.File)
		}
	}
}

// Each specimen has a cell that shows its fault.
func TestLibraryCatchesEachSpecimen(t *testing.T) {
	all, err := file.Library()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range kinds.Specimens() {
		worst := checker.Label("")
		for _, s := range all {
			if slices.Contains(s.LockNames(), name) {
				for _, mode := range fence.Modes() {
					worst = checker.Worse(worst, s.Expect[name][mode])
				}
			}
		}
		if slices.Contains([]checker.Label{"", checker.NotApplicable, checker.Safe, checker.Rescued}, worst) {
			t.Errorf("%s: the worst that any scenario expects of it is %q", name, worst)
		}
	}
}

func TestLoad(t *testing.T) {
	t.Chdir(t.TempDir())
	source := "name: mine\n"
	for _, file := range []string{"mine.yaml", "mine.yml", "plain"} {
		if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for from, want := range map[string]string{
		"gc-pause": "gc-pause", "mine.yaml": "mine", "mine.yml": "mine", "./plain": "mine",
	} {
		s, err := file.Load(from)
		if err != nil || s.Name != want {
			t.Errorf("Load(%q) = %v, %v; want the scenario %s", from, s, err, want)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("bad.yaml", []byte("name: bad\nworld: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("huge.yaml", make([]byte, file.MaxSource+1), 0o600); err != nil {
		t.Fatal(err)
	}
	others := "locksim list shows all; or name a file by its path, such as ./my.yaml"
	for _, tt := range []struct {
		from, want string
		cause      error
	}{
		{"gc-pasue", `there is no scenario "gc-pasue" in the library: did you mean gc-pause? ` + others, nil},
		{"nothing-like-it", `there is no scenario "nothing-like-it" in the library: ` + others, nil},
		{"none.yaml", "cannot read the scenario: open none.yaml: no such file or directory: " +
			"give the path of a YAML file, or a name that locksim list shows", fs.ErrNotExist},
		{"bad.yaml", "bad.yaml:2:8: world: want keys with values, such as {key: value}, found the number 3\n" +
			"   2 | world: 3\n     |        ^", nil},
		{"huge.yaml", "huge.yaml: the file is too long: a scenario has at most 32768 bytes and 1000 lines", nil},
	} {
		_, err := file.Load(tt.from)
		var input *file.InputError
		if !errors.As(err, &input) {
			t.Errorf("Load(%q) = %v, want an *InputError", tt.from, err)
			continue
		}
		if tt.cause != nil && !errors.Is(err, tt.cause) {
			t.Errorf("Load(%q) = %v, want %v in it", tt.from, err, tt.cause)
		}
		if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
			t.Errorf("Load(%q) (-want +got):\n%s", tt.from, diff)
		}
	}
}
