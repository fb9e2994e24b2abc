package markdown_test

import (
	"io"
	"testing"

	"locksim/internal/testreports"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/markdown"
)

// A run of 100,000 events as Markdown.
func BenchmarkMarkdownLarge(b *testing.B) {
	o := testreports.Outcome(testreports.Large(fence.None, 11_000), testreports.Large(fence.Check, 11_000))
	for b.Loop() {
		if err := markdown.Run(io.Discard, o, reports.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
