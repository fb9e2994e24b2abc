package store_test

import (
	"strings"
	"testing"

	"locksim/lock/fence"
	"locksim/sim/store"
	"locksim/sim/trace"
)

// serveStore passes lines to a store of a mode, and returns the answers without
// the reasons of refusals.
func serveStore(t *testing.T, mode fence.Mode, lines ...string) []string {
	t.Helper()
	var answers []string
	s := store.New(mode)
	for i, line := range lines {
		answer := s.Serve(line, func(trace.Decision) int { return i + 1 })
		if strings.HasPrefix(answer, "REFUSED ") {
			answer = "REFUSED"
		}
		answers = append(answers, answer)
	}
	return answers
}

// Tokens and claims have the scope of a resource, versions that of a register;
// a version is identified by the operation that wrote it.
func TestStoreScopes(t *testing.T) {
	for _, tc := range []struct {
		name string
		mode fence.Mode
		ops  []string // with the answer after "->"
	}{
		{"a token counts for every register of its resource, and no other", fence.Seal, []string{
			"READ order a c0.r1 2 g0 - -> OK", "WRITE order b c1.w1 1 g1 - -> REFUSED", "WRITE bill b c1.w2 1 g1 - -> OK"}},
		{"a token is its grant's", fence.Strict, []string{
			"READ order a c0.r1 2 g0 - -> OK", "WRITE order b c1.w1 2 g1 - -> REFUSED", "WRITE order b c0.w1 2 g0 - -> OK"}},
		{"a claim counts for every register of its resource, and no other", fence.Claim, []string{
			"READ order a c0.r1 0 g0 - -> OK", "WRITE order b c0.w1 0 g0 - -> OK", "WRITE bill b c0.w2 0 g0 - -> REFUSED",
			"READ order b c1.r1 0 g1 - -> OK c0.w1", "WRITE order a c0.w3 0 g0 - -> REFUSED"}},
		{"a claim needs a grant", fence.Claim, []string{"READ order a c0.r1 0 - - -> REFUSED"}},
		{"a version is one register's", fence.CAS, []string{
			"WRITE order a c0.w1 0 - - -> OK", "WRITE order b c1.w1 0 - - -> OK",
			"WRITE order b c0.w2 0 - c0.w1 -> REFUSED", "WRITE order b c0.w3 0 - c1.w1 -> OK",
			"WRITE order b c1.w2 0 - c1.w1 -> REFUSED", "WRITE order a c1.w3 0 - - -> REFUSED"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var lines, want []string
			for _, op := range tc.ops {
				line, answer, _ := strings.Cut(op, " -> ")
				lines, want = append(lines, line), append(want, answer)
			}
			for i, got := range serveStore(t, tc.mode, lines...) {
				if got != want[i] {
					t.Errorf("%s: %s, want %s", lines[i], got, want[i])
				}
			}
		})
	}
}
