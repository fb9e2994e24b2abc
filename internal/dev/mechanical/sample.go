package mechanical

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"locksim/internal/dev/gotest"
)

// The sample of the mechanical mutants.
const (
	sampleSize = 200
	sampleSeed = 13
)

// sample draws mutants until so many of them compile, and returns those, in the order of all, and the number drawn.
// The place of a mutant in the order of the draw depends on the seed and its name alone: a change of one function of
// the locks leaves the sample of the others.
func sample(all []Edit, size int, seed uint64, compiles func(Edit) bool) (drawn []Edit, tried int) {
	place := map[string]uint64{}
	for _, e := range all {
		sum := sha256.Sum256([]byte(e.Name))
		place[e.Name] = rand.NewPCG(seed, binary.BigEndian.Uint64(sum[:])).Uint64()
	}
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b Edit) int {
		return cmp.Compare(place[a.Name], place[b.Name])
	})
	chosen := map[string]bool{}
	for _, e := range order {
		if len(chosen) == size {
			break
		}
		tried++
		if compiles(e) {
			chosen[e.Name] = true
		}
	}
	for _, e := range all {
		if chosen[e.Name] {
			drawn = append(drawn, e)
		}
	}
	return drawn, tried
}

// drawSample lists the mechanical mutants of package lock, and draws the sample.
func drawSample(ctx context.Context, root string) (drawn []Edit, possible, tried int, err error) {
	all, err := List(root)
	if err != nil {
		return nil, 0, 0, err
	}
	compile, err := NewCompiler(ctx, root, "lock")
	if err != nil {
		return nil, 0, 0, err
	}
	drawn, tried = sample(all, sampleSize, sampleSeed, func(e Edit) bool {
		text, failure := e.Mutated(root)
		err = errors.Join(err, failure)
		return failure == nil && compile.Check(e.File, text) == nil
	})
	return drawn, len(all), tried, err
}

// SampleFile has the sample with what the unit tests make of it, relative to the root of the checkout. It is made anew
// by go -C internal/dev run ./mutants sample.
const SampleFile = "internal/dev/mechanical/sample.json"

// Sample is the content of [SampleFile].
type Sample struct {
	Possible int    `json:"possible"` // mechanical mutants of package lock
	Drawn    int    `json:"drawn"`    // of them, until a sample of sampleSize compiles
	Tests    string `json:"tests"`    // the command of the unit tests
	// Source is a hash of package lock with its tests: the results are made with it, apart from those of an earlier one.
	Source  string   `json:"source"`
	Mutants []Tested `json:"mutants"`
}

// Tested is what the unit tests make of a mutant.
type Tested struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
	Killed bool   `json:"killed"`
	// By is a test that fails. "" if the tests pass, and also if they ended without the result of one.
	By string `json:"by,omitempty"`
	// Earlier says that the tests ran with an earlier state of package lock or its tests.
	Earlier bool `json:"earlier,omitempty"`
}

// Is reports whether the result is that of an edit.
func (u Tested) Is(e Edit) bool {
	return u.Name == e.Name && u.Before == e.Before && u.After == e.After
}

// unitTests are the flags of the unit tests of package lock. The conformance suite on a real Redis is left out, which
// takes longer than all other tests; the suite plays in the world too. Tests that do not end within the timeout, many
// times what they take, count as failed.
var unitTests = []string{"-short", "-failfast", "-skip", "^TestConformanceOnRedis$", "-timeout", "60s"}

// testLimit limits a build and the tests on the wall clock.
const testLimit = 5 * time.Minute

// ReadSample reads the sample in the checkout at root. Without a file there is none.
func ReadSample(root string) (r Sample, err error) {
	b, err := os.ReadFile(filepath.Join(root, SampleFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(b, &r)
}

// Passing is the number of the mutants with which the unit tests pass.
func (r Sample) Passing() (n int) {
	for _, u := range r.Mutants {
		if !u.Killed {
			n++
		}
	}
	return n
}

func (r Sample) write(root string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	file := filepath.Join(root, SampleFile)
	if err := os.WriteFile(file+".part", append(b, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(file+".part", file)
}

// MakeSample draws the sample, runs the unit tests with each of its mutants, and writes [SampleFile] after each. It
// keeps the results of an interrupted run with the same source, and with earlier those of any source. dir is for
// temporary files. It is an error if the tests fail without a mutant.
func MakeSample(ctx context.Context, root, dir string, earlier bool, progress io.Writer) error {
	drawn, possible, tried, err := drawSample(ctx, root)
	if err != nil {
		return err
	}
	source, err := hashTests(root)
	if err != nil {
		return err
	}
	old, err := ReadSample(root)
	if err != nil {
		return err
	}
	kept := old.kept(source, earlier)
	shop, err := newWorkshop(ctx, root, dir, "lock")
	if err != nil {
		return err
	}
	now := Sample{Possible: possible, Drawn: tried, Tests: "go test " + fmt.Sprint(unitTests) + " ./lock", Source: source}
	for i, e := range drawn {
		k := slices.IndexFunc(kept, func(u Tested) bool { return u.Is(e) })
		if k >= 0 {
			now.Mutants = append(now.Mutants, kept[k])
			kept = slices.Delete(kept, k, k+1)
			continue
		}
		u, err := testWith(ctx, shop, e)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		_, _ = fmt.Fprintf(progress, "%d of %d: %s: killed: %v %s\n", i+1, len(drawn), e.Name, u.Killed, u.By)
		now.Mutants = append(now.Mutants, u)
		part := now
		part.Mutants = slices.Concat(now.Mutants, kept) // an interrupted run must not lose what comes later
		if err := part.write(root); err != nil {
			return err
		}
	}
	return now.write(root)
}

// kept are the results that are still right for a source, and with earlier also those that were right for an earlier
// one.
func (r Sample) kept(source string, earlier bool) (list []Tested) {
	for _, u := range r.Mutants {
		if u.Earlier = u.Earlier || r.Source != source; earlier || !u.Earlier {
			list = append(list, u)
		}
	}
	return list
}

// newWorkshop is for the tests of the package in a folder. It is an error if they fail without a mutant: they would
// seem to kill every mutant.
func newWorkshop(ctx context.Context, root, dir, folder string) (gotest.Workshop, error) {
	shop := gotest.Workshop{Root: root, Dir: dir, Limit: testLimit}
	if t, err := shop.Run(ctx, "./"+folder, ".", unitTests...); err != nil || !t.Passed {
		err = cmp.Or(err, errors.New("they fail"))
		return shop, fmt.Errorf("the tests of %s without a mutant: %w\n%s", folder, err, t.Output)
	}
	return shop, nil
}

// testWith runs the unit tests of its package with a mutant.
func testWith(ctx context.Context, shop gotest.Workshop, e Edit) (Tested, error) {
	u := Tested{Name: e.Name, Before: e.Before, After: e.After}
	overlay, err := e.Overlay(shop.Root, shop.Dir)
	if err != nil {
		return u, err
	}
	t, err := shop.Run(ctx, "./"+path.Dir(e.File), ".", append(slices.Clone(unitTests), "-overlay", overlay)...)
	switch {
	case errors.Is(err, gotest.ErrHangs):
		u.Killed = true
		return u, nil
	case err != nil:
		return u, err
	case !t.Built:
		return u, fmt.Errorf("it does not compile:\n%s", t.Output)
	}
	u.Killed = !t.Passed
	for name, action := range t.Tests { // with -failfast one test fails, and those around it
		if action == "fail" && (len(name) > len(u.By) || len(name) == len(u.By) && name < u.By) {
			u.By = name
		}
	}
	return u, nil
}

// hashTests is a hash of package lock, with its tests and scripts.
func hashTests(root string) (string, error) {
	var files []string
	for _, pattern := range []string{"*.go", "*.lua"} {
		more, err := filepath.Glob(filepath.Join(root, "lock", pattern))
		if err != nil {
			return "", err
		}
		files = append(files, more...)
	}
	hash := sha256.New()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintf(hash, "%s %d\n%s", filepath.Base(file), len(text), text) // it never fails
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), nil
}
