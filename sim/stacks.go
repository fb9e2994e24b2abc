package sim

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// goroutine is an entry of a stack dump.
type goroutine struct {
	id      string
	state   string // what it waits for, without the bubble
	bubble  string // "synctest bubble 7", or nothing
	process string // "c0"; "" if it belongs to none, or the toolchain does not tell
	life    int    // which incarnation of the process
	text    string
}

// goroutines are those of one bubble. Bubbles of runs that have leaked
// goroutines or are frozen may exist too.
func goroutines(bubble string) []goroutine {
	defer showLabels()()
	var all []goroutine
	for part := range strings.SplitSeq(dump(), "\n\n") {
		if g := parseGoroutine(part); g.bubble == bubble && bubble != "" {
			all = append(all, g)
		}
	}
	return all
}

// showLabels makes stack dumps show the labels of goroutines until the function that it returns is called.
func showLabels() (end func()) {
	const name = "GODEBUG"
	before, set := os.LookupEnv(name)
	// without it the stacks lack the names of the processes
	_ = os.Setenv(name, strings.Trim(before+",tracebacklabels=1", ","))
	return func() {
		if _ = os.Unsetenv(name); set {
			_ = os.Setenv(name, before)
		}
	}
}

// dump is the stacks of all goroutines, up to 64 MiB.
func dump() string {
	for size := 1 << 20; ; size *= 4 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size || size >= 64<<20 {
			return strings.TrimSpace(string(buf[:n]))
		}
	}
}

// thisBubble is the name of the bubble of the calling goroutine.
func thisBubble() string {
	var buf [256]byte
	return parseGoroutine(string(buf[:runtime.Stack(buf[:], false)])).bubble
}

func stacks(all []goroutine) string {
	var b strings.Builder
	for _, g := range all {
		b.WriteString(g.text)
		b.WriteString("\n\n")
	}
	return b.String()
}

// parseGoroutine reads a header such as
// `goroutine 12 [sync.Mutex.Lock, 3 minutes, synctest bubble 2 labels:{"locksim": "c0/1"}]:`.
func parseGoroutine(text string) goroutine {
	g := goroutine{text: text}
	head, _, _ := strings.Cut(text, "\n")
	id, rest, ok := strings.Cut(strings.TrimPrefix(head, "goroutine "), " ")
	if !ok {
		return g
	}
	g.id = id
	rest, labels, _ := strings.Cut(strings.Trim(rest, "[]:"), " labels:{")
	if _, label, ok := strings.Cut(labels, strconv.Quote(labelKey)+": \""); ok {
		g.process, g.life = processIn(label)
	}
	for i, field := range strings.Split(rest, ", ") {
		if i == 0 {
			g.state = field
		}
		if strings.HasPrefix(field, "synctest bubble") {
			g.bubble = field
		}
	}
	return g
}

// callerOf is the first frame of a stack below the given functions.
func callerOf(g goroutine, skip ...string) string {
	for _, f := range frames(g) {
		skipped := strings.HasPrefix(f, "runtime.")
		for _, s := range skip {
			skipped = skipped || strings.HasPrefix(f, s)
		}
		if !skipped {
			return f
		}
	}
	return "(unknown)"
}

// frameOf is the innermost frame of a stack in a package; frames in which a
// goroutine was created do not count.
func frameOf(g goroutine, pkg string) string {
	for _, f := range frames(g) {
		if packageOf(f) == pkg {
			return f
		}
	}
	return ""
}

// frames are the function names of a stack, innermost first.
func frames(g goroutine) []string {
	var out []string
	for line := range strings.Lines(g.text) {
		position := strings.HasPrefix(line, "\t") // a path, which is relative in a program that is built with -trimpath
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "goroutine ") || position || line == "" {
			continue
		}
		if strings.HasPrefix(line, "created by ") {
			break
		}
		if i := strings.LastIndex(line, "("); i > 0 {
			line = line[:i]
		}
		out = append(out, line)
	}
	return out
}

// packageOf is the import path in a function's name.
func packageOf(function string) string {
	slash := strings.LastIndex(function, "/")
	dot := strings.Index(function[slash+1:], ".")
	if dot < 0 {
		return ""
	}
	return function[:slash+1+dot]
}
