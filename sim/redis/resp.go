package redis

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Bounds of a request, as in Redis.
const (
	maxBulk   = 512 << 20 // bytes of one argument
	maxArgs   = 1 << 20   // arguments of one command
	maxInline = 64 << 10  // bytes of a line
)

// protocolError is the reply to bytes that are not RESP, after which Redis
// closes the connection.
type protocolError string

func (e protocolError) Error() string { return "ERR Protocol error: " + string(e) }

// ParseCommand parses the first command of a stream of RESP. n is its length; 0
// means that the rest has not arrived yet. A command without arguments is to be
// ignored. The error is for bytes that are no RESP: its text is the answer, after a
// hyphen, and the connection ends.
func ParseCommand(b []byte) (args []string, n int, err error) {
	if len(b) == 0 {
		return nil, 0, nil
	}
	if b[0] != '*' {
		return parseInline(b)
	}
	count, head, err := parseLength(b, "multibulk", maxArgs)
	if head == 0 || err != nil {
		return nil, 0, err
	}
	// Most requests arrive whole. For an incomplete one only the lengths are
	// read whenever another piece arrives.
	if n, err = commandLength(b, head, count); n == 0 || err != nil {
		return nil, 0, err
	}
	return appendArgs(make([]string, 0, max(count, 0)), b[head:n]), n, nil
}

// appendArgs appends the arguments of a command, which follow its head. If b is
// cut, so is the last argument.
func appendArgs(args []string, b []byte) []string {
	text := string(b) // the arguments are substrings of it
	for at := 0; at < len(b); {
		length, used, _ := parseLength(b[at:], "bulk", maxBulk)
		at += used
		if used == 0 || at == len(b) { // the argument is missing
			break
		}
		args = append(args, text[at:min(at+length, len(b))])
		at += length + 2
	}
	return args
}

// commandLength is the length of a whole command, or 0 if it is incomplete.
func commandLength(b []byte, n, count int) (int, error) {
	for range count {
		if n >= len(b) {
			return 0, nil
		}
		if b[n] != '$' {
			return 0, protocolError(fmt.Sprintf("expected '$', got %q", b[n]))
		}
		length, used, err := parseLength(b[n:], "bulk", maxBulk)
		switch {
		case used == 0 || err != nil:
			return 0, err
		case length < 0:
			return 0, protocolError("invalid bulk length")
		case len(b) < n+used+length+2:
			return 0, nil
		}
		n += used + length + 2
	}
	return n, nil
}

// parseInline reads a command typed by hand: words on a line.
func parseInline(b []byte) (args []string, n int, err error) {
	end := bytes.IndexByte(b, '\n')
	switch {
	case end < 0 && len(b) <= maxInline:
		return nil, 0, nil
	case end < 0 || end > maxInline:
		return nil, 0, protocolError("too big inline request")
	case bytes.ContainsAny(b[:end], `"'`):
		return nil, 0, protocolError("quotes in inline commands are not supported by this server")
	}
	return strings.Fields(string(b[:end])), end + 1, nil
}

// parseLength reads a line such as "*3" or "$11", whatever its first byte.
func parseLength(b []byte, what string, limit int) (length, n int, err error) {
	if len(b) >= 4 && '0' <= b[1] && b[1] <= '9' && b[2] == '\r' && b[3] == '\n' { // the common case
		return int(b[1] - '0'), 4, nil
	}
	// likewise
	if len(b) >= 5 && '1' <= b[1] && b[1] <= '9' && '0' <= b[2] && b[2] <= '9' && b[3] == '\r' && b[4] == '\n' {
		return int(b[1]-'0')*10 + int(b[2]-'0'), 5, nil
	}
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		if len(b) > maxInline {
			return 0, 0, protocolError("too big " + what + " count string")
		}
		return 0, 0, nil
	}
	length, err = strconv.Atoi(string(bytes.TrimSuffix(b[1:end], []byte("\r"))))
	if err != nil || length > limit {
		return 0, 0, protocolError("invalid " + what + " length")
	}
	return length, end + 1, nil
}
