package markdown_test

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/internal/testreports"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/markdown"
	"locksim/scenarios/outcome/reviews"
)

const reviewCommand = "go run ./cmd/locksim report --review --lock fenced --seeds 20 --runs 3000"

func reviewMarkdown(t *testing.T, r *reviews.Review) string {
	t.Helper()
	var b bytes.Buffer
	if err := markdown.Review(&b, r, reports.Options{Replay: reviewCommand}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The golden file is the document itself.
func TestReview(t *testing.T) {
	got := reviewMarkdown(t, testreports.Review())
	testreports.GoldenFile(t, "review.md", got)
	if !strings.HasSuffix(got, "\n"+reviewCommand+"\n```\n") {
		t.Error("the command does not come last")
	}
}

// The parts come in one order, and the same review gives the same bytes.
func TestReviewOrder(t *testing.T) {
	titles := []string{"Recommendation", "Its worst failure", "What it survives", "Why this is the recommendation",
		"The lock", "What it promises",
		"Its own weaknesses", "The risk, with and without a fence",
		"The faults considered", "What was explored", "What is not covered", "Open questions for the team", "Make it again"}
	md := reviewMarkdown(t, testreports.Review())
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(md, -1) {
		got = append(got, m[1])
	}
	if diff := cmp.Diff(titles, got); diff != "" {
		t.Errorf("the parts (-want +got):\n%s", diff)
	}
	if reviewMarkdown(t, testreports.Review()) != md {
		t.Error("the same review gives other bytes")
	}
	if err := markdown.Review(testreports.FullDisk{}, testreports.Review(), reports.Options{}); !errors.Is(err,
		testreports.ErrDiskFull) {
		t.Errorf("the error is %v", err)
	}
}

// No text of a lock or of a run is markup.
func TestReviewEscapes(t *testing.T) {
	md := reviewMarkdown(t, testreports.HostileReview())
	outside := regexp.MustCompile("(?s)\n```.*?\n```\n").ReplaceAllString(md, "\n")
	if strings.Contains(outside, "<script>") || strings.Contains(outside, "`*x") ||
		!strings.Contains(outside, "&lt;script&gt;") {
		t.Errorf("Markdown takes a text for markup:\n%s", outside)
	}
}

// The document follows the figures of the measurement.
func TestReviewFollowsTheFigures(t *testing.T) {
	r := testreports.Review()
	before := reviewMarkdown(t, r)
	for _, text := range []string{"only behind a fence: seal", "data was lost in 20 of 40 runs", "210 of 300 struck",
		"breaks the lock’s own promise", "rescues at a price", "1. Can the protected store apply the rule seal"} {
		if !strings.Contains(before, text) {
			t.Errorf("it does not say %q", text)
		}
	}
	r.Figures.Modes[0].Grounds[reviews.GroundPromised].Labels[checker.Corrupted] = 19
	r.Figures.Modes[1].Grounds[reviews.GroundPromised].Labels[checker.Corrupted] = 1
	r.Figures.Within.Violating = 5
	r.Advice, r.Failures, r.Questions = r.Figures.Advice(), nil, nil
	after := reviewMarkdown(t, r)
	for _, text := range []string{"Not in its present form: it breaks its own promise, in 5 of 2,700",
		"data was lost in 19 of 40 runs", "found anything that broke it", "The figures raise none."} {
		if !strings.Contains(after, text) {
			t.Errorf("with another measurement it does not say %q", text)
		}
	}
	if strings.Contains(strings.ToLower(r.Advice[0].Text+r.Advice[1].Text), "safe") {
		t.Error("it says that something is safe")
	}
}

// A review without data has a document too.
func TestReviewOfNothing(t *testing.T) {
	r := &reviews.Review{Lock: reviews.Lock{Name: "mine", Nodes: 1, Judged: fence.None}}
	r.Advice, r.Questions = r.Figures.Advice(), r.Figures.Questions()
	md := reviewMarkdown(t, r)
	for _, text := range []string{"This lock has no description", "It needs 1 server and mints no fencing tokens",
		"The lock promises nothing.", "No recommendation", "What does the lock promise"} {
		if !strings.Contains(md, text) {
			t.Errorf("it does not say %q:\n%s", text, md)
		}
	}
}

// Of many breaks, the first have their stories, and all have a command; that of the worst is
// also at the start.
func TestReviewOfManyBreaks(t *testing.T) {
	r := testreports.Review()
	for range 20 {
		r.Failures = append(r.Failures, r.Failures[0])
	}
	md := reviewMarkdown(t, r)
	if n := strings.Count(md, "The story in mode"); n != 12 {
		t.Errorf("%d stories, want 12", n)
	}
	if n := strings.Count(md, "explore --lock fenced --from-seed 7"); n != len(r.Failures)+1 {
		t.Errorf("%d commands for %d breaks", n, len(r.Failures))
	}
}
