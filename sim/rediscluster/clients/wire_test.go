package clients_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// wire notes what clients send on their connections, and what they are answered.
type wire struct {
	mu    sync.Mutex
	conns []*tapped
}

// tapped is a connection that notes what passes.
type tapped struct {
	net.Conn
	on             *wire
	sent, received bytes.Buffer
}

func (w *wire) tap(dial dialer) dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		t := &tapped{Conn: c, on: w}
		w.conns = append(w.conns, t)
		return t, nil
	}
}

func (t *tapped) Write(b []byte) (int, error) {
	t.on.mu.Lock()
	t.sent.Write(b)
	t.on.mu.Unlock()
	return t.Conn.Write(b)
}

func (t *tapped) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	t.on.mu.Lock()
	t.received.Write(b[:n])
	t.on.mu.Unlock()
	return n, err
}

// opened is what clients have sent to open their connections, each command once with its answer, but for later maps of
// the cluster, and names are the commands that they have sent at all.
func (w *wire) opened(plain func(string) string) (opened, names []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	mapped := false
	for _, t := range w.conns {
		sent := bufio.NewReader(bytes.NewReader(t.sent.Bytes()))
		received := bufio.NewReader(bytes.NewReader(t.received.Bytes()))
		opening := true
		for {
			words, err := readCommand(sent)
			if err != nil {
				break
			}
			answer := readValue(received)
			for strings.HasPrefix(answer, ">") { // nothing has asked for it
				answer = readValue(received)
			}
			name := strings.ToUpper(words[0])
			opening = opening && opens(name)
			if name == "CLUSTER" && mapped {
				names = append(names, name+" "+strings.ToUpper(words[1]))
				continue
			}
			mapped = mapped || name == "CLUSTER"
			if opening && !strings.HasPrefix(answer, "read: ") { // it was closed before
				opened = append(opened, strings.Join(words, " ")+" -> "+answerOf(words, plain(answer)))
			}
			if slices.Contains([]string{"CLUSTER", "CLIENT", "SCRIPT"}, name) && len(words) > 1 {
				name += " " + strings.ToUpper(words[1])
			}
			names = append(names, name)
		}
	}
	slices.Sort(opened)
	slices.Sort(names)
	return slices.Compact(opened), slices.Compact(names)
}

// answerOf is an answer as it is compared.
func answerOf(words []string, answer string) string {
	switch strings.ToUpper(words[0]) {
	case "COMMAND": // see TestLiveCommandsAndSlots of package rediscluster
		return "something"
	case "CLUSTER": // ranges and nodes have no order
		parts := strings.FieldsFunc(answer, func(r rune) bool { return strings.ContainsRune("[]", r) })
		slices.Sort(parts)
		return strings.Join(parts, "|")
	}
	return answer
}

func readCommand(in *bufio.Reader) (words []string, err error) {
	text, err := in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(text[1:]))
	if err != nil || text[0] != '*' {
		return nil, fmt.Errorf("%q is no command", text)
	}
	for range n {
		word := readValue(in)
		if strings.HasPrefix(word, "read: ") {
			return nil, io.ErrUnexpectedEOF
		}
		if word, err = strconv.Unquote(word); err != nil {
			return nil, err
		}
		words = append(words, word)
	}
	return words, nil
}

// readValue reads an answer, and returns it on one line.
func readValue(in *bufio.Reader) string {
	text, err := in.ReadString('\n')
	if err != nil {
		return "read: " + err.Error()
	}
	text = strings.TrimSpace(text)
	n, _ := strconv.Atoi(text[1:])
	switch text[0] {
	case '$', '=':
		if n < 0 {
			return "nil"
		}
		b := make([]byte, n+2)
		_, _ = io.ReadFull(in, b)
		return strconv.Quote(string(b[:n]))
	case '*', '~', '%', '>':
		if text[0] == '%' {
			n *= 2
		}
		if n < 0 {
			return "nil"
		}
		parts := make([]string, n)
		for i := range parts {
			parts[i] = readValue(in)
		}
		return string(text[0]) + "[" + strings.Join(parts, " ") + "]"
	case '_':
		return "nil"
	}
	return text
}
