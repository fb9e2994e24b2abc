package html

import (
	"path"
	"strings"
	"testing"
	"testing/quick"
)

// The name of a file has no folder, is not that of a device or of a hidden file, and
// needs no escape in a link.
func TestFileName(t *testing.T) {
	for name, want := range map[string]string{
		"redlock-fenced":           "redlock-fenced",
		"broken/del-without-owner": "broken.del-without-owner",
		"broken.del-without-owner": "broken_2edel-without-owner",
		"<script>":                 "_3cscript_3e",
		"../x":                     "_2e_2e_2fx",
		"..":                       "_2e_2e",
		"a//b":                     "a_2f_2fb",
		"/etc/passwd":              "_2fetc.passwd",
		`c:\x`:                     "c_3a_5cx",
		"My Lock":                  "_4dy_20_4cock",
		"-rf":                      "_2drf",
		"":                         "__",
		"con":                      "__con",
		"nul/x":                    "__nul.x",
		"a\x00b":                   "a_00b",
	} {
		if got := fileName(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	for _, pair := range [][2]string{{strings.Repeat("x", 200) + "a", strings.Repeat("x", 200) + "b"}, {"Lock", "lock"},
		{"a/b", "a.b"}, {"é", "e"}} {
		if fileName(pair[0]) == fileName(pair[1]) {
			t.Errorf("%q and %q share %q", pair[0], pair[1], fileName(pair[0]))
		}
	}
}

// This holds for every name, and two names have different files.
func TestFileNameOfAnything(t *testing.T) {
	safe := func(a, b string) bool {
		x, y := fileName(a), fileName(b)
		return (x == y) == (a == b) && len(x) <= maxFileName && x == path.Base(x) && !strings.HasPrefix(x, ".") &&
			strings.Trim(x, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
	}
	if err := quick.Check(safe, nil); err != nil {
		t.Error(err)
	}
}
