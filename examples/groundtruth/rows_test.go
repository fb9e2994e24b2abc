package groundtruth

import (
	"strings"
	"testing"
)

// A row with a key or a promise that does not exist is refused: it would be judged by what nobody has written.
func TestRowsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"- id: a\n  promise: lease\n  hasnt: v1\n": "hasnt",
		"- id: a\n  promise: leese\n":              `a: there is no promise "leese"`,
		"- id: a\n":                                `a: there is no promise ""`,
	} {
		if _, err := readRows([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
