package nats

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksim/sim/trace"
)

// frame is one message of the protocol.
type frame struct {
	words   []string // of its line
	payload []byte
	raw     []byte
}

// frames are the messages of bytes that begin with one, and what remains of another one.
func frames(b []byte) (all []frame, rest []byte) {
	for len(b) > 0 {
		line, _, whole := bytes.Cut(b, []byte("\r\n"))
		f := frame{words: strings.Fields(string(line))}
		if !whole || len(f.words) == 0 {
			return all, b
		}
		end := len(line) + 2
		switch f.words[0] {
		case "PUB", "HPUB", "MSG", "HMSG":
			size, err := strconv.Atoi(f.words[len(f.words)-1])
			if err != nil || size < 0 || len(b) < end+size+2 {
				return all, b
			}
			f.payload = b[end : end+size]
			end += size + 2
		case "SUB", "UNSUB", "PING", "PONG", "-ERR", "+OK", "INFO", "CONNECT":
		default:
			return all, b
		}
		f.raw, b = b[:end], b[end:]
		all = append(all, f)
	}
	return all, nil
}

// sorted has the answers of one instant in an order that does not depend on which goroutine of the server was first:
// those without a subject come first, and those to one inbox keep their order.
func sorted(b []byte) []byte {
	all, rest := frames(b)
	slices.SortStableFunc(all, func(a, b frame) int { return cmp.Compare(a.inbox(), b.inbox()) })
	out := make([]byte, 0, len(b))
	for _, f := range all {
		out = append(out, f.raw...)
	}
	return append(out, rest...)
}

// inbox is the subject of a message, "" for one without.
func (f frame) inbox() string {
	if f.payload == nil {
		return ""
	}
	return f.words[1]
}

// stores reports whether a message stores a value in the bucket, and for how long; 0 is for ever.
func (f frame) stores() (value string, ttl time.Duration, ok bool) {
	if f.payload == nil || !strings.HasPrefix(f.words[1], Subject("")) {
		return "", 0, false
	}
	header, payload := split(f.words, f.payload)
	for line := range strings.SplitSeq(string(header), "\r\n") {
		if text, is := strings.CutPrefix(line, "Nats-TTL:"); is {
			ttl, _ = time.ParseDuration(strings.TrimSpace(text)) // another one is refused
		}
	}
	return string(payload), ttl, true
}

// split splits what follows the line of a message into its headers and the rest.
func split(words []string, payload []byte) (header, rest []byte) {
	if words[0] != "HPUB" && words[0] != "HMSG" {
		return nil, payload
	}
	size, _ := strconv.Atoi(words[len(words)-2])
	size = min(max(size, 0), len(payload))
	return payload[:size], payload[size:]
}

// described says which messages of the protocol bytes have, without what differs from process to process: the names of
// inboxes and of the server. Bytes that begin within a message are only counted.
func described(b []byte) trace.Content {
	all, rest := frames(b)
	var said []string
	for _, f := range all {
		switch f.words[0] {
		case "PUB", "HPUB", "MSG", "HMSG":
			said = append(said, message(f.words, f.payload))
		case "INFO", "CONNECT":
			said = append(said, f.words[0])
		default:
			said = append(said, subjects(f.words))
		}
	}
	if len(rest) > 0 {
		said = append(said, fmt.Sprintf("%d bytes", len(rest)))
	}
	return trace.Text(strings.Join(said, "; "))
}

// message is one with a payload. Of answers the acknowledgement of what was stored is shown, and errors.
func message(words []string, payload []byte) string {
	text := subjects(words[:2])
	header, payload := split(words, payload)
	if words[0] == "HPUB" || words[0] == "HMSG" {
		lines := strings.Split(strings.TrimSpace(string(header)), "\r\n")
		slices.Sort(lines[1:]) // the client has them in a map
		text += " " + strings.Join(lines, ", ")
	}
	switch {
	case strings.HasPrefix(words[1], "$KV."), bytes.Contains(payload, []byte(`"seq":`)) &&
		len(payload) < 200, bytes.Contains(payload, []byte(`"error":`)):
		return text + " " + string(payload)
	}
	return text
}

// subjects are the words of a line in which those that begin as the name of an inbox are only that.
func subjects(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; strings.HasPrefix(w, "_INBOX.") {
			out[i] = "_INBOX"
		}
	}
	return strings.Join(out, " ")
}
