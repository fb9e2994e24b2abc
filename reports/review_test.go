package reports_test

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/internal/testreports"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/scenarios/review"
)

const reviewCommand = "go run ./cmd/locksim report --review --lock fenced --seeds 20 --runs 3000"

func reviewHTML(t *testing.T, r *review.Review) string {
	t.Helper()
	var b bytes.Buffer
	if err := reports.ReviewHTML(&b, r, reports.Options{Replay: reviewCommand}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func reviewMarkdown(t *testing.T, r *review.Review) string {
	t.Helper()
	var b bytes.Buffer
	if err := reports.ReviewMarkdown(&b, r, reports.Options{Replay: reviewCommand}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The whole document, as it is read.
func TestReviewMarkdown(t *testing.T) {
	got := reviewMarkdown(t, testreports.Review())
	testreports.GoldenFile(t, "review.md", got)
	if !strings.HasSuffix(got, "\n"+reviewCommand+"\n```\n") {
		t.Error("the command does not come last")
	}
}

// In both forms the parts come in one order, and the same review gives the same
// bytes.
func TestReviewOrder(t *testing.T) {
	titles := []string{"The lock", "What it promises", "Recommendation by use", "What breaks it", "The risk, with and without a fence",
		"The faults considered", "What was explored", "What is not covered", "Open questions for the team", "Make it again"}
	html, md := reviewHTML(t, testreports.Review()), reviewMarkdown(t, testreports.Review())
	var inHTML, inMarkdown []string
	for _, m := range regexp.MustCompile(`<h2[^>]*>([^<]*)</h2>`).FindAllStringSubmatch(html, -1) {
		inHTML = append(inHTML, m[1])
	}
	for _, m := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(md, -1) {
		inMarkdown = append(inMarkdown, m[1])
	}
	if want := strings.Join(titles, "|"); strings.Join(inHTML, "|") != want || strings.Join(inMarkdown, "|") != want {
		t.Errorf("the parts are\n%q\n%q\nwant\n%q", inHTML, inMarkdown, titles)
	}
	if reviewHTML(t, testreports.Review()) != html || reviewMarkdown(t, testreports.Review()) != md {
		t.Error("the same review gives other bytes")
	}
}

// Headings go down by one at a time, ids are there once, tables name their
// columns, and nothing is fetched.
func TestReviewHTMLIsWellMade(t *testing.T) {
	html := reviewHTML(t, testreports.Review())
	level := byte('0')
	for _, m := range regexp.MustCompile(`<h(\d)`).FindAllStringSubmatch(html, -1) {
		if m[1][0] > level+1 {
			t.Errorf("a heading of level %s follows one of level %c", m[1], level)
		}
		level = m[1][0]
	}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(` (?:id|aria-label)="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		if seen[m[0]] {
			t.Errorf("%s is there twice", m[0])
		}
		seen[m[0]] = true
	}
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(html, -1) {
		if !seen[` id="`+m[1]+`"`] {
			t.Errorf("a link leads to %s, which is not there", m[1])
		}
	}
	for _, bad := range []string{"<th>", "http://", "https://", " src=", "<link rel=\"stylesheet\""} {
		if strings.Contains(html, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
}

// No text of a lock or of a run is markup.
func TestReviewEscapes(t *testing.T) {
	const bad = "<script>alert(1)</script>|`*x*"
	r := testreports.Review()
	r.Lock.Name, r.Lock.About, r.Answer = bad, bad, bad
	b := &r.Breaks[0]
	b.Shape, b.Replay, b.Found.Reasons, b.Found.Story, b.Found.Run.Source = bad, bad, []string{bad}, []string{"> 1 0s c0 " + bad}, bad
	r.Scenarios[1].Title, r.Scenarios[1].Replay = bad, bad
	r.NotRun[0].What, r.NotRun[0].Why, r.Missing[0].Why = bad, bad, bad
	if html := reviewHTML(t, r); strings.Count(html, "<script>") != 1 || !strings.Contains(html, "&lt;script&gt;alert(1)") {
		t.Errorf("%d scripts on the page, want its own", strings.Count(html, "<script>"))
	}
	md := reviewMarkdown(t, r)
	outside := regexp.MustCompile("(?s)\n```.*?\n```\n").ReplaceAllString(md, "\n")
	if strings.Contains(outside, "<script>") || strings.Contains(outside, "`*x") || !strings.Contains(outside, "&lt;script&gt;") {
		t.Errorf("Markdown takes a text for markup:\n%s", outside)
	}
}

// Another measurement is another document: figures are not in the template.
func TestReviewFollowsTheFigures(t *testing.T) {
	r := testreports.Review()
	before := reviewMarkdown(t, r)
	for _, text := range []string{"only behind a fence: seal", "data was lost in 20 of 40 runs", "210 of 300 struck", "breaks the lock’s own promise", "rescues at a price", "1. Can the protected store apply the rule seal"} {
		if !strings.Contains(before, text) {
			t.Errorf("it does not say %q", text)
		}
	}
	r.Figures.Modes[0].Grounds[review.GroundPromised].Labels[checker.Corrupted] = 19
	r.Figures.Modes[1].Grounds[review.GroundPromised].Labels[checker.Corrupted] = 1
	r.Figures.Within.Violating = 5
	r.Advice, r.Breaks, r.Questions = r.Figures.Advice(), nil, nil
	after := reviewMarkdown(t, r)
	for _, text := range []string{"Not as it stands: it breaks its own promise, in 5 of 2,700", "data was lost in 19 of 40 runs", "found anything that broke it", "The figures leave none."} {
		if !strings.Contains(after, text) {
			t.Errorf("with another measurement it does not say %q", text)
		}
	}
	if strings.Contains(strings.ToLower(r.Advice[0].Text+r.Advice[1].Text), "safe") {
		t.Error("it says that something is safe")
	}
}

// A lock of which nothing is known has a review, too.
func TestReviewOfNothing(t *testing.T) {
	r := &review.Review{Lock: review.Lock{Name: "mine", Nodes: 1, Judged: fence.None}}
	r.Advice, r.Questions = r.Figures.Advice(), r.Figures.Questions()
	md := reviewMarkdown(t, r)
	for _, text := range []string{"Nobody has said how this lock works", "It needs 1 server and mints no fencing tokens", "The lock promises nothing.", "No recommendation", "What does the lock promise"} {
		if !strings.Contains(md, text) {
			t.Errorf("it does not say %q:\n%s", text, md)
		}
	}
	reviewHTML(t, r)
}

// Of many breaks, the first are told, and all have a command.
func TestReviewOfManyBreaks(t *testing.T) {
	r := testreports.Review()
	for range 20 {
		r.Breaks = append(r.Breaks, r.Breaks[0])
	}
	md := reviewMarkdown(t, r)
	if n := strings.Count(md, "The story in mode"); n != 12 {
		t.Errorf("%d stories, want 12", n)
	}
	if n := strings.Count(md, "explore --lock fenced --from-seed 7"); n != len(r.Breaks) {
		t.Errorf("%d commands for %d breaks", n, len(r.Breaks))
	}
}

// The summary fits a terminal, and an error of the writer is the caller's.
func TestReviewSummary(t *testing.T) {
	var b bytes.Buffer
	if err := reports.ReviewSummary(&b, testreports.Review(), reports.Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if len([]rune(line)) > 80 {
			t.Errorf("%d columns: %s", len([]rune(line)), line)
		}
	}
	if !strings.Contains(b.String(), "1  corrupted in mode seal: pause  3 of 540 runs") || !strings.HasSuffix(b.String(), "for the team.\n") {
		t.Errorf("the summary is\n%s", b.String())
	}
	broken := brokenPipe{}
	for _, err := range []error{reports.ReviewSummary(broken, testreports.Review(), reports.Options{}), reports.ReviewHTML(broken, testreports.Review(), reports.Options{}), reports.ReviewMarkdown(broken, testreports.Review(), reports.Options{})} {
		if !errors.Is(err, errPipe) {
			t.Errorf("the error is %v", err)
		}
	}
}

var errPipe = errors.New("nobody reads")

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errPipe }
