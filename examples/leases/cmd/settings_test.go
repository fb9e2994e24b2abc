package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"locksim/examples/leases/consul"
	"locksim/examples/leases/kube"
	"locksim/scenarios"
)

// The reference has every setting of these locks.
func TestDocsOfSettings(t *testing.T) {
	const page, begin, end = "../../../docs/reference/scenario-files.md", "<!-- settings -->\n", "<!-- end -->"
	whole, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(whole), begin)
	stored, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no %q and %q", page, begin, end)
	}
	made := settingsTable(kube.Lease(), consul.Lock())
	if *update {
		err = os.WriteFile(page, []byte(before+begin+made+end+after), 0o644)
	} else if made != stored {
		t.Errorf("%s is out of date: go test ./cmd -run DocsOfSettings -update: it should have\n%s", page, made)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func settingsTable(locks ...scenarios.Lock) string {
	var b strings.Builder
	b.WriteString("| lock | setting | in its library | what it is | from | to | left out, with a ttl of 15s | " +
		"less than |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	for _, l := range locks {
		for i, s := range l.Settings {
			name := ""
			if i == 0 {
				name = "`" + l.Name + "`"
			}
			most, below := "24h", []string{}
			if s.Most > 0 {
				most = s.Most.String()
			}
			for _, b := range s.Below {
				limit := "`" + b.Of + "`"
				if b.Times > 1 {
					limit = fmt.Sprintf("%s / %v", limit, b.Times)
				}
				below = append(below, limit)
			}
			fmt.Fprintf(&b, "| %s | `%s` | `%s` | %s | %v | %s | %v | %s |\n", name, s.Name, s.Elsewhere, s.Doc, s.Least, most,
				s.Default(15*time.Second), strings.Join(below, ", "))
		}
	}
	return b.String()
}
