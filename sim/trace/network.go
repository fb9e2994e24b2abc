package trace

import "strconv"

// Connect is a connection that was accepted. The actor dialled.
type Connect struct{}

// Refused is a dial that was refused.
type Refused struct{}

// Send is bytes that one end of a connection passes to the network.
type Send struct {
	// Conn names the connection among those of its link: #1, #2, …
	Conn string
	// Content is what was sent, as the server's kind describes it.
	Content Content
}

// Receive is bytes that arrive at a client. An arrival at a server shows in the
// server's own events.
type Receive struct {
	Conn string
	// Bytes is their number.
	Bytes int
}

// Close is the end of a stream that one end of a connection sends.
type Close struct{ Conn string }

// EOF is the end of a stream that arrives at a client.
type EOF struct{ Conn string }

// Reset is a connection that breaks at both ends.
type Reset struct {
	Conn string
	// Client and Server are its ends.
	Client, Server string
}

// Parties are both ends.
func (r Reset) Parties() []string { return []string{r.Client, r.Server} }

// Kind is "connect".
func (Connect) Kind() string { return "connect" }

// Kind is "refused".
func (Refused) Kind() string { return "refused" }

// Kind is "send".
func (Send) Kind() string { return "send" }

// Kind is "recv".
func (Receive) Kind() string { return "recv" }

// Kind is "close".
func (Close) Kind() string { return "close" }

// Kind is "eof".
func (EOF) Kind() string { return "eof" }

// Kind is "reset".
func (Reset) Kind() string { return "reset" }

// AppendText appends nothing.
func (Connect) AppendText(b []byte) []byte { return b }

// AppendText appends nothing.
func (Refused) AppendText(b []byte) []byte { return b }

// AppendText appends the connection and what was sent.
func (s Send) AppendText(b []byte) []byte {
	return s.Content.AppendText(append(append(b, s.Conn...), ' '))
}

// AppendText appends "#1 5 bytes".
func (r Receive) AppendText(b []byte) []byte {
	b = strconv.AppendInt(append(append(b, r.Conn...), ' '), int64(r.Bytes), 10)
	return append(b, " bytes"...)
}

// AppendText appends the connection.
func (c Close) AppendText(b []byte) []byte { return append(b, c.Conn...) }

// AppendText appends the connection.
func (e EOF) AppendText(b []byte) []byte { return append(b, e.Conn...) }

// AppendText appends the connection.
func (r Reset) AppendText(b []byte) []byte { return append(b, r.Conn...) }

// AppendHash implements [What].
func (Connect) AppendHash(b []byte) []byte { return b }

// AppendHash implements [What].
func (Refused) AppendHash(b []byte) []byte { return b }

// AppendHash implements [What].
func (s Send) AppendHash(b []byte) []byte { return s.Content.AppendHash(AppendString(b, s.Conn)) }

// AppendHash implements [What].
func (r Receive) AppendHash(b []byte) []byte {
	return AppendInt(AppendString(b, r.Conn), int64(r.Bytes))
}

// AppendHash implements [What].
func (c Close) AppendHash(b []byte) []byte { return AppendString(b, c.Conn) }

// AppendHash implements [What].
func (e EOF) AppendHash(b []byte) []byte { return AppendString(b, e.Conn) }

// AppendHash implements [What].
func (r Reset) AppendHash(b []byte) []byte {
	return AppendStrings(b, []string{r.Conn, r.Client, r.Server})
}
