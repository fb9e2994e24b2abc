package redis

import (
	"bytes"
	"fmt"
	"regexp"
)

// libName is the part of CLIENT SETINFO before the name of the client's library.
var libName = []byte("\r\n$8\r\nLIB-NAME\r\n")

// goVersion is the version of Go in the name that go-redis gives itself, such
// as go-redis(suffix,go1.26.8).
var goVersion = regexp.MustCompile(`^(go-redis\(.*?,)(?:go\d|devel).*\)$`)

// Canonical implements [sim.Canonical]. A stock go-redis client tells the server
// the version of Go that it was built with, to the patch: a fact of the machine
// and not of the run, which the trace must not depend on. It is cut down before
// it is sent, so that neither the text nor the number of bytes tells: a link
// with little bandwidth takes as long for every version.
func (*Server) Canonical(b []byte) []byte { return canonical(b) }

func canonical(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for {
		before, after, found := bytes.Cut(b, libName)
		out = append(out, before...)
		if !found {
			return out
		}
		out, b = append(out, libName...), after
		line, rest := cutLine(after)
		if n, ok := lengthIn(line); ok && line[0] == '$' && 0 <= n && n <= len(rest) {
			name := goVersion.ReplaceAll(rest[:n], []byte("${1}go)"))
			out, b = fmt.Appendf(out, "$%d\r\n%s", len(name), name), rest[n:]
		}
	}
}
