package redis

import "testing"

// TestCanonicalLeavesTheRest shows that only the library name of go-redis is
// shortened, and that bytes which are no command, or an incomplete one, pass
// unchanged.
func TestCanonicalLeavesTheRest(t *testing.T) {
	const head = "*4\r\n$6\r\nclient\r\n$7\r\nsetinfo\r\n$8\r\nLIB-NAME\r\n"
	for in, want := range map[string]string{
		head + "$19\r\ngo-redis(,go1.26.8)\r\n" + head + "$20\r\ngo-redis(a,go1.26.8)\r\n": head +
			"$13\r\ngo-redis(,go)\r\n" + head + "$14\r\ngo-redis(a,go)\r\n",
		head + "$19\r\ngo-redis(,go1.2":         head + "$19\r\ngo-redis(,go1.2",
		head + "$-1\r\n":                        head + "$-1\r\n",
		head + "*19\r\ngo-redis(,go1.26.8)\r\n": head + "*19\r\ngo-redis(,go1.26.8)\r\n",
		head:                                    head,
		"PING\r\n":                              "PING\r\n",
		"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$19\r\ngo-redis(,go1.26.8)\r\n": "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$19\r\ngo-redis(,go1.26.8)\r\n",
	} {
		if got := string(canonical([]byte(in))); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
