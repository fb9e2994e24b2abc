package html_test

import (
	"bytes"
	"errors"
	"io"
	"path"
	"regexp"
	"strings"
	"testing"

	"locksim/internal/testreports"
	"locksim/lock/fence"
	"locksim/reports/html"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome/matrices"
	"locksim/scenarios/redislocks"
)

const evilName = `../<script>alert(1)</script>"&`

// hostileSite is a matrix with every kind of problem, in which the names of a lock and
// a scenario and all texts are markup.
func hostileSite() html.MatrixSite {
	m := testreports.TroubledMatrix()
	for i := range m.Scenarios {
		m.Scenarios[i].Title, m.Scenarios[i].Catalogue = evilName, []string{"F11", evilName}
	}
	rename := func(s *string, from string) {
		if *s == from {
			*s = evilName
		}
	}
	for i := range m.Cells {
		rename(&m.Cells[i].Lock, "redlock-fenced")
		rename(&m.Cells[i].Scenario, "split-vote")
	}
	rename(&m.Locks[2].Name, "redlock-fenced")
	for i := range m.Scenarios {
		rename(&m.Scenarios[i].Name, "split-vote")
	}
	m.Failures[0].Why, m.NotRun[0].Why = evilName, evilName
	return siteOf(m)
}

// siteOf is a site with reports of the runs of seed 1, and of no others.
func siteOf(m *matrices.Matrix) html.MatrixSite {
	s := html.MatrixSite{Matrix: m, Replay: "locksim matrix",
		FailureModes: []file.FailureMode{{ID: "F11", Name: "Client GC pause past TTL, then write"}},
		HasReport:    func(_, _ string, seed uint64) bool { return seed == 1 }}
	for _, r := range m.Scenarios {
		s.Scenarios = append(s.Scenarios, &file.Scenario{Name: r.Name, Why: "Because of " + r.Title,
			Source: []byte("name: " + r.Name + "\n# text of " + r.Title + "\n")})
	}
	for _, l := range m.Locks {
		known, _ := redislocks.Kind(l.Name) // the zero value for an unknown one
		s.Locks = append(s.Locks, matrices.Lock{Name: l.Name, Nodes: known.Nodes(), Tokens: known.Tokens,
			Promise: known.Promise})
	}
	return s
}

// pagesOf are all pages of a site, by their files.
func pagesOf(t *testing.T, s html.MatrixSite) map[string]string {
	t.Helper()
	pages := map[string]string{}
	add := func(name string, render func(io.Writer) error) {
		var b bytes.Buffer
		if err := render(&b); err != nil {
			t.Fatal(err)
		}
		if pages[name] != "" {
			t.Errorf("two pages are called %s", name)
		}
		pages[name] = b.String()
	}
	add(html.MatrixIndexFile, func(w io.Writer) error { return html.Matrix(w, s) })
	for _, l := range s.Matrix.Locks {
		add(html.MatrixLockFile(l.Name), func(w io.Writer) error { return html.MatrixLock(w, s, l.Name) })
	}
	for _, sc := range s.Matrix.Scenarios {
		add(html.MatrixScenarioFile(sc.Name), func(w io.Writer) error { return html.MatrixScenario(w, s, sc.Name) })
	}
	return pages
}

var reference = regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)

// Every link leads to a page of the site, and to an existing anchor, or to an existing
// report.
func TestMatrixPagesLinks(t *testing.T) {
	s := hostileSite()
	pages := pagesOf(t, s)
	reported := map[string]bool{}
	for _, c := range s.Matrix.Cells {
		if c.CellRuns != nil && c.Seed == 1 {
			reported[html.MatrixRunFile(c.Scenario, c.Lock, 1)+"#mode-"+string(c.Mode)] = true
		}
	}
	led := map[string]bool{}
	for file, html := range pages {
		for _, ref := range reference.FindAllStringSubmatch(html, -1) {
			if ref[1] == "data:," {
				continue
			}
			to, anchor, _ := strings.Cut(ref[1], "#")
			target := path.Join(path.Dir(file), to)
			if to == "" {
				target = file
			}
			led[target] = true
			if reported[target+"#"+anchor] {
				continue
			}
			if page, ok := pages[target]; !ok || anchor != "" && !strings.Contains(page, ` id="`+anchor+`"`) {
				t.Errorf("%s leads to %s, which is not there", file, ref[1])
			}
		}
	}
	for file := range pages {
		if !led[file] {
			t.Errorf("no page leads to %s", file)
		}
	}
	if want := html.MatrixRunFile("gc-pause", "fenced", 1); !led[want] {
		t.Errorf("nothing leads to %s", want)
	}
}

// The texts of scenarios, locks and errors are text on every page.
func TestMatrixPagesEscape(t *testing.T) {
	for file, html := range pagesOf(t, hostileSite()) {
		if strings.Contains(html, "<script>alert") || strings.Contains(html, evilName) {
			t.Errorf("%s has markup of a name", file)
		}
		if want := "default-src 'none'"; !strings.Contains(html, want) {
			t.Errorf("%s has no policy", file)
		}
	}
}

// Without scripts the page has the whole table: a sign, words and a link for each
// cell, the problems, and the counts.
func TestMatrixSaysAll(t *testing.T) {
	m := testreports.TroubledMatrix()
	html := pagesOf(t, siteOf(m))[html.MatrixIndexFile]
	if n := strings.Count(html, `class="cell`); n != len(m.Cells) {
		t.Errorf("%d cells, want %d", n, len(m.Cells))
	}
	testreports.CheckTexts(t, html, []string{
		`href="runs/gc-pause/fenced/seed-1.html#mode-seal"><i aria-hidden="true">r</i><span class="w">seal rescued 20/20 </span></a>`,
		// Seed 7 has no report here, so the cell leads to its scenario.
		`href="scenarios/calm.html#row-single"><i aria-hidden="true">.</i><span class="w">none safe 3/20 </span></a>`,
		`<span class="cell" data-m="check" data-l="n/a"><i aria-hidden="true">-</i><span class="w">check n/a </span></span>`,
		`class="cell odd" data-m="none" data-l="corrupted" href="scenarios/calm.html#row-fenced" title="corrupted, and safe was expected"`,
		`data-l="vacuous"`, "vacuous, safe 0/20, unexpected",
		`<b class="failed">could not be run</b>`,
		"calm, lock fenced, mode none: corrupted, and safe was expected (corrupted 2/20)<br><code>locksim run calm --lock " +
			"fenced --seed 9 --fencing none</code>",
		"gc-pause, lock single could not be run: seeds 1 to 20: the worker process died",
		"key-for-ever with lock mylock: workload.nested: lock mylock has no owners",
		`<th scope="row"><a href="scenarios/calm.html">calm</a><span class="title">What happens in calm</span><span class="ids">F11 F12 </span></th>`,
		`<td><a href="locks/broken.token-read-late.html">broken/token-read-late</a></td>`,
		`<th scope="row"><a href="locks/fenced.html">fenced</a></th><td>4</td><td>4</td><td>2</td>`,
		`id="shown">60 cells: 10 corrupted, 1 unknown, 3 stuck, 1 false-reject, 19 rescued, 2 overlap, 15 safe, 6 n/a, 1 not-felt, 2 vacuous.<`,
		"1 cell is worse than expected",
	}, []string{"panic: "})
}

// The page of a lock has its promise, the scenarios that broke it and the effects of
// the fences.
func TestMatrixLock(t *testing.T) {
	pages := pagesOf(t, siteOf(testreports.SmallMatrix()))
	testreports.CheckTexts(t, pages[html.MatrixLockFile("fenced")], []string{
		"Without a fence, the data ended corrupted in 3 of 4 scenarios. Of these 3, fencing rescues 1 with check, 2 with " +
			"seal, 3 with strict, 3 with claim, 2 with cas.",
		"Two claims on one resource never overlap, under these faults:", "<li>partition</li>",
		"the data stays right in mode seal.", ": ttl &#43; backoff &#43; round trip; after the cause",
		"<li>returns: a Release returns within the time that the lock promises,",
		`<li>still corrupted: <b>check, seal</b></li>`, `<li>data rescued: <b>strict, claim, cas</b></li>`,
		`<li>a rightful holder refused: <b>check</b></li>`,
		`<a href="../runs/gc-pause/fenced/seed-1.html#mode-none"><span class="chip" data-label="corrupted">`,
		`<code>locksim run gc-pause --lock fenced --seed 1 --fencing none,check,seal,strict,claim,cas</code>`,
	}, nil)
	broke, stood, _ := strings.Cut(pages[html.MatrixLockFile("fenced")], `id="stood"`)
	if !strings.Contains(broke, `id="row-gc-pause"`) || !strings.Contains(stood, `id="row-calm"`) {
		t.Error("gc-pause is not in what broke it, or calm not in what it survived")
	}
	testreports.CheckTexts(t, pages[html.MatrixLockFile("broken/token-read-late")],
		[]string{"A specimen: a lock that is wrong on purpose.", "<p>Nothing.</p>", "It promises nothing."}, nil)
}

// The page of a scenario has its reason, the failure modes that it shows, and its
// text.
func TestMatrixScenario(t *testing.T) {
	pages := pagesOf(t, siteOf(testreports.SmallMatrix()))
	testreports.CheckTexts(t, pages[html.MatrixScenarioFile("gc-pause")], []string{
		"<h1>What happens in gc-pause</h1>", "Because of What happens in gc-pause",
		"<b>F11</b> Client GC pause past TTL, then write", "<b>F12</b>",
		"Without a fence, the data ended corrupted with 3 of 3 locks. Of these 3, fencing rescues 2 with check,",
		`<a href="../locks/redlock-fenced.html">redlock-fenced</a>`, "# text of What happens in gc-pause",
		`rel="prev">← counter-lost</a>`, `rel="next">key-for-ever →</a>`,
	}, nil)
	first := pages[html.MatrixScenarioFile("calm")]
	testreports.CheckTexts(t, first, []string{"no data ended corrupted with 3 locks"}, []string{`rel="prev"`})
	// the lock is stuck in each mode
	testreports.CheckTexts(t, pages[html.MatrixLockFile("single")],
		[]string{"No faults.", "no difference: <b>claim, cas</b>"}, nil)
	testreports.CheckTexts(t, pages[html.MatrixLockFile("redlock-fenced")],
		[]string{"worse: unknown, and overlap without it: <b>seal</b>"}, []string{"no difference"})
	if bare := pagesOf(t,
		html.MatrixSite{Matrix: testreports.SmallMatrix()})[html.MatrixScenarioFile("calm")]; !strings.Contains(bare,
		"Its text is not known here.") || strings.Contains(bare, "runs/") {
		t.Error("a matrix alone has no text of its scenarios and no reports")
	}
}

// The page names the faults that are outside the promise of a lock.
func TestMatrixPagesNameTheFaults(t *testing.T) {
	flush, err := file.Load("flushall")
	if err != nil {
		t.Fatal(err)
	}
	s := siteOf(testreports.Matrix([]string{"fenced"}, map[string][]string{"flushall": {"X....."}}))
	s.Scenarios = []*file.Scenario{flush}
	testreports.CheckTexts(t, pagesOf(t, s)[html.MatrixLockFile("fenced")], []string{"Faults outside its promise: flush."},
		[]string{"within its promise"})
}

// A matrix without mode none has no effects of fences.
func TestMatrixLockWithoutMode(t *testing.T) {
	m := testreports.SmallMatrix()
	m.Modes = m.Modes[1:]
	var kept []matrices.Cell
	for _, c := range m.Cells {
		if c.Mode != fence.None {
			kept = append(kept, c)
		}
	}
	m.Cells = kept
	testreports.CheckTexts(t, pagesOf(t, siteOf(m))[html.MatrixLockFile("fenced")],
		[]string{"Nothing was run without a fence"}, []string{"data rescued:"})
}

func TestMatrixPagesAreDeterministic(t *testing.T) {
	a, b := pagesOf(t, hostileSite()), pagesOf(t, hostileSite())
	for file := range a {
		if a[file] != b[file] {
			t.Errorf("%s differs from time to time", file)
		}
	}
}

func TestMatrixPagesErrors(t *testing.T) {
	s := siteOf(testreports.SmallMatrix())
	if err := html.MatrixLock(io.Discard, s, "nolock"); err == nil || !strings.Contains(err.Error(), `no lock "nolock"`) {
		t.Errorf("got %v", err)
	}
	if err := html.MatrixScenario(io.Discard, s, "nowhere"); err == nil ||
		!strings.Contains(err.Error(), `no scenario "nowhere"`) {
		t.Errorf("got %v", err)
	}
	if err := html.Matrix(testreports.FullDisk{}, s); !errors.Is(err, testreports.ErrDiskFull) {
		t.Errorf("got %v", err)
	}
}
