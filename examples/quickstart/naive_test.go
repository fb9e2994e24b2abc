package quickstart_test

import (
	"context"
	"io"
	"os"
	"testing"

	"locksim/examples/quickstart"
	"locksim/examples/quickstart/adapter"
	"locksim/reports"
	"locksim/reports/html"
	"locksim/reports/markdown"
	"locksim/scenarios"
)

// naive releases Mutex by DEL without a check of the key's owner, a common first
// mistake.
func naive(m *quickstart.Mutex, ctx context.Context) error { return m.Client.Del(ctx, m.Key).Err() }

func TestNaive(t *testing.T) {
	if os.Getenv("NAIVE") == "" {
		t.Skip("this test must fail: NAIVE=1 go test -run TestNaive .")
	}
	scenarios.Check(t, adapter.Lock("naive", naive), scenarios.Options{Seed: 1,
		Page: func(w io.Writer, o *scenarios.Outcome, replay string) error {
			return html.Run(w, o, reports.Options{Replay: replay})
		},
		Markdown: func(w io.Writer, o *scenarios.Outcome, replay string) error {
			return markdown.Run(w, o, reports.Options{Replay: replay})
		}})
}
