package app

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/roster"
	"locksim/internal/testruns"
	"locksim/scenarios/clusterlocks"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/mysqllocks"
	"locksim/scenarios/sentinellocks"
	"locksim/scenarios/sqllocks"
	"locksim/scenarios/subject"
	"locksim/scenarios/zklocks"
)

// galleryDir is the folder of the committed gallery.
const galleryDir = "../../../reports/gallery"

// own runs the command locksim.
func own(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	c := &console.Console{Program: console.OwnProgram, In: strings.NewReader(""), Out: &out, Err: &err,
		Getenv: func(string) string { return "" }}
	code = (&shell{Console: c, args: args, Roster: roster.Roster{Extra: ownLocks()}}).run()
	return code, out.String(), err.String()
}

// ownLocks are the locks of the program beside those on Redis.
func ownLocks() []subject.Lock {
	return slices.Concat(etcdlocks.All(), zklocks.All(), sqllocks.All(), mysqllocks.All(), sentinellocks.All(),
		clusterlocks.All())
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var hashForm = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

// The gallery has the files that the command writes, and no others.
func TestGalleryIsUpToDate(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes many runs")
	}
	testruns.NeedsPostgres(t)
	dir := t.TempDir()
	if code, _, errs := own(t, "gallery", dir); code != console.ExitExpected || errs != "" {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	pages := map[string]map[string]string{}
	for _, folder := range []string{dir, galleryDir} {
		pages[folder] = map[string]string{}
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			pages[folder][e.Name()] = read(t, filepath.Join(folder, e.Name()))
		}
	}
	if diff := cmp.Diff(pages[galleryDir], pages[dir]); diff != "" {
		t.Errorf("the gallery is out of date: run make gallery, and read the diff:\n%s", diff)
	}
	if len(pages[dir]) != 1+len(galleryStories) {
		t.Errorf("%d files for %d stories", len(pages[dir]), len(galleryStories))
	}
}

var lastCommand = regexp.MustCompile("\n```console\ngo run \\./cmd/locksim ([^\n]+)\n```\n\\z")

// The command at the end of each page prints the same page, with the same trace hashes. Without LOCKSIM_SOAK=1 that of
// the first is called: TestGalleryIsUpToDate makes all pages, and writes their commands in one way.
func TestGalleryCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds, and much longer under the race detector")
	}
	stories := galleryStories
	if os.Getenv("LOCKSIM_SOAK") != "1" {
		stories = stories[:1]
	}
	for _, story := range stories {
		t.Run(story.page, func(t *testing.T) {
			if strings.HasPrefix(story.scenario, "sql-") {
				testruns.NeedsPostgres(t)
			}
			page := read(t, filepath.Join(galleryDir, story.page+".md"))
			found := lastCommand.FindStringSubmatch(page)
			if found == nil {
				t.Fatal("the page does not end with a command")
			}
			code, out, errs := own(t, strings.Fields(found[1])...)
			if code != console.ExitExpected || errs != "" {
				t.Errorf("exit code %d\n%s", code, errs)
			}
			if len(hashForm.FindAllString(page, -1)) != strings.Count(story.modes, ",")+1 {
				t.Error("the page does not state a hash for each mode")
			}
			if diff := cmp.Diff(page, out); diff != "" {
				t.Error(diff)
			}
		})
	}
}
