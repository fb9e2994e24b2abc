package natskv

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locksim/sim/trace"
)

// described says which messages of the protocol bytes have, without what differs from process to process: the names of
// inboxes and of the server. Bytes that begin within a message are only counted.
func described(b []byte) trace.Content {
	var said []string
	for len(b) > 0 {
		line, rest, whole := bytes.Cut(b, []byte("\r\n"))
		words := strings.Fields(string(line))
		if !whole || len(words) == 0 {
			said = append(said, fmt.Sprintf("%d bytes", len(b)))
			break
		}
		b = rest
		verb := words[0]
		switch verb {
		case "PUB", "HPUB", "MSG", "HMSG":
			size, err := strconv.Atoi(words[len(words)-1])
			if err != nil || len(b) < size+2 {
				said = append(said, fmt.Sprintf("%s and %d bytes", verb, len(b)))
				return trace.Text(strings.Join(said, "; "))
			}
			said = append(said, message(words, b[:size]))
			b = b[size+2:]
		case "SUB", "UNSUB", "PING", "PONG", "-ERR", "+OK":
			said = append(said, subjects(words))
		case "INFO", "CONNECT":
			said = append(said, verb)
		default:
			said = append(said, fmt.Sprintf("%d bytes", len(line)+2))
		}
	}
	return trace.Text(strings.Join(said, "; "))
}

// message is one with a payload. Of answers the acknowledgement of what was stored is shown, and errors.
func message(words []string, payload []byte) string {
	text := subjects(words[:2])
	if words[0] == "HPUB" || words[0] == "HMSG" {
		header, _ := strconv.Atoi(words[len(words)-2])
		lines := strings.Split(strings.TrimSpace(string(payload[:min(header, len(payload))])), "\r\n")
		slices.Sort(lines[1:]) // the client has them in a map
		text += " " + strings.Join(lines, ", ")
		payload = payload[min(header, len(payload)):]
	}
	switch {
	case strings.HasPrefix(words[1], "$KV."), bytes.Contains(payload, []byte(`"seq":`)) && len(payload) < 200, bytes.Contains(payload, []byte(`"error":`)):
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
