package redisclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
)

// The errors of Sentinels have one order, whichever came first, and are found by errors.Is.
func TestSentinelErrorsAreInOrder(t *testing.T) {
	a, b := errors.New("a failed"), fmt.Errorf("b failed: %w", io.EOF)
	for _, first := range [][]error{{a, b}, {b, a}} {
		dial := inOrder{}.DialHook(func(context.Context, string, string) (net.Conn, error) {
			return nil, fmt.Errorf("all are unreachable: %w", errors.Join(first...))
		})
		_, err := dial(t.Context(), "tcp", "r0")
		if want := "all are unreachable: a failed\nb failed: EOF"; err.Error() != want || !errors.Is(err, io.EOF) {
			t.Errorf("got %q, want %q, with its cause", err, want)
		}
	}
}
