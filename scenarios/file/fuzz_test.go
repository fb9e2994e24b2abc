package file

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzParse checks what Parse promises for any input: an *InputError with a
// position and an excerpt, or a valid scenario that Format writes and Parse reads
// back.
func FuzzParse(f *testing.F) {
	all, err := Library()
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range all {
		f.Add(s.Source)
	}
	for _, tt := range badInputs {
		f.Add([]byte(tt.source))
	}
	for _, tt := range everyAction {
		f.Add([]byte(bigWorld + "  - when: {client: c0, event: read}\n    after: 1s\n    " + tt.source + "\n"))
	}
	for _, tt := range badActions {
		f.Add([]byte(bigWorld + "  - at: 3s\n    " + tt.source + "\n"))
	}
	for _, nasty := range []string{
		"\xff\xfe", "\x00", "? a\n: b\n", "a: *a\n", "a: &a [*a]\n", "<<: *x\n", "!!binary a\n", "- - - - -\n", "{{{{",
		"]]]]",
		"name: |+\n\n\n", "name: >-\n", "name: '\n", "\"\\u\"", "name: \"\\xZZ\"\n", "a: b: c\n", "...\n", "---\n---\n",
		"%YAML\n",
		"name: x\nfaults: [[], {}, null, 3]\n", "name: x\nfaults:\n  -\n  - ~\n", "name: x\r\nwhy: |\r\n  a\r\n\r\n  b\r\n",
		"name: x\nexpect: {fenced: }\n", "? {name: x}\n: y\n", "name: x # c\n# d\nlock: # e\n  ttl: 1s # f\n",
		"name: x\ncatalogue: [F99, F1, 7, [F01], ~]\n", "name: x\nworld: {replicas: 4, lag: 5s..1s, persistence: often, " +
			"snapshot: -1s}\n",
		"name: x\nlock: {client: loud, wait: sleep, owner: nobody}\n", "name: x\nlocks: [all, nobody, broken/nobody, '']\n",
		"name: x\nworkload: {section: [read: a, work: 2s, check, {read: b}, write: b, work, write: a]}\n",
		"name: x\nworkload:\n  section:\n    - read: a\n    - write:\n    - work: 0s\n    - [check]\n    - {read: b, " +
			"write: b}\n",
		"name: x\nworkload: {section: [], kind: transfer}\n", "name: x\nworkload: {section: check, nested: 1}\n",
		"name: x\nworkload: {section: [read:, ~, 7]}\n",
		"name: x\nworkload: {kind: gamble, nested: 9, request: -1s, release: never}\n",
		"name: x\nworkload: {kind: fill, look: once, rounds: 3}\n", "name: x\nworkload: {kind: fill, look: thrice, nested: " +
			"1, release: early}\n",
		"name: x\nexpect: {with-token: {none: corrupted}, all: {none: safe, seal: n/a}, fenced: {}}\n",
		"name: x\nfaults:\n  - {at: 1s, after: 1s, evict: {node: r0, keys: -1}}\n  - {when: {client: c0, event: x}, " +
			"after: 1s}\n",
		"name: x\nlock: {ttl: 9223372036854775807ns, backoff: ..}\n", "name: .inf\nworld: {redis: 99999999999999999999}\n",
	} {
		f.Add([]byte(nasty))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("fuzz.yaml", data)
		if err != nil {
			checkInputError(t, err)
			return
		}
		if err := s.Validate(); err != nil {
			t.Fatalf("Parse accepted what Validate refuses: %v", err)
		}
		source, err := Format(s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("again.yaml", source)
		if err != nil {
			t.Fatalf("%v\n%s", err, source)
		}
		if diff := cmp.Diff(s, again, ignoreSource); diff != "" {
			t.Fatalf("after Format (-before +after):\n%s", diff)
		}
	})
}

// checkInputError checks that an error has a position, a one-line message and an excerpt.
func checkInputError(t *testing.T, err error) {
	t.Helper()
	var input *InputError
	if !errors.As(err, &input) {
		t.Fatalf("%T is not an *InputError: %v", err, err)
	}
	if input.Pos.File != "fuzz.yaml" || input.Msg == "" || strings.Contains(input.Msg, "\n") {
		t.Fatalf("not one line of message with a position: %q at %v", input.Msg, input.Pos)
	}
	if strings.Contains(input.Msg, "the parser panicked") {
		t.Logf("goccy/go-yaml panics: %s", input.Msg)
	}
	if lines := strings.Split(input.Excerpt, "\n"); input.Pos.Line > 0 &&
		(len(lines) != 2 || !strings.HasSuffix(lines[1], "^")) {
		t.Fatalf("no source line with a caret: %q", input.Excerpt)
	}
}
