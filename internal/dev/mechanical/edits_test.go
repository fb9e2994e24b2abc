package mechanical

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locksim/internal/dev/checkout"
)

// Each case is a small source with all its mutants: the name, and what is there instead of what.
func TestEdits(t *testing.T) {
	for _, tc := range []struct {
		file, text string
		want       []string
	}{
		{"lock/a.go", `package lock

import "context"

const size = 4

func (l *lease) renew(ctx context.Context, n int) (ok bool, err error) {
	defer l.close()
	sent := now()
	if n > 0 && sent.Before(l.until) {
		n--
		return false, errLate
	}
	for n < 0x10 || l.done {
		ask(l.ctx, ctx, func() error { return nil })
	}
	switch {
	case n == 1:
		l.lose()
	}
	return true, nil
}

func (b Backoff) validate() error {
	if b.Min < 0 {
		return errLate
	}
	return nil
}
`, []string{
			"a-more-1: 4 -> 5",
			"a-less-1: 4 -> 3",
			"a-lease.renew-drop-1: defer l.close() -> ",
			"a-lease.renew-drop-2: if n > 0 && sent.Before(l.until) { n-- return false, errLate } -> ",
			"a-lease.renew-negate-1: n > 0 && sent.Before(l.until) -> !(n > 0 && sent.Before(l.until))",
			"a-lease.renew-bound-1: > -> >=",
			"a-lease.renew-more-1: 0 -> 1",
			"a-lease.renew-less-1: 0 -> (-1)",
			"a-lease.renew-either-1: && -> ||",
			"a-lease.renew-bound-2: sent.Before(l.until) -> (!sent.After(l.until))",
			"a-lease.renew-drop-3: n-- -> ",
			"a-lease.renew-drop-4: return false, errLate -> ",
			"a-lease.renew-success-1: errLate -> nil",
			"a-lease.renew-drop-5: for n < 0x10 || l.done { ask(l.ctx, ctx, func() error { return nil }) } -> ",
			"a-lease.renew-negate-2: n < 0x10 || l.done -> !(n < 0x10 || l.done)",
			"a-lease.renew-bound-3: < -> <=",
			"a-lease.renew-more-2: 0x10 -> 17",
			"a-lease.renew-less-2: 0x10 -> 15",
			"a-lease.renew-both-1: || -> &&",
			"a-lease.renew-drop-6: ask(l.ctx, ctx, func() error { return nil }) -> ",
			"a-lease.renew-context-1: l.ctx -> context.Background()",
			"a-lease.renew-context-2: ctx -> context.Background()",
			"a-lease.renew-drop-7: return nil -> ",
			"a-lease.renew-drop-8: switch { case n == 1: l.lose() } -> ",
			"a-lease.renew-drop-9: case n == 1: l.lose() -> ",
			"a-lease.renew-more-3: 1 -> 2",
			"a-lease.renew-less-3: 1 -> 0",
			"a-lease.renew-drop-10: l.lose() -> ",
			"a-lease.renew-drop-11: return true, nil -> ",
		}},
		{"lock/b.lua", `-- redis.call == and or
local n = redis.call('GET', 'a == b and c')
if not n or n <= 1 then -- less == 1
  redis.call('DEL', KEYS[1])
  n = 2
end
return n ~= 1
`, []string{
			"b.lua-both-1: or -> and",
			"b.lua-bound-1: <= -> <",
			"b.lua-drop-1: redis.call('DEL', KEYS[1]) -> ",
			"b.lua-drop-2: n = 2 -> ",
			"b.lua-drop-3: return n ~= 1 -> ",
			"b.lua-negate-1: ~= -> ==",
		}},
	} {
		list, err := edits(tc.file, []byte(tc.text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range list {
			got = append(got, fmt.Sprintf("%s: %s -> %s", strings.TrimPrefix(e.Name, "mechanical/"),
				strings.Join(strings.Fields(e.Before), " "), e.After))
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s has\n%s\nwant\n%s", tc.file, strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
		}
	}
}

// A mutant changes its place and no other byte of the file.
func TestAMutantChangesOnePlace(t *testing.T) {
	root := t.TempDir()
	const text = "package lock\n\nfunc f(n int) bool   { return n<1 } // odd format\n"
	if err := os.Mkdir(filepath.Join(root, "lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "lock", "a.go")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := edits("lock/a.go", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(e Edit) bool { return e.Name == "mechanical/a-f-bound-1" })
	got, err := list[i].Mutated(root)
	if want := strings.Replace(text, "n<1", "n<=1", 1); err != nil || got != want {
		t.Errorf("the mutant is\n%s%v, want\n%s", got, err, want)
	}
	if err := os.WriteFile(file, []byte("package lock\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := list[i].Mutated(root); err == nil {
		t.Error("a mutant of a file that has changed is made")
	}
}

// The mutants of package lock have names of their own, and kinds that are searched. The names of functions are those of
// the source.
func TestMechanicalMutants(t *testing.T) {
	root, err := checkout.Root()
	if err != nil {
		t.Fatal(err)
	}
	all, err := List(root)
	if err != nil {
		t.Fatal(err)
	}
	names, files := map[string]bool{}, map[string]bool{}
	for _, e := range all {
		if names[e.Name] || strings.Count(e.Name, "/") != 1 {
			t.Errorf("%s: the name is odd, or taken", e.Name)
		}
		names[e.Name] = true
		if n := len(e.Kinds()); n < 1 || n > 2 {
			t.Errorf("%s is searched in %d kinds of lock", e.Name, n)
		}
		base := filepath.Base(e.File)
		files[base], files[base+":"+e.Function] = true, true
		if e.Before == e.After {
			t.Errorf("%s changes nothing", e.Name)
		}
	}
	for name := range concerned {
		if !files[name] {
			t.Errorf("%s has kinds, and no mutants", name)
		}
	}
	declared := map[string]bool{}
	sources, err := filepath.Glob(filepath.Join(root, "lock", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range sources {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func \((?:\w+ )?\*?(\w+)\) (\w+)\(`).FindAllSubmatch(text, -1) {
			declared[fmt.Sprintf("%s.%s", m[1], m[2])] = true
		}
	}
	for _, name := range unconcerned {
		if !declared[name] {
			t.Errorf("package lock has no function %s", name)
		}
	}
}

// The sample is that of the file, in its order. Each of its mutants compiles, since only such are drawn.
func TestSampleIsThatOfTheFile(t *testing.T) {
	root, err := checkout.Root()
	if err != nil {
		t.Fatal(err)
	}
	drawn, possible, tried, err := drawSample(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ReadSample(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(drawn) != sampleSize || possible != r.Possible || tried != r.Drawn {
		t.Errorf("%d of %d possible mutants after %d draws, the file has %d of %d after %d: run go -C internal/dev run "+
			"./mutants sample",
			len(drawn), possible, tried, len(r.Mutants), r.Possible, r.Drawn)
	}
	if !slices.EqualFunc(r.Mutants, drawn, Tested.Is) {
		t.Errorf("the sample is not that of %s: run go -C internal/dev run ./mutants sample", SampleFile)
	}
}

// A result of another source is kept on demand only, and stays marked from then on.
func TestKeptUnitTests(t *testing.T) {
	r := Sample{Source: "now", Mutants: []Tested{{Name: "a", Killed: true}, {Name: "b", Earlier: true}}}
	for _, c := range []struct {
		source  string
		earlier bool
		want    []Tested
	}{
		{"now", false, []Tested{{Name: "a", Killed: true}}},
		{"now", true, r.Mutants},
		{"next", false, nil},
		{"next", true, []Tested{{Name: "a", Killed: true, Earlier: true}, {Name: "b", Earlier: true}}},
	} {
		if got := r.kept(c.source, c.earlier); !slices.Equal(got, c.want) {
			t.Errorf("source %s, earlier %v: %v, want %v", c.source, c.earlier, got, c.want)
		}
	}
}

// The same mutants are drawn, whatever becomes of the others: the draw of one depends on its name alone.
func TestSampleIsStable(t *testing.T) {
	var all []Edit
	for i := range 50 {
		all = append(all, Edit{Name: fmt.Sprintf("mechanical/a-f-drop-%d", i)})
	}
	compiles := func(e Edit) bool { return !strings.HasSuffix(e.Name, "3") }
	drawn, tried := sample(all, 10, sampleSeed, compiles)
	if len(drawn) != 10 || tried < 10 {
		t.Fatalf("%d mutants after %d draws, want 10", len(drawn), tried)
	}
	for i, e := range drawn {
		if !compiles(e) || i > 0 && !(slices.Index(all, drawn[i-1]) < slices.Index(all, e)) {
			t.Errorf("%s is drawn after %v: it does not compile, or the order is not that of the source", e.Name, drawn[:i])
		}
	}
	fewer := slices.DeleteFunc(slices.Clone(all), func(e Edit) bool { return e == drawn[4] })
	again, _ := sample(fewer, 9, sampleSeed, compiles)
	if want := slices.Delete(slices.Clone(drawn), 4, 5); !slices.Equal(again, want) {
		t.Errorf("without %s the sample is\n%v\nwant\n%v", drawn[4].Name, again, want)
	}
}
