package html_test

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locksim/internal/testreports"
	"locksim/reports"
	"locksim/reports/html"
	"locksim/reports/reviewpage"
	"locksim/scenarios/outcome/reviews"
)

func reviewHTML(t *testing.T, r *reviews.Review) string {
	t.Helper()
	var b bytes.Buffer
	if err := html.Review(&b, r, html.ReviewOptions{Replay: "go run ./cmd/locksim report --review --lock " +
		"fenced"}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The level of headings grows by one at most, ids are unique, tables name their
// columns, and the page fetches nothing.
func TestReviewIsWellMade(t *testing.T) {
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

// The parts come in the order of the review, and the same review gives the same bytes.
func TestReviewOrder(t *testing.T) {
	html := reviewHTML(t, testreports.Review())
	at := 0
	p := reviewpage.New(testreports.Review(), reports.Options{})
	for _, s := range slices.Concat(p.Front, p.Sections) {
		i := strings.Index(html[at:], ">"+s.Title+"</h2>")
		if i < 0 {
			t.Fatalf("%q is not there, or not in its place", s.Title)
		}
		at += i
	}
	if !strings.Contains(html[at:], ">Make it again</h2>") || reviewHTML(t, testreports.Review()) != html {
		t.Error("the command does not come last, or the same review gives other bytes")
	}
}

// The page begins with what fits on a sheet of paper: the recommendation, the diagram of the
// worst failure, and the table of what the lock survives. Everything else is folded.
func TestReviewBeginsWithOnePage(t *testing.T) {
	var b bytes.Buffer
	if err := html.Review(&b, testreports.Review(), html.ReviewOptions{Figure: figure(t, "worst")}); err != nil {
		t.Fatal(err)
	}
	front, rest, _ := strings.Cut(b.String(), `<details class="rest">`)
	testreports.CheckTexts(t, front, []string{"For efficiency", "corrupted in mode seal: pause", `id="clip-worst"`,
		`<marker id="tip"`, "Not tried, neither by a scenario nor in a random run: crash (promised), flush."},
		[]string{`class="tale"`})
	if n := strings.Count(rest, `<details class="rest">`); n != len(reviewpage.New(testreports.Review(),
		reports.Options{}).Sections)-1 {
		t.Errorf("%d further folded sections", n)
	}
}

// No text of a lock or of a run is markup.
func TestReviewEscapes(t *testing.T) {
	if html := reviewHTML(t, testreports.HostileReview()); strings.Count(html, "<script>") != 1 ||
		!strings.Contains(html, "&lt;script&gt;alert(1)") {
		t.Errorf("%d scripts on the page, want its own", strings.Count(html, "<script>"))
	}
}

// A review without data has a page too, and the error of the writer is returned.
func TestReviewOfNothing(t *testing.T) {
	testreports.CheckTexts(t, reviewHTML(t, &reviews.Review{Lock: reviews.Lock{Name: "mine", Nodes: 1}}),
		[]string{"The lock promises nothing."}, []string{"<no value>", "%!"})
	if err := html.Review(testreports.FullDisk{}, testreports.Review(), html.ReviewOptions{}); !errors.Is(err,
		testreports.ErrDiskFull) {
		t.Errorf("the error is %v", err)
	}
}
