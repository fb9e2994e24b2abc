package claims

import (
	"flag"
	"net/url"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the pages anew")

// The pages are those of the rows.
func TestPages(t *testing.T) {
	for file, want := range map[string]string{
		"../../reports/CLAIMS.md": English(), "../../reports/CLAIMS.zh.md": Chinese(),
	} {
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is out of date: run go test ./internal/claims -update", file)
		}
	}
}

// A row is complete in both languages, and quotes fewer than twenty words. Tests elsewhere run its commands.
func TestRows(t *testing.T) {
	ids := map[string]bool{}
	for _, c := range All() {
		if ids[c.ID] || english.chapters[c.Chapter] == "" || english.holds[c.Holds] == "" {
			t.Errorf("%s: the id is there twice: %v; chapter %q, holds %q", c.ID, ids[c.ID], c.Chapter, c.Holds)
		}
		ids[c.ID] = true
		if n := len(strings.Fields(c.Quote)); n >= 20 {
			t.Errorf("%s quotes %d words", c.ID, n)
		}
		if u, err := url.Parse(c.Source.URL); err != nil || u.Host == "" || c.Source.Title == "" {
			t.Errorf("%s: the source %q at %q", c.ID, c.Source.Title, c.Source.URL)
		}
		for _, text := range []Text{c.Says, c.Needs, c.Shows} {
			if text.EN == "" || text.ZH == "" {
				t.Errorf("%s lacks a language: %q, %q", c.ID, text.EN, text.ZH)
			}
		}
		for _, r := range c.Runs {
			if !strings.HasPrefix(r.Command, "locksim ") && !strings.HasPrefix(r.Command, "go -C examples/leases run ./cmd ") {
				t.Errorf("%s: no test runs the command %q", c.ID, r.Command)
			}
			if len(r.Prints) == 0 {
				t.Errorf("%s: nothing is asked of %q", c.ID, r.Command)
			}
		}
		if len(c.Runs) == 0 {
			t.Errorf("%s has no run", c.ID)
		}
	}
	if len(ids) < 25 {
		t.Errorf("there are %d rows", len(ids))
	}
}

// Line breaks and columns do not matter, and what is not there is named.
func TestMissing(t *testing.T) {
	r := Run{Prints: []string{"none safe", "it deletes a key", "stuck"}}
	if got := r.Missing("none   safe\n   it deletes\n   a key\n"); len(got) != 1 || got[0] != "stuck" {
		t.Errorf("missing: %q", got)
	}
}
