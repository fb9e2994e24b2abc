package reach

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/internal/book"
	"locksim/internal/dev/checkout"
	"locksim/internal/dev/mechanical"
	"locksim/internal/dev/patch"
	"locksim/internal/dev/strategies/trials"
	"locksim/internal/soak"
)

// committed are the root of the module, and all subjects.
func committed(t *testing.T) (root string, all []subject) {
	t.Helper()
	root, err := checkout.Root()
	if err != nil {
		t.Fatal(err)
	}
	all, err = readSubjects(root)
	if err != nil {
		t.Fatal(err)
	}
	return root, all
}

// Each patch fits a file of package lock, and what it makes of a Go file type-checks. There
// are at least 60 that can be noticed.
func TestPatchesFitTheSource(t *testing.T) {
	root, all := committed(t)
	compile, err := mechanical.NewCompiler(t.Context(), root, "lock")
	if err != nil {
		t.Fatal(err)
	}
	names, noticeable := map[string]string{}, 0
	for _, s := range all {
		if s.patch == nil {
			continue
		}
		text, err := s.patch.Mutated(root)
		if err != nil {
			t.Error(err)
			continue
		}
		if filepath.Dir(s.patch.File) != "lock" {
			t.Error(s.patch.Errorf(4, "%s is no file of package lock", s.patch.File))
		}
		if err := compile.Check(s.patch.File, text); err != nil {
			t.Error(s.patch.Errorf(4, "%v", err))
		}
		if !sentence.MatchString(s.patch.Breaks) {
			t.Error(s.patch.Errorf(1, "%q is no sentence", s.patch.Breaks))
		}
		if s.equivalent != "" && !sentence.MatchString(s.equivalent) {
			t.Error(s.patch.Errorf(3, "%q is no reason", s.equivalent))
		}
		_, name, _ := strings.Cut(s.name, "/")
		if other := names[name]; other != "" || !mutantName.MatchString(s.name) {
			t.Errorf("%s: its name is odd, or taken by %s", s.patch.Path, other)
		}
		names[name] = s.patch.Path
		if s.equivalent == "" {
			noticeable++
		}
	}
	if noticeable < 60 {
		t.Errorf("%d mutants that can be noticed, want 60 at least", noticeable)
	}
}

var (
	sentence   = regexp.MustCompile(`^[A-Z].* .*\.$`)
	mutantName = regexp.MustCompile(`^[a-z]+/[a-z]+(-[a-z]+)*$`)
)

// The sample is the same each time, two thirds of it are made by hand, none is equivalent, and a larger one has all of
// it.
func TestSample(t *testing.T) {
	names := func(size int) (out []string) {
		_, all := committed(t)
		for _, s := range drawn(all, size).sample() {
			if s.equivalent != "" {
				t.Errorf("%s is in the sample, and no run can show it", s.name)
			}
			out = append(out, s.name)
		}
		slices.Sort(out)
		return out
	}
	small, large := names(30), names(60)
	if len(small) != 30 || len(large) != 60 || !slices.Equal(large, names(60)) {
		t.Fatalf("samples of %d and %d mutants, want 30 and 60, the same each time", len(small), len(large))
	}
	byHand := 0
	for _, name := range small {
		if !slices.Contains(large, name) {
			t.Errorf("%s is in the sample of 30, and not in that of 60", name)
		}
		if !strings.HasPrefix(name, mechanical.Group+"/") {
			byHand++
		}
	}
	if byHand != 20 {
		t.Errorf("%d of 30 are made by hand, want 20", byHand)
	}
	if all := names(10_000); len(all) <= 200 {
		t.Errorf("the whole has %d mutants, want more than 200", len(all))
	}
}

// Of 40 of 40, and of 20 of 40, as the interval of Wilson has it.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		n, of int
		want  string
	}{{40, 40, "40 (91 % to 100 %)"}, {20, 40, "20 (35 % to 65 %)"}, {0, 10, "0 (0 % to 28 %)"}, {0, 0, "–"}} {
		if got := share(c.n, c.of); got != c.want {
			t.Errorf("%d of %d: %s, want %s", c.n, c.of, got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	by := func(name string) subject {
		return subject{name: name, patch: &patch.Patch{Path: name + ".patch", Breaks: "It breaks."}}
	}
	p := population{byHand: []subject{by("b/two"), by("a/one"), by("c/three"), by("d/four"), by("e/five")}, handSize: 4}
	searches := func(runs ...int) (out []trials.Trial) {
		for _, n := range runs {
			out = append(out, trials.Trial{Found: n > 0, Runs: max(n, -n)})
		}
		return out
	}
	l := limits{1000, time.Second}
	found := map[string]result{
		"a/one": {Name: "a/one", Lock: "single", Commit: "x", Trials: searches(3, 1200, 7)},
		"b/two": {Name: "b/two", Lock: "redlock", Commit: "x", Trials: searches(-1000, 5, -1000)},
		"d/four": {Name: "d/four", Lock: "fair", Commit: "y", Trials: []trials.Trial{
			{Found: true, What: "stuck without faults"}, {Found: true, What: "stuck without faults"},
			{Found: true, What: "stuck without faults"}}},
	}
	table := markdown(p, found, l)
	for _, want := range []string{
		"4 of the 5 that were made by hand", "Without a result yet, 1: c/three.", "Measured at x, y.",
		"| made by hand | 3 | 3 (44 % to 100 %) | 2 (21 % to 94 %) |",
		"| [a/one](../a/one.patch) | It breaks. | single | 3, 1,200, 7 |\n| [b/two](../b/two.patch) | It breaks. | redlock " +
			"| –, 5, – |",
		"| fair | stuck without faults |",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
}

// The sentences of the READMEs about planted mistakes have the numbers of the page, which is that of the stored
// results.
func TestReadmeHasTheNumbers(t *testing.T) {
	root, _ := committed(t)
	report, err := os.ReadFile(filepath.Join(root, "reports", "REACH.md"))
	if err != nil {
		t.Fatal(err)
	}
	shares := map[string][]string{}
	for _, m := range regexp.MustCompile(
		`(?m)^\| (made by hand|mechanical) \| (\d+) \| (\d+) .*\| (\d+) \(`).FindAllStringSubmatch(string(report), -1) {
		shares[m[1]] = m[2:]
	}
	hand, mech := shares["made by hand"], shares["mechanical"]
	if len(hand) != 3 || len(mech) != 3 {
		t.Fatalf("reports/REACH.md has no shares of both parts: %q", shares)
	}
	for name, sentence := range map[string]string{
		"docs/explanation/found.md": fmt.Sprintf("Of a sample of %s made by hand that a run can show, %s are found; of %s "+
			"mechanical ones that the unit tests notice, %s.", hand[0], hand[1], mech[0], mech[1]),
		"docs/explanation/found.zh.md": fmt.Sprintf("抽取的 %s 个中，找到 %s 个；单元测试能发现的 %s 个机械变异中，找到 %s 个。",
			hand[0], hand[1], mech[0], mech[1]),
	} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), sentence) {
			t.Errorf("%s does not say: %s", name, sentence)
		}
	}
}

// A planted mistake is found, and what the lock without it fails, too, is no find.
func TestSearch(t *testing.T) {
	soak.Only(t, "it builds three programs")
	root, all := committed(t)
	i := slices.IndexFunc(all, func(s subject) bool { return s.name == "ownership/release-without-owner" })
	shop := &trials.Workshop{Root: root, Dir: t.TempDir()}
	plan := trials.Plan{Lock: "single", Strategies: []string{"mixed"}, Firsts: []uint64{1}, CPU: time.Minute, Runs: 300}
	made, err := shop.Search(t.Context(), "planted", all[i].overlay, plan)
	if err != nil || len(made) != 1 || !made[0].Found {
		t.Errorf("a release that deletes any key: %+v, %v", made, err)
	}
	nothing := func(_, dir string) (string, error) { // the lock has the mistake of its specimen with it and without
		file := filepath.Join(dir, "overlay.json")
		return file, os.WriteFile(file, []byte("{}"), 0o600)
	}
	plan.Lock = "broken/del-without-owner"
	if made, err := shop.Search(t.Context(), "unplanted", nothing, plan); !errors.Is(err, trials.ErrFalseAlarm) {
		t.Errorf("a lock that is wrong without the mistake: %+v, error %v, want %v", made, err, trials.ErrFalseAlarm)
	}
}

// The page is that of the stored results.
func TestPageIsOfTheResults(t *testing.T) {
	root, all := committed(t)
	page, err := os.ReadFile(filepath.Join(root, "reports", "REACH.md"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := book.Read(filepath.Join(root, resultsFile), result.key)
	if err != nil {
		t.Fatal(err)
	}
	p, l := drawn(all, 60), limits{10_000, 15 * time.Second}
	if d := cmp.Diff(markdown(p, p.stored(b, l), l), string(page)); d != "" {
		t.Errorf("make reach REACH=--table makes another page (-want +got):\n%s", d)
	}
}
