package runfolder

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/scenarios/matrix"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// readRun reads the document of a run.
func readRun(c *scan, f folder, e *reports.IndexEntry) error {
	run, changed, err := readCached(c, f, "run.json", play.ReadRunFile)
	if err != nil {
		return err
	}
	e.What, e.Lock, e.Seed = run.Scenario, run.Lock, fmt.Sprintf("seed %d", run.Seed)
	e.Unexpected, e.Changed = !run.Expected, c.formatTime(changed)
	for _, mode := range fence.Modes() {
		if m, ok := run.Modes[mode]; ok {
			e.Labels = append(e.Labels, reports.IndexLabel{Mode: string(mode), Label: m.Verdict})
		}
	}
	return nil
}

// matrixFile has the fields of a matrix that an index needs.
type matrixFile struct {
	Version   int             `json:"version"`
	Seeds     search.Seeds    `json:"seeds"`
	Scenarios []matrix.Row    `json:"scenarios"`
	Locks     []matrix.Column `json:"locks"`
	Expected  bool            `json:"as_expected"`
	Totals    matrix.Totals   `json:"totals"`
	Cells     []struct {
		Label checker.Label `json:"label"`
	} `json:"cells"`
}

// readMatrix reads the document of a matrix.
func readMatrix(c *scan, f folder, e *reports.IndexEntry) error {
	m, changed, err := readCached(c, f, "matrix.json", func(_ string, data []byte) (m matrixFile, err error) {
		return m, decode(data, &m)
	})
	if err != nil {
		return err
	}
	if m.Version != matrix.Version || len(m.Cells) == 0 {
		return fmt.Errorf("not a matrix of version %d: make it again with this version of locksim", matrix.Version)
	}
	e.What = fmt.Sprintf("Matrix of %s and %s", prose.Count(len(m.Scenarios), "scenario"), prose.Count(len(m.Locks), "lock"))
	e.Seed, e.Unexpected, e.Changed = m.Seeds.String(), !m.Expected, c.formatTime(changed)
	e.Said = fmt.Sprintf("%s in %s.", prose.Count(m.Totals.Runs, "run"), prose.Count(m.Totals.Cells, "cell"))
	labels := map[checker.Label]int{}
	for _, cell := range m.Cells {
		labels[cell.Label]++
	}
	delete(labels, checker.NotApplicable)
	e.Labels = tally(labels)
	return nil
}

// tally returns labels with their counts, the most severe first.
func tally(counts map[checker.Label]int) []reports.IndexLabel {
	var out []reports.IndexLabel
	for _, l := range slices.SortedFunc(maps.Keys(counts), func(a, b checker.Label) int { return b.Severity() - a.Severity() }) {
		out = append(out, reports.IndexLabel{Label: l, Count: counts[l]})
	}
	return out
}

var title = regexp.MustCompile(`(?s)<title>(.*?)</title>`)

// readReview reads the title of a review.
func readReview(c *scan, f folder, e *reports.IndexEntry) error {
	text, changed, err := readCached(c, f, "review.html", func(_ string, data []byte) (string, error) {
		m := title.FindSubmatch(data[:min(len(data), 1<<20)])
		if m == nil {
			return "", errors.New("no title")
		}
		return strings.TrimSuffix(html.UnescapeString(string(m[1])), " · locksim"), nil
	})
	e.What, e.Changed = text, c.formatTime(changed)
	return err
}

// decode decodes JSON, with an error for users.
func decode(data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("not a document of locksim: %w", err)
	}
	return nil
}
