package rediscluster

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// CommandAnswers are the entries of the table of commands, each as the tests read it in RESP3, by name.
func CommandAnswers() map[string]string {
	out := map[string]string{}
	in := bufio.NewReader(strings.NewReader(string(commandReplies()[1])))
	_, _ = in.ReadString('\n')
	for range commands() {
		one := ReadValue(in)
		_, name, _ := strings.Cut(one, `"`)
		name, _, _ = strings.Cut(name, `"`)
		out[name] = one
	}
	return out
}

// ReadValue reads an answer, and returns it on one line.
func ReadValue(in *bufio.Reader) string {
	line, err := in.ReadString('\n')
	if err != nil {
		return "read: " + err.Error()
	}
	line = strings.TrimSpace(line)
	n, _ := strconv.Atoi(line[1:])
	switch line[0] {
	case '$', '=':
		if n < 0 {
			return "nil"
		}
		text := make([]byte, n+2)
		_, _ = io.ReadFull(in, text)
		return strconv.Quote(string(text[:n]))
	case '*', '~', '%', '>':
		if line[0] == '%' {
			n *= 2
		}
		if n < 0 {
			return "nil"
		}
		parts := make([]string, n)
		for i := range parts {
			parts[i] = ReadValue(in)
		}
		return string(line[0]) + "[" + strings.Join(parts, " ") + "]"
	case '_':
		return "nil"
	}
	return line
}

// Buckets are the nodes as a node has them in its hash table, by their index.
func (s *Server) Buckets() [][]int { return s.buckets }
