package browser

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// axeVersion is the version of the accessibility checker, from the npm registry.
const axeVersion = "axe-core@4.10.3"

// axe fetches the source of the checker.
var axe = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "locksim-axe-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cmd := exec.Command("npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", axeVersion)
	if out, err := cmd.CombinedOutput(); err != nil {
		return string(out), err
	}
	b, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	return string(b), err
})

func axeSource(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		missing(t, "npm")
	}
	source, err := axe()
	if err != nil {
		t.Logf("npm: %v\n%s", err, source)
		missing(t, axeVersion+" from the npm registry")
	}
	return source
}

type finding struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// axe-core finds nothing, on any screen, in light and dark: contrast of 4.5 to 1, names,
// roles, order of headings. Each check takes seconds: one run is checked on every
// screen, the others on a large light one and a small dark one.
func TestAxe(t *testing.T) {
	source := axeSource(t)
	for name, subject := range subjects {
		html := rendered(t, subject(t))
		for _, v := range views {
			if !shown(name, v) {
				continue
			}
			t.Run(name+"/"+v.name, func(t *testing.T) {
				tb := open(t, html, v)
				tb.accessible(source)
			})
		}
	}
}

// accessible checks the current state of the page with axe-core.
func (tb *tab) accessible(source string) {
	tb.t.Helper()
	eval[bool](tb, source+"; true")
	out, err := chromedp.Run(tb.Context, chromedp.Evaluate[string](`axe.run(document, {resultTypes: ["violations"]}).then((r) => JSON.stringify(r.violations))`, chromedp.EvalAwaitPromise))
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
