package redis

import (
	"slices"
	"strings"
	"testing"
)

func TestParseCommand(t *testing.T) {
	for _, tc := range []struct {
		in   string
		args []string
		n    int
		err  string
	}{
		{"", nil, 0, ""},
		{"*1\r\n$4\r\nPING\r\n", []string{"PING"}, 14, ""},
		{"*1\r\n$4\r\nPING\r\n*1\r\n", []string{"PING"}, 14, ""},
		{"*2\r\n$3\r\nGET\r\n$4\r\n\r\n*1\r\n", []string{"GET", "\r\n*1"}, 23, ""},
		{"*2\r\n$3\r\nGET\r\n", nil, 0, ""},
		{"*2\r\n$3\r\nGET\r\n$1\r\nk", nil, 0, ""},
		{"*2\r\n$3\r\nGET\r\n$1\r\nk\r", nil, 0, ""},
		{"*", nil, 0, ""},
		{"*1", nil, 0, ""},
		{"*0\r\nx", nil, 4, ""},
		{"*-1\r\n", nil, 5, ""},
		{"*-99\r\n", nil, 6, ""},
		{"*1\n$1\nx\r\n", []string{"x"}, 9, ""},
		{"get  k \r\nx", []string{"get", "k"}, 9, ""},
		{"\r\n", nil, 2, ""},
		{"*1048577\r\n", nil, 0, "invalid multibulk length"},
		{"*1.5\r\n", nil, 0, "invalid multibulk length"},
		{"*1\r\n:1\r\n", nil, 0, "expected '$', got ':'"},
		{"*1\r\n$536870913\r\n", nil, 0, "invalid bulk length"},
		{"*2\r\n$1\r\nx\r\n$-1\r\n", nil, 0, "invalid bulk length"},
		{"*" + strings.Repeat("1", 70_000), nil, 0, "too big multibulk count string"},
		{strings.Repeat("x", 70_000) + "\n", nil, 0, "too big inline request"},
	} {
		args, n, err := ParseCommand([]byte(tc.in))
		got := ""
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "ERR Protocol error: ")
		}
		if !slices.Equal(args, tc.args) || n != tc.n || got != tc.err {
			t.Errorf("%.40q: %q, %d bytes, %q; want %q, %d, %q", tc.in, args, n, got, tc.args, tc.n, tc.err)
		}
	}
}

// FuzzParseCommand looks for panics, for results longer than the input, and for
// results that depend on how the bytes arrive.
func FuzzParseCommand(f *testing.F) {
	for _, s := range []string{"*1\r\n$4\r\nPING\r\n", "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", "PING\r\n", "*-1\r\n", "$1\r\n",
		"*1\r\n$-1\r\n", "*3\r\n$0\r\n\r\n$1\r\n\n\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		args, n, err := ParseCommand(b)
		if n < 0 || n > len(b) || err != nil && (n != 0 || args != nil) || n == 0 && args != nil {
			t.Fatalf("%q, %d of %d bytes, %v", args, n, len(b), err)
		}
		for short := range n { // an incomplete command is neither a result nor an error
			if a, m, err := ParseCommand(b[:short]); m != 0 || err != nil {
				t.Fatalf("after %d of %d bytes: %q, %d bytes, %v", short, n, a, m, err)
			}
		}
		if n > 0 {
			again, m, err := ParseCommand(b[:n])
			if !slices.Equal(again, args) || m != n || err != nil {
				t.Fatalf("without what follows: %q, %d, %v instead of %q, %d", again, m, err, args, n)
			}
		}
		_ = RESP(b).AppendText(nil)
		if len(b) > 0 {
			if l := replyLength(b); l < 1 || l > len(b) {
				t.Fatalf("the first reply of %q has %d bytes", b, l)
			}
		}
	})
}

func TestReadable(t *testing.T) {
	long := strings.Repeat("é", 400)
	for _, tc := range []struct{ in, want string }{
		{"", ""},
		{"+OK\r\n", "OK"},
		{":5\r\n", "5"},
		{",1.5\r\n", "1.5"},
		{"-ERR no\r\n", "-ERR no"},
		{"$-1\r\n", "nil"},
		{"*-1\r\n", "nil"},
		{"_\r\n", "nil"},
		{"*0\r\n", "(empty)"},
		{"$0\r\n\r\n", `""`},
		{"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", "GET k"},
		{"*1\r\n$2\r\n*3\r\n", "*3"},
		{"$4\r\na\r\nb\r\n", "a  b"},
		{"$3\r\n+OK\r\n:1\r\n", "+OK 1"},
		{"%1\r\n+a\r\n*1\r\n:1\r\n", "a 1"},
		{">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n", "message c m"},
		{"~1\r\n+x\r\n", "x"},
		{"WRITE r a op 5\n", "WRITE r a op 5"},
		{"OK value\nOK\n", "OK value OK"},
		{"$10\r\nhalf", "half"},
		{"$", "$"},
		{"*x\r\n", "*x"},
		{"\n\n", ""},
		{"$800\r\n" + long + "\r\n+x\r\n", strings.Repeat("é", 150) + " … and 501 bytes"},
	} {
		if got := string(RESP(tc.in).AppendText(nil)); got != tc.want {
			t.Errorf("%.40q reads %q, want %q", tc.in, got, tc.want)
		}
	}
}

func TestReplyLength(t *testing.T) {
	for _, reply := range []string{
		"+OK\r\n", ":1\r\n", "$-1\r\n", "$0\r\n\r\n", "$5\r\na\r\nbc\r\n", "*0\r\n", "*-1\r\n",
		"*2\r\n*1\r\n:1\r\n$1\r\nx\r\n",
		"%2\r\n+a\r\n:1\r\n+b\r\n*0\r\n", ">2\r\n+a\r\n_\r\n", "~1\r\n,1.5\r\n",
	} {
		if n := replyLength([]byte(reply + "+next\r\n")); n != len(reply) {
			t.Errorf("%q has %d bytes, got %d", reply, len(reply), n)
		}
	}
}
