package trace

// Content may be able to say more of itself than its text, for diagrams and for
// whoever follows messages through a trace. A server's kind whose content can do
// none of this is shown by its texts.

// Worded is content that is made of words: a request, the first of them its name.
type Worded interface {
	Words() []string
}

// Request is the content of a request that has a short form for diagrams.
type Request interface {
	// Brief is the request in a few words. It is empty where a diagram does better
	// without it: a request that opens a connection, or one that was refused since
	// it has to be made in another way. answer is nil where there is none.
	Brief(answer Content) string
}

// Answer is the content of an answer that knows whether it is one of success.
type Answer interface {
	// Negative says that nothing was done or found, or that the answer is an error.
	Negative() bool
}

// WordsOf are the words of content, nil where it has none.
func WordsOf(c Content) []string {
	if w, ok := c.(Worded); ok {
		return w.Words()
	}
	return nil
}
