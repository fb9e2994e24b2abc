package sim

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
)

// errProtocol is what Redis answers before it hangs up on nonsense.
var errProtocol = errors.New("ERR Protocol error")

// maxBulk bounds the lengths in a request, as Redis does.
const maxBulk = 512 << 20

// parseCommand takes one command off a stream of RESP. n is what it used; 0
// means that the rest has not arrived yet.
func parseCommand(b []byte) (args []string, n int, err error) {
	if len(b) == 0 {
		return nil, 0, nil
	}
	if b[0] != '*' {
		return parseInline(b)
	}
	count, n, err := parseLength(b, '*')
	if n == 0 || err != nil {
		return nil, 0, err
	}
	for range count {
		arg, used, err := parseBulk(b[n:])
		if used == 0 || err != nil {
			return nil, 0, err
		}
		args = append(args, arg)
		n += used
	}
	return args, n, nil
}

func parseInline(b []byte) (args []string, n int, err error) {
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		return nil, 0, nil
	}
	return strings.Fields(string(b[:end])), end + 1, nil
}

// parseLength reads a line such as "*3" or "$11".
func parseLength(b []byte, mark byte) (length, n int, err error) {
	if len(b) == 0 {
		return 0, 0, nil
	}
	if b[0] != mark {
		return 0, 0, errProtocol
	}
	end := bytes.Index(b, []byte("\r\n"))
	if end < 0 {
		if len(b) > 64 {
			return 0, 0, errProtocol
		}
		return 0, 0, nil
	}
	length, err = strconv.Atoi(string(b[1:end]))
	if err != nil || length < 0 || length > maxBulk {
		return 0, 0, errProtocol
	}
	return length, end + 2, nil
}

func parseBulk(b []byte) (arg string, n int, err error) {
	length, n, err := parseLength(b, '$')
	if n == 0 || err != nil {
		return "", 0, err
	}
	if len(b) < n+length+2 {
		return "", 0, nil
	}
	return string(b[n : n+length]), n + length + 2, nil
}

// shownBytes bounds what the trace keeps of one message.
const shownBytes = 300

// readable renders RESP, or any text, on one line for the trace: the lengths
// are left out, the rest is kept up to a limit.
func readable(b []byte) string {
	var out strings.Builder
	out.Grow(min(len(b), shownBytes) + 16)
	for len(b) > 0 && out.Len() < shownBytes {
		line := b
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			line, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		appendReadable(&out, bytes.TrimSuffix(line, []byte("\r")))
	}
	if len(b) > 0 {
		out.WriteString(" … and " + strconv.Itoa(len(b)) + " bytes")
	}
	return out.String()
}

func appendReadable(out *strings.Builder, line []byte) {
	switch {
	case len(line) > 1 && (line[0] == '*' || line[0] == '$') && isLength(line[1:]):
		if line[1] == '-' {
			line = []byte("nil")
			break
		}
		return
	case len(line) > 0 && (line[0] == '+' || line[0] == ':'):
		line = line[1:]
	}
	if out.Len() > 0 {
		out.WriteByte(' ')
	}
	out.Write(line[:min(len(line), shownBytes)])
}

func isLength(b []byte) bool {
	if b[0] == '-' {
		b = b[1:]
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}
