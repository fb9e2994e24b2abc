package sim

import "strings"

// ShowLabels is what GODEBUG must have in a program whose end [ReadFatal] shall understand: with it the runtime says
// whose a goroutine was.
const ShowLabels = "tracebacklabels=1"

// Fatal is the end of a whole program by a panic in a goroutine that the code under test has started, which nothing can
// catch, or by a fatal error of the runtime.
type Fatal struct {
	// Text is the value of the panic, or the fatal error, in one line.
	Text string `json:"text"`
	// Where is the innermost function of the code under test: "in shop.(*mutex).renew (mutex.go:31)". It is "" if none
	// ran.
	Where string `json:"where"`
	// Process is whose goroutine it was, and Incarnation which of its processes. Process is "" for a goroutine of none.
	Process     string `json:"process"`
	Incarnation int    `json:"incarnation"`
	// Stack is the goroutine's stack.
	Stack string `json:"stack"`
}

// ReadFatal reads what the runtime has written about the end of a program, as [runtime/debug.SetCrashOutput] keeps it.
// ok is false if that is nothing, or something else.
func ReadFatal(dump string) (f Fatal, ok bool) {
	const panics, fails = "panic: ", "fatal error: "
	for line := range strings.Lines(dump) {
		if !strings.HasPrefix(line, panics) && !strings.HasPrefix(line, fails) {
			continue
		}
		f.Text, _, _ = strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, panics)), " [recovered")
		break
	}
	if f.Text == "" {
		return Fatal{}, false
	}
	_, stack, _ := strings.Cut(dump, "\n\ngoroutine ")
	stack, _, _ = strings.Cut("goroutine "+strings.TrimSpace(stack), "\n\n")
	g := parseGoroutine(stack)
	f.Process, f.Incarnation, f.Stack = g.process, g.life, stack
	f.Where = innermost(strings.Split(stack, "\n"))
	return f, true
}
