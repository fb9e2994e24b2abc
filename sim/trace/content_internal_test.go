package trace

import (
	"testing"
	"unicode"
)

// The short way to tell text agrees with the long one for each byte of ASCII, and leaves all others to it.
func TestASCIIText(t *testing.T) {
	for c := range 256 {
		b, r := []byte{'a', byte(c)}, rune(c)
		if want := c < 0x80 && (unicode.IsPrint(r) || unicode.IsSpace(r)); isASCIIText(b) != want {
			t.Errorf("%q is text: %v, want %v", b, !want, want)
		}
	}
	if !isText([]byte("é\n")) || isText([]byte("a\x00")) || isText([]byte{0xff}) {
		t.Error("text of other letters, a control character, or bytes that are no text")
	}
}
