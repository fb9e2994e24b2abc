package campaign_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locksim/internal/campaign"
)

// Folders are searched for files of some names, and results of one kind about one lock
// are one group.
func TestReadFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"shard-0/squares.jsonl": `{"version":1,"kind":"squares","jobs":3,"plan":{"lock":"a"}}` + "\n",
		"shard-1/squares.jsonl": `{"version":1,"kind":"squares","jobs":3,"plan":{"lock":"a"}}` + "\n" +
			`{"job":1,"result":{}}` + "\n",
		"other/squares.jsonl": `{"version":1,"kind":"squares","jobs":3,"plan":{"lock":"b"}}` + "\n",
		"other/cubes.json":    `{"version":1,"kind":"cubes","plan":{"lock":"b"},"blocks":[]}`,
		"new/squares.jsonl":   `{"versi`,
		"mine/diary.txt":      "Dear diary,\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"squares.jsonl", "cubes.json"}
	groups, err := campaign.ReadFiles([]string{dir}, names)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range groups {
		got = append(got, fmt.Sprintf("%d %s of %s", len(g), g[0].Kind, g[0].Lock()))
	}
	if want := "1 cubes of b, 1 squares of b, 2 squares of a"; strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s", strings.Join(got, ", "), want)
	}
	for path, want := range map[string]string{
		"mine":                  "mine has no results: there is no squares.jsonl or cubes.json in it",
		"mine/diary.txt":        "diary.txt is neither a journal nor a document",
		"nowhere":               "cannot read the results: ",
		"new":                   "there are no results in ",
		"other/cubes.json":      "",
		"shard-1/squares.jsonl": "",
	} {
		_, err := campaign.ReadFiles([]string{filepath.Join(dir, filepath.FromSlash(path))}, names)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
