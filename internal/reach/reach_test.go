package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locksim/internal/campaign"
	"locksim/internal/patch"
)

// committed are the root of the module, and all subjects.
func committed(t *testing.T) (root string, all []subject) {
	t.Helper()
	root, err := patch.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err = readSubjects(root, regexp.MustCompile(""))
	if err != nil {
		t.Fatal(err)
	}
	return root, all
}

// Each patch fits a file of package lock, and what it makes of a Go file type-checks. There
// are at least 60 that can be noticed.
func TestPatchesFitTheSource(t *testing.T) {
	root, all := committed(t)
	check := checker(t, root)
	names, noticeable := map[string]string{}, 0
	for _, s := range all {
		if s.isRight() {
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
		if filepath.Ext(s.patch.File) == ".go" {
			if err := check(s.patch.File, text); err != nil {
				t.Error(s.patch.Errorf(4, "%v", err))
			}
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

// checker returns a function that type-checks package lock with another text of one of
// its files.
func checker(t *testing.T, root string) func(file, text string) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Export,GoFiles", "./lock")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports, files := map[string]string{}, []string(nil)
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p struct {
			ImportPath, Export string
			GoFiles            []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if p.ImportPath == "locksim/lock" {
			files = p.GoFiles
		}
	}
	fset := token.NewFileSet()
	parsed := map[string]*ast.File{}
	for _, name := range files {
		if parsed["lock/"+name], err = parser.ParseFile(fset, filepath.Join(root, "lock", name), nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return func(file, text string) error {
		changed, err := parser.ParseFile(fset, file, text, 0)
		if err != nil {
			return err
		}
		if parsed[file] == nil {
			return fmt.Errorf("%s is not compiled", file)
		}
		all := []*ast.File{changed}
		for name, f := range parsed {
			if name != file {
				all = append(all, f)
			}
		}
		_, err = (&types.Config{Importer: imports}).Check("locksim/lock", fset, all, nil)
		return err
	}
}

// A matrix in which scenarios are vacuous, and none is worse than expected, is no find.
func TestVacuousIsNoFind(t *testing.T) {
	for doc, want := range map[string]string{
		`{"cells":[{"scenario":"calm","label":"safe","match":"as-expected","vacuous":"no contention","seeds":2}]}`: "vacuous: calm",
		`{"cells":[{"scenario":"calm","label":"safe","match":"as-expected","vacuous":"no contention","seeds":2},
			{"scenario":"gc-pause","label":"stuck","match":"worse","seeds":2}]}`: "gc-pause: stuck",
	} {
		f, err := library(t.Context(), func(context.Context, ...string) (int, []byte, error) { return exitFound, []byte(doc), nil }, "single", testLimits)
		if err != nil || cell(f) != want || f.found() != strings.Contains(want, "stuck") {
			t.Errorf("the cell is %q, found: %v, %v; want %q", cell(f), f.found(), err, want)
		}
	}
}

// fakeSearch finds every mutant by exploring, and counts how often it is called.
func fakeSearch(calls *[]string) search {
	return func(ctx context.Context, s subject) (result, error) {
		*calls = append(*calls, s.name)
		if err := ctx.Err(); err != nil {
			return result{}, err
		}
		var r result
		for _, kind := range s.kinds {
			k := kindResult{Kind: kind, Explore: []found{{Runs: 10_000}}}
			if !s.isRight() {
				k.Explore[0] = found{Exit: exitFound, Runs: len(s.name), What: "overlap in mode none"}
			}
			r.Kinds = append(r.Kinds, k)
		}
		return r, nil
	}
}

var testLimits = limits{Runs: 10_000, Starts: 1, Seeds: 3, Placements: 100}

// The table has each mutant of the folder with each of its kinds, and each right lock,
// in the order of their names.
func TestTableIsComplete(t *testing.T) {
	_, all := committed(t)
	f := folder{dir: t.TempDir(), limits: testLimits}
	var calls []string
	if err := f.fill(t.Context(), all, campaign.Shard{}, fakeSearch(&calls), io.Discard); err != nil {
		t.Fatal(err)
	}
	rows, missing, err := f.results(all)
	if err != nil || missing > 0 {
		t.Fatalf("%v, %d missing", err, missing)
	}
	table := markdown(rows, testLimits)
	var links, sorted []string
	for _, m := range regexp.MustCompile(`\]\(\.\./(\S+\.patch)\)`).FindAllStringSubmatch(table, -1) {
		links = append(links, m[1])
	}
	pairs := 0
	for _, s := range all {
		pairs += len(s.kinds)
		if !s.isRight() {
			sorted = append(sorted, s.patch.Path)
		}
	}
	slices.Sort(sorted)
	if !slices.Equal(links, sorted) {
		t.Errorf("the table has the mutants\n%v\nwant\n%v", links, sorted)
	}
	if n := strings.Count(table, "\n| ") - strings.Count(table, "\n| mutant ") - strings.Count(table, "\n| lock |"); n != pairs {
		t.Errorf("the table has %d lines, want %d: one for each mutant and kind", n, pairs)
	}
}

// A run that was interrupted, and shards, give the table of one whole run, and no subject
// is searched twice.
func TestResumeGivesTheSameTable(t *testing.T) {
	_, all := committed(t)
	tableOf := func(f folder) string {
		t.Helper()
		rows, missing, err := f.results(all)
		if err != nil || missing > 0 {
			t.Fatalf("%v, %d missing", err, missing)
		}
		return markdown(rows, testLimits)
	}
	whole := folder{dir: t.TempDir(), limits: testLimits}
	var calls []string
	if err := whole.fill(t.Context(), all, campaign.Shard{}, fakeSearch(&calls), io.Discard); err != nil {
		t.Fatal(err)
	}

	parts := folder{dir: t.TempDir(), limits: testLimits}
	calls = nil
	ctx, interrupt := context.WithCancel(t.Context())
	fake := fakeSearch(&calls)
	err := parts.fill(ctx, all, campaign.Shard{}, func(ctx context.Context, s subject) (result, error) {
		if len(calls) == 5 {
			interrupt()
		}
		return fake(ctx, s)
	}, io.Discard)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("the interrupted run: %v", err)
	}
	if _, missing, err := parts.results(all); err != nil || missing != len(all)-5 {
		t.Fatalf("%v, %d of %d are missing after 5", err, missing, len(all))
	}
	calls = nil
	for i := range 3 {
		if err := parts.fill(t.Context(), all, campaign.Shard{Index: i, Count: 3}, fake, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	if len(calls) != len(all)-5 {
		t.Errorf("%d searches after the interruption, want %d", len(calls), len(all)-5)
	}
	if tableOf(parts) != tableOf(whole) {
		t.Error("the table of the parts differs from that of the whole")
	}

	// A result of another program, or with other limits, does not count.
	for _, other := range []folder{{dir: parts.dir, limits: limits{Runs: 1}}, {dir: parts.dir, program: "other", limits: testLimits}} {
		if _, missing, err := other.results(all); err != nil || missing != len(all) {
			t.Errorf("%v, %d of %d are missing with %+v", err, missing, len(all), other)
		}
	}
}

// What locksim prints and its exit codes become the cells of the table; a command that
// could not be judged is no find.
func TestMeasure(t *testing.T) {
	var asked []string
	fake := func(_ context.Context, args ...string) (int, []byte, error) {
		asked = append(asked, strings.Join(args, " "))
		switch {
		case args[0] == "matrix":
			return exitFound, []byte(`{"cells":[{"scenario":"calm","label":"safe","match":"as-expected","seeds":2},
				{"scenario":"gc-pause","label":"overlap","match":"worse","seeds":2}]}`), nil
		case args[0] == "sweep":
			return 0, []byte(`{"plan":{"placements":250},"summary":{"runs":100,"failures":[]}}`), nil
		case strings.Contains(asked[len(asked)-1], "--from-seed 1000001"):
			return exitFound, []byte(`{"summary":{"runs":100,"failures":[{"first_seed":1000041,"violations":[{"mode":"none","label":"stuck"}]}]}}`), nil
		}
		return exitBroken, nil, nil
	}
	k, err := measure(t.Context(), fake, "single", "sweep.yaml", limits{Runs: 500, Starts: 2, Seeds: 2, Placements: 100})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := cells(k), "single | gc-pause: overlap | – | exit 3, 41"; got != want {
		t.Errorf("the cells are %q, want %q", got, want)
	}
	if k.explored() || !k.found() {
		t.Errorf("explored from every first seed: %v, found: %v; want false and true", k.explored(), k.found())
	}
	want := []string{
		"matrix --lock single --seeds 2",
		"sweep sweep.yaml --lock single --promise --shard 0/100000",
		"sweep sweep.yaml --lock single --promise --shard 0/3",
		"explore --lock single --promise --runs 500 --from-seed 1",
		"explore --lock single --promise --runs 500 --from-seed 1000001",
	}
	if !slices.Equal(asked, want) {
		t.Errorf("asked\n%s\nwant\n%s", strings.Join(asked, "\n"), strings.Join(want, "\n"))
	}
}

// The results of one source can be told from those of another.
func TestIdentify(t *testing.T) {
	root, err := patch.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	scenario := filepath.Join(t.TempDir(), "sweep.yaml")
	var ids []string
	for _, text := range []string{"name: a\n", "name: a\n", "name: b\n"} {
		if err := os.WriteFile(scenario, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		id, err := identify(t.Context(), root, scenario)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if ids[0] != ids[1] || ids[0] == ids[2] {
		t.Errorf("two equal sources and another one have the identities %q", ids)
	}
}
