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
	"locksim/reports/index"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/matrices"
)

func readRun(c *scan, f folder, e *index.Entry) error {
	run, changed, err := readCached(c, f, "run.json", outcome.ReadRunFile)
	if err != nil {
		return err
	}
	e.What, e.Lock, e.Seed = run.Scenario, run.Lock, fmt.Sprintf("seed %d", run.Seed)
	e.Unexpected, e.Changed = !run.Expected, c.timeText(changed)
	for _, mode := range fence.Modes() {
		if m, ok := run.Modes[mode]; ok {
			e.Labels = append(e.Labels, index.Label{Mode: string(mode), Label: m.Verdict})
		}
	}
	return nil
}

// matrixFile has the fields of the document of a matrix that an index shows.
type matrixFile struct {
	Version   int               `json:"version"`
	Seeds     outcome.Seeds     `json:"seeds"`
	Scenarios []matrices.Row    `json:"scenarios"`
	Locks     []matrices.Column `json:"locks"`
	Expected  bool              `json:"as_expected"`
	Totals    matrices.Totals   `json:"totals"`
	Cells     []struct {
		Label checker.Label `json:"label"`
	} `json:"cells"`
}

func readMatrix(c *scan, f folder, e *index.Entry) error {
	m, changed, err := readCached(c, f, "matrix.json", func(_ string, data []byte) (m matrixFile, err error) {
		return m, decode(data, &m)
	})
	if err != nil {
		return err
	}
	if m.Version != matrices.Version || len(m.Cells) == 0 {
		return fmt.Errorf("not a matrix of version %d: make it again with this version of locksim", matrices.Version)
	}
	e.What = matrixOf(len(m.Scenarios), len(m.Locks))
	e.Seed, e.Unexpected, e.Changed = m.Seeds.String(), !m.Expected, c.timeText(changed)
	e.Result = fmt.Sprintf("%s in %s.", prose.Count(m.Totals.Runs, "run"), prose.Count(m.Totals.Cells, "cell"))
	labels := map[checker.Label]int{}
	for _, cell := range m.Cells {
		labels[cell.Label]++
	}
	delete(labels, checker.NotApplicable)
	e.Labels = sortedLabels(labels)
	return nil
}

func matrixOf(scenarios, locks int) string {
	return fmt.Sprintf("Matrix of %s and %s", prose.Count(scenarios, "scenario"), prose.Count(locks, "lock"))
}

// sortedLabels are labels with their counts, the most severe first.
func sortedLabels(counts map[checker.Label]int) []index.Label {
	var out []index.Label
	for _, l := range slices.SortedFunc(maps.Keys(counts),
		func(a, b checker.Label) int { return b.Severity() - a.Severity() }) {
		out = append(out, index.Label{Label: l, Count: counts[l]})
	}
	return out
}

var title = regexp.MustCompile(`(?s)<title>(.*?)</title>`)

func readReview(c *scan, f folder, e *index.Entry) error {
	text, changed, err := readCached(c, f, "review.html", func(_ string, data []byte) (string, error) {
		m := title.FindSubmatch(data[:min(len(data), 1<<20)])
		if m == nil {
			return "", errors.New("this page has no title")
		}
		return strings.TrimSuffix(html.UnescapeString(string(m[1])), " · locksim"), nil
	})
	e.What, e.Changed = text, c.timeText(changed)
	return err
}

// decode reads JSON. Its error says that the file is not a document of locksim.
func decode(data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("not a document of locksim: %w", err)
	}
	return nil
}
