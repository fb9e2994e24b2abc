package app

import (
	"encoding/json"
	"html"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/cmd/locksim/internal/console"
)

// ownStory is a scenario that is not in the library.
const ownStory = `name: own-story
lock: {kind: single, ttl: 2s}
workload: {rounds: 2, hold: 500ms}
faults:
  - when: {client: c0, event: read, nth: 1}
    pause: {process: c0, for: 3s}
`

// The command at the end of a run's page, and of its Markdown, makes runs with the trace
// hashes that these state. run and report write the same pages.
func TestCommandsOfReports(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes many runs")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "own.yaml")
	if err := os.WriteFile(file, []byte(ownStory), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"a scenario with all modes":  {"gc-pause", "--fencing", "none,check,strict,claim", "--seed", "3"},
		"clients as users have them": {"lost-reply"},
		"a lock without tokens":      {"gc-pause", "--lock", "single"},
		"a scenario of the user":     {file, "--seed", "7"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "run")
			if code, _, errs := own(t, append([]string{"run", "--out", folder}, args...)...); code != console.ExitExpected {
				t.Fatalf("exit code %d\n%s", code, errs)
			}
			before := map[string]string{}
			for _, page := range []string{"report.html", "report.md"} {
				before[page] = read(t, filepath.Join(folder, page))
				if err := os.Remove(filepath.Join(folder, page)); err != nil {
					t.Fatal(err)
				}
			}
			if code, _, errs := own(t, "report", folder); code != console.ExitExpected {
				t.Fatalf("exit code %d\n%s", code, errs)
			}
			for page, text := range before {
				if read(t, filepath.Join(folder, page)) != text {
					t.Errorf("report and run --out write different %s", page)
				}
			}
			provePages(t, folder)
		})
	}
}

var (
	pageCommand  = regexp.MustCompile(`<pre class="command"[^>]*><code>go run \./cmd/locksim ([^<]+)</code></pre>`)
	pageHash     = regexp.MustCompile(`<dt>([a-z]+)</dt><dd><code>([0-9a-f]{64})</code></dd>`)
	markdownHash = regexp.MustCompile("(?m)^- mode ([a-z]+): .*`([0-9a-f]{64})`$")
)

// provePages runs the last command of each page of a folder.
func provePages(t *testing.T, folder string) {
	t.Helper()
	page := read(t, filepath.Join(folder, "report.html"))
	commands := pageCommand.FindAllStringSubmatch(page, -1)
	if len(commands) != 1 {
		t.Fatalf("the page has %d commands", len(commands))
	}
	sameHashes(t, "report.html", stated(pageHash, page), html.UnescapeString(commands[0][1]))

	md := read(t, filepath.Join(folder, "report.md"))
	command := lastCommand.FindStringSubmatch(md)
	if command == nil {
		t.Fatal("report.md does not end with a command")
	}
	sameHashes(t, "report.md", stated(markdownHash, md), strings.TrimSuffix(command[1], " --markdown"))
	if _, out, _ := own(t, strings.Fields(command[1])...); out != md {
		t.Errorf("the command prints another page:\n%s", cmp.Diff(md, out))
	}
}

// stated are the hashes that a page states, by mode.
func stated(form *regexp.Regexp, page string) map[string]string {
	hashes := map[string]string{}
	for _, found := range form.FindAllStringSubmatch(page, -1) {
		hashes[found[1]] = found[2]
	}
	return hashes
}

// sameHashes runs a command and compares its hashes with those of a page.
func sameHashes(t *testing.T, page string, want map[string]string, command string) {
	t.Helper()
	code, out, errs := own(t, append(strings.Fields(command), "--json")...)
	if code != console.ExitExpected {
		t.Fatalf("%s: %s ends with exit code %d\n%s", page, command, code, errs)
	}
	var run struct {
		Modes map[string]struct {
			Hash string `json:"trace_hash"`
		} `json:"modes"`
	}
	if err := json.Unmarshal([]byte(out), &run); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for mode, m := range run.Modes {
		if m.Hash != "" {
			got[mode] = m.Hash
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		t.Errorf("%s states hashes for %q; those of its command, %s, differ:\n%s", page, slices.Sorted(maps.Keys(want)),
			command, diff)
	}
}
