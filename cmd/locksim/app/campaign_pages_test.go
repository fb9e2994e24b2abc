package app

import (
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"locksim/cmd/locksim/internal/console"
	"locksim/lock/fence"
)

var lastOfPage = regexp.MustCompile(`(?s).*<pre class="command"[^>]*><code>([^<]*)</code></pre>`)

const smallScenario = "name: small\nlock: {kind: single, ttl: 1s, backoff: 60ms..120ms}\nworkload: {rounds: 1, hold: " +
	"200ms, think: 100ms}\n"

// The last command of the page of a violation writes the same page in another folder, and
// the page states the trace hash of the stored run. The page of the campaign ends with
// the command that makes it.
func TestCampaignPagesEndWithTheirCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes many runs")
	}
	t.Setenv(asChild, "1")
	t.Chdir(t.TempDir())
	if err := os.WriteFile("small.yaml", []byte(smallScenario), 0o600); err != nil {
		t.Fatal(err)
	}
	for kind, args := range map[string][]string{
		"explore": {"explore", "--lock", "single", "--faults", "pause"},
		"sweep":   {"sweep", "small.yaml", "--faults", "pause"},
	} {
		campaignInto(t, args, kind)
		page := read(t, filepath.Join(kind, "found-1.html"))
		campaignInto(t, commandOf(t, page), kind+"-again")
		if read(t, filepath.Join(kind+"-again", "found-1.html")) != page {
			t.Errorf("the last command of the page of a violation, %v, writes another page", commandOf(t, page))
		}
		r, err := readRecording(filepath.Join(kind, "found-1.json"))
		if err != nil {
			t.Fatal(err)
		}
		if hash := r.run.Modes[fence.None].TraceHash; hash == "" || !strings.Contains(page, hash) {
			t.Errorf("%s: the page of the violation does not state %q", kind, hash)
		}
		want := map[string]string{"explore": "explore --lock single --runs 10000 --faults pause",
			"sweep": "sweep small.yaml --lock single --seed 1 --faults pause"}[kind]
		if got := strings.Join(commandOf(t, read(t, filepath.Join(kind, kind+".html"))), " "); got != want {
			t.Errorf("the page ends with %s, want %s", got, want)
		}
	}
}

// campaignInto runs a campaign that finds a violation, with its results in a folder.
func campaignInto(t *testing.T, args []string, dir string) {
	t.Helper()
	if code, _, errs := call(t, nil, append(args, "--out", dir)...); code != console.ExitUnexpected {
		t.Fatalf("%v: exit code %d\n%s", args, code, errs)
	}
}

// commandOf are the arguments of the last command of a page.
func commandOf(t *testing.T, page string) []string {
	t.Helper()
	m := lastOfPage.FindStringSubmatch(page)
	if m == nil {
		t.Fatal("the page has no command")
	}
	words := strings.Fields(html.UnescapeString(m[1]))
	if words[0] != "mysim" {
		t.Fatalf("the page ends with %q", words)
	}
	return words[1:]
}
