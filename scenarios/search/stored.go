package search

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/subject"
)

// StoredDir is where tests store failures, below the folder of their package, and look for them first.
const StoredDir = "testdata/locksim"

// StoredName is the name of the file of a failure that a test tries. It has the lock, the violation, the kinds of the
// faults, and eight digits that distinguish this test, schedule and seed from others. label is "" for a run without a
// violation.
func StoredName(run *outcome.RunFile, label checker.Label, sc *file.Scenario) string {
	words := []string{run.Lock}
	if label != "" {
		words = append(words, string(label))
	}
	var kinds []string
	for _, fault := range sc.Faults {
		kinds = append(kinds, fault.Action.Kind())
	}
	slices.Sort(kinds)
	words = append(words, slices.Compact(kinds)...)
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s\n%s", run.Seed, run.Test, run.Source))
	const most = 80 // characters; file systems take 255 bytes
	name := Slug(strings.Join(words, "-"))
	return strings.TrimRight(name[:min(len(name), most)], "-") + "-" + hex.EncodeToString(sum[:4]) + ".json"
}

// Slug replaces characters that are not safe in file names on every system.
func Slug(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, text)
}

// Untried says why a test of a lock does not try a stored failure: it judges the lock differently. It is "" for one
// that the test tries.
func Untried(l subject.Lock, run *outcome.RunFile, sc *file.Scenario) string {
	if _, ok := run.Modes[l.JudgedMode()]; !ok {
		return fmt.Sprintf("the lock is judged in mode %s here, and was judged in another mode then", l.JudgedMode())
	}
	if (len(l.Promise.Exclusion) > 0 || l.Promise.Data != "") && !l.Promises(sc.Faults) && len(sc.Faults) > 0 {
		return "the promise by which the lock is judged here does not cover its faults"
	}
	return ""
}
