package browser

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"locksim/internal/testnpm"
)

// axeVersion is the version of the accessibility checker, from the npm registry.
const axeVersion = "axe-core@4.10.3"

// axeSource is the source of the checker.
func axeSource(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testnpm.Modules(t, axeVersion), "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

type finding struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// accessible checks the current state of the page with axe-core.
func (tb *tab) accessible(source string) {
	tb.t.Helper()
	eval[bool](tb, source+"; true")
	out, err := chromedp.Run(tb.Context,
		chromedp.Evaluate[string](
			`axe.run(document, {resultTypes: ["violations"]}).then((r) => JSON.stringify(r.violations))`,
			chromedp.EvalAwaitPromise))
	if err != nil {
		tb.t.Fatal(err)
	}
	report(tb.t, out)
}

func report(t *testing.T, out string) {
	t.Helper()
	var found []finding
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		var where []string
		for _, n := range f.Nodes[:min(len(f.Nodes), 4)] {
			where = append(where, n.HTML+"\n    "+n.Summary)
		}
		t.Errorf("%s: %s (%d)\n  %s", f.ID, f.Help, len(f.Nodes), strings.Join(where, "\n  "))
	}
}
