package file

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/faults"
)

func TestInputErrorOmitsUnknownParts(t *testing.T) {
	for _, tt := range []struct {
		err  InputError
		want string
	}{
		{InputError{Msg: "no such thing"}, "no such thing"},
		{InputError{Msg: "bad", Pos: faults.Pos{File: "a.yaml"}}, "a.yaml: bad"},
		{InputError{Msg: "bad", Pos: faults.Pos{File: "a.yaml", Line: 1, Column: 2}, Excerpt: "x\n^"},
			"a.yaml:1:2: bad\nx\n^"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
	if err := (&InputError{Err: fs.ErrNotExist}); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the cause is not found by errors.Is")
	}
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("a", 300) + "B" + strings.Repeat("c", 300)
	for _, tt := range []struct {
		name, source string
		line, column int
		want         string
	}{
		{"a line in the middle", "one\ntwo\nthree", 2, 3, "   2 | two\n     |   ^"},
		{"accents are one column", "éé: x", 1, 5, "   1 | éé: x\n     |     ^"},
		{"a carriage return is not shown", "one\r\ntwo\r\n", 1, 9, "   1 | one\n     |    ^"},
		{"a byte-order mark is not shown", "\uFEFFone", 1, 1, "   1 | one\n     | ^"},
		{"control characters are replaced", "a\x1b[31m\tb", 1, 2, "   1 | a\uFFFD[31m b\n     |  ^"},
		{"a long line is cut around the caret", long, 1, 301,
			"   1 | " + strings.Repeat("a", 66) + "B" + strings.Repeat("c", 33) + "\n     | " + strings.Repeat(" ", 66) + "^"},
		{"no such line", "one", 2, 1, ""},
		{"no line", "one", 0, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := excerpt([]byte(tt.source), faults.Pos{Line: tt.line, Column: tt.column})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("excerpt (-want +got):\n%s", diff)
			}
		})
	}
}
