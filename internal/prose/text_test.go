package prose_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/internal/prose"
)

func TestTimes(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.000s", 1499 * time.Microsecond: "0.001s", 1500 * time.Microsecond: "0.002s",
		61*time.Second + 5*time.Millisecond: "61.005s",
	} {
		if got := prose.Seconds(d); got != want {
			t.Errorf("Seconds(%v) = %s, want %s", d, got, want)
		}
	}
	for seconds, want := range map[float64]string{
		1: "1 second", 59.9: "59 seconds", 60: "1 minute", 3599: "59 minutes", 3600: "1 hour 0 min",
		47*3600 + 120: "47 hours 2 min", 50 * 3600: "2 days 2 h",
	} {
		if got := prose.Span(seconds); got != want {
			t.Errorf("Span(%v) = %s, want %s", seconds, got, want)
		}
	}
}

// No line is wider than the limit, in characters of any alphabet.
func TestFold(t *testing.T) {
	for _, tt := range []struct {
		text  string
		width int
		want  []string
	}{
		{"", 5, []string{""}},
		{"one two  three", 7, []string{"one two", "three"}},
		{"a verylongword b", 4, []string{"a", "very", "long", "word", "b"}},
		{"но́рмально да", 10, []string{"но́рмально", "да"}},
		{"ab", 0, []string{"a", "b"}},
	} {
		if d := cmp.Diff(tt.want, prose.Fold(tt.text, tt.width)); d != "" {
			t.Errorf("Fold(%q, %d) (-want +got):\n%s", tt.text, tt.width, d)
		}
	}
	if d := cmp.Diff([]string{"  one", "  two"}, prose.FoldIndented("  one two", 6)); d != "" {
		t.Errorf("FoldIndented (-want +got):\n%s", d)
	}
}

// Visible replaces characters that control a terminal, and Clip marks a cut text.
func TestVisible(t *testing.T) {
	if got := prose.Visible("a\tb\x1b[2J\nc"); got != "a b\ufffd[2J c" {
		t.Errorf("got %q", got)
	}
	if got := prose.Clip("остановился", 4) + " " + prose.Clip("да", 4); got != "оста… да" {
		t.Errorf("got %q", got)
	}
	if got := prose.Pad("да", 4) + "|" + prose.Pad("остановился", 4) + "|"; got != "да  |остановился|" {
		t.Errorf("got %q", got)
	}
}

// A page has an empty line between its parts and no spaces at the ends of lines.
func TestPage(t *testing.T) {
	var p prose.Page
	p.Add(nil)
	p.Add([]string{"one  ", "two"})
	p.Add(nil)
	p.Add([]string{"three"})
	var b strings.Builder
	if err := p.Render(&b); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != "one\ntwo\n\nthree\n" || got != p.String() {
		t.Errorf("got %q", got)
	}
	r, w := io.Pipe()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Render(w); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}
