package redis

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"locksim/sim/trace"
)

// RESP is bytes of the Redis protocol, requests or replies, in the trace.
type RESP []byte

// AppendText appends them on one line: without lengths, with values cut. Bytes that are not RESP are shown as they are.
func (r RESP) AppendText(b []byte) []byte {
	line := trace.NewLine(b)
	s := respLine{&line}
	for rest := []byte(r); len(rest) > 0; {
		rest = s.token(rest)
	}
	return line.End()
}

// AppendHash appends all of them.
func (r RESP) AppendHash(b []byte) []byte { return append(trace.AppendInt(b, int64(len(r))), r...) }

// Words are the words of the first request or reply, without lengths. A client sends a request that is larger than its
// buffer in pieces: the first piece gives the words that it contains, with the last one cut.
func (r RESP) Words() []string {
	args, n, err := ParseCommand(r)
	if n == 0 && err == nil && bytes.HasPrefix(r, []byte("*")) {
		_, rest := cutLine(r)
		args = appendArgs(nil, rest)
	}
	if err != nil || len(args) == 0 {
		return nil
	}
	return args
}

// Request is an executed command in the trace.
type Request struct {
	args   []string
	script string // the title of the script that it runs, or empty
}

// NewRequest is a command without a script.
func NewRequest(args []string) Request { return Request{args: args} }

// Words are the command and its arguments, with a script's title in place of the script.
func (r Request) Words() []string {
	if r.script == "" {
		return r.args
	}
	words := slices.Clone(r.args)
	words[1] = r.script
	return words
}

// Kind implements [trace.Kinded]: EVAL and EVALSHA of a script are of one kind.
func (r Request) Kind() string {
	if len(r.args) > 1 && runsScript(r.args[0]) {
		return "script " + cmp.Or(r.script, r.args[1])
	}
	return strings.ToLower(r.args[0])
}

// AppendText appends the words, cut.
func (r Request) AppendText(b []byte) []byte {
	line := trace.NewLine(b)
	for i, a := range r.args {
		if i == 1 && r.script != "" {
			a = r.script
		}
		line.Add([]byte(a))
	}
	return line.End()
}

// AppendHash appends the command in full.
func (r Request) AppendHash(b []byte) []byte {
	return trace.AppendStrings(trace.AppendString(b, r.script), r.args)
}

// Brief implements [trace.Request]: a command without random ids, or the name of its script.
func (r Request) Brief(answer trace.Content) string {
	if a, ok := answer.(RESP); ok && bytes.HasPrefix(a, []byte("-NOSCRIPT")) || len(r.args) == 0 {
		return ""
	}
	if title, ok := strings.CutPrefix(r.script, "["); ok {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSuffix(title, "]"), "broken: "), ":")
		return name
	}
	return brief(r.args[0], r)
}

// Brief implements [trace.Request] for a request under way.
func (r RESP) Brief(trace.Content) string {
	words := r.Words()
	if len(words) == 0 {
		return ""
	}
	return brief(words[0], r)
}

// brief is the text of a command without random ids, empty for one that is not part of a lock.
func brief(command string, c trace.Content) string {
	if slices.Contains(connectionCommands, strings.ToUpper(command)) {
		return ""
	}
	return randomID.ReplaceAllString(string(c.AppendText(nil)), "")
}

// connectionCommands are commands that open a connection or subscribe.
var connectionCommands = []string{
	"HELLO", "CLIENT", "AUTH", "SELECT", "PING", "SCRIPT", "INFO", "SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE",
	"PUNSUBSCRIBE",
	"READONLY", "READWRITE",
}

// randomID matches the id of an owner: it has no meaning for a reader, and each attempt has a new one.
var randomID = regexp.MustCompile(` [0-9a-fA-F]{16,}\b`)

// Negative implements [trace.Answer]: nil, 0 or an error.
func (r RESP) Negative() bool {
	text := string(r.AppendText(nil))
	return text == "nil" || text == "0" || strings.HasPrefix(text, "-")
}

// Failed implements [trace.Failing].
func (r RESP) Failed() bool { return strings.HasPrefix(string(r.AppendText(nil)), "-") }

// respLine is a line of text made of RESP.
type respLine struct{ *trace.Line }

// token adds one line, or one bulk string, and returns what follows it.
func (s respLine) token(b []byte) []byte {
	line, rest := cutLine(b)
	switch b[0] {
	case '*', '>', '~', '%': // aggregates
		if n, ok := lengthIn(line); ok {
			switch {
			case n < 0:
				s.Add([]byte("nil"))
			case n == 0:
				s.Add([]byte("(empty)"))
			}
			return rest
		}
	case '$':
		if n, ok := lengthIn(line); ok {
			return s.bulk(rest, n)
		}
	case '+', ':', ',':
		line = line[1:]
	case '_':
		if len(line) == 1 {
			line = []byte("nil")
		}
	}
	if len(line) > 0 {
		s.Add(line)
	}
	return rest
}

func (s respLine) bulk(b []byte, n int) []byte {
	if n < 0 {
		s.Add([]byte("nil"))
		return b
	}
	n = min(n, len(b))
	if n == 0 {
		s.Add([]byte(`""`))
	} else {
		s.Add(b[:n])
	}
	return bytes.TrimPrefix(b[n:], []byte("\r\n"))
}

// cutLine splits off a line, without its end.
func cutLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), rest
}

// lengthIn is the number behind the first byte of a line.
func lengthIn(line []byte) (int, bool) {
	if len(line) < 2 || len(line) > 12 {
		return 0, false
	}
	n, err := strconv.Atoi(string(line[1:]))
	return n, err == nil
}

// replyLength is the length of the first whole reply in b.
func replyLength(b []byte) int {
	line, rest := cutLine(b)
	n := len(b) - len(rest)
	count, ok := lengthIn(line)
	if !ok || count < 0 {
		return n
	}
	switch b[0] {
	case '$':
		return min(n+count+2, len(b))
	case '%':
		count *= 2
	case '*', '>', '~':
	default:
		return n
	}
	for ; count > 0 && n < len(b); count-- {
		n += replyLength(b[n:])
	}
	return n
}
