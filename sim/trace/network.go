package trace

import "fmt"

// Connect is a connection that was accepted. The actor dialled.
type Connect struct{}

// Kind is "connect".
func (Connect) Kind() string { return "connect" }

// Fields implements [What].
func (Connect) Fields(f Fields) Fields { return f }

// Words implements [What].
func (Connect) Words(View) Words { return Words{Untold: ofNetwork} }

// Refused is a dial that was refused.
type Refused struct{}

// Kind is "refused".
func (Refused) Kind() string { return "refused" }

// Fields implements [What].
func (Refused) Fields(f Fields) Fields { return f }

// Words implements [What].
func (Refused) Words(View) Words { return Words{Untold: ofNetwork} }

// Send is bytes that one end of a connection passes to the network.
type Send struct {
	// Conn names the connection among those of its link: #1, #2, …
	Conn string
	// Content is what was sent, as the server's kind describes it.
	Content Content
}

// Kind is "send".
func (Send) Kind() string { return "send" }

// Fields implements [What].
func (s Send) Fields(f Fields) Fields { return f.Text("conn", s.Conn).Content("content", s.Content) }

// Words implements [What].
func (Send) Words(View) Words { return Words{Untold: ofNetwork} }

// Receive is bytes that arrive at a client. An arrival at a server shows in the
// server's own events.
type Receive struct {
	Conn string
	// Bytes is their number.
	Bytes int
}

// Kind is "recv".
func (Receive) Kind() string { return "recv" }

// Fields implements [What].
func (r Receive) Fields(f Fields) Fields {
	return f.Text("conn", r.Conn).Count("bytes", int64(r.Bytes))
}

// Words implements [What].
func (Receive) Words(View) Words { return Words{Untold: ofNetwork} }

// Close is the end of a stream that one end of a connection sends.
type Close struct{ Conn string }

// Kind is "close".
func (Close) Kind() string { return "close" }

// Fields implements [What].
func (c Close) Fields(f Fields) Fields { return f.Text("conn", c.Conn) }

// Words implements [What].
func (Close) Words(View) Words { return Words{Untold: ofNetwork} }

// EOF is the end of a stream that arrives at a client.
type EOF struct{ Conn string }

// Kind is "eof".
func (EOF) Kind() string { return "eof" }

// Fields implements [What].
func (e EOF) Fields(f Fields) Fields { return f.Text("conn", e.Conn) }

// Words implements [What].
func (EOF) Words(View) Words { return Words{Untold: ofNetwork} }

// Reset is a connection that breaks at both ends.
type Reset struct {
	Conn string
	// Client and Server are its ends.
	Client, Server string
}

// Parties are both ends.
func (r Reset) Parties() []string { return []string{r.Client, r.Server} }

// Kind is "reset".
func (Reset) Kind() string { return "reset" }

// Fields implements [What].
func (r Reset) Fields(f Fields) Fields {
	return f.Texts("conn", r.Conn, "client", r.Client, "server", r.Server)
}

// AppendText appends the connection.
func (r Reset) AppendText(b []byte) []byte { return append(b, r.Conn...) }

// Words implements [What].
func (r Reset) Words(View) Words {
	return Words{Story: "RESET " + line(r), Lane: "connection reset " + r.Conn}
}

// Await is a command of a process that has to wait for a connection: all Connections of its
// pool are in use. Its actor is the process.
type Await struct{ Connections int }

// Kind is "await".
func (Await) Kind() string { return "await" }

// Fields implements [What].
func (a Await) Fields(f Fields) Fields { return f.Int("connections", int64(a.Connections)) }

// AppendText appends what the command waits for.
func (a Await) AppendText(b []byte) []byte {
	return fmt.Appendf(b, "a connection: all %d of its pool are in use", a.Connections)
}

// Words implements [What].
func (a Await) Words(View) Words { return Words{Story: "waits for " + line(a)} }
