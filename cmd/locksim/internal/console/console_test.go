package console

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"locksim/reports"
)

// A report has colours on a terminal, unless the environment disables them.
func TestColour(t *testing.T) {
	for _, tt := range []struct {
		env      map[string]string
		terminal bool
		want     reports.Colour
	}{
		{nil, true, reports.ANSI},
		{nil, false, reports.Plain},
		{map[string]string{"NO_COLOR": "1"}, true, reports.Plain},
		{map[string]string{"NO_COLOR": ""}, true, reports.ANSI},
		{map[string]string{"TERM": "dumb"}, true, reports.Plain},
	} {
		s := &Console{Getenv: func(name string) string { return tt.env[name] }}
		if got := s.Colour(func(io.Writer) bool { return tt.terminal }); got != tt.want {
			t.Errorf("environment %v, terminal %v: got %v, want %v", tt.env, tt.terminal, got, tt.want)
		}
	}
	if IsTerminal(new(bytes.Buffer)) {
		t.Error("a buffer passes for a terminal")
	}
}

func TestQuote(t *testing.T) {
	for arg, want := range map[string]string{
		"gc-pause": "gc-pause", "./a/b.yaml": "./a/b.yaml", "a b": "'a b'", "it's": `'it'\''s'`, "": "''", "$x": "'$x'",
	} {
		if got := Quote(arg); got != want {
			t.Errorf("quote(%q) = %s, want %s", arg, got, want)
		}
	}
}

// A program is called as the user has called it. One that go run has built cannot be started
// by its path.
func TestCalledAs(t *testing.T) {
	hash := strings.Repeat("6e", 32)
	const own, module = "locksim/cmd/locksim", "locksim"
	for _, tt := range []struct{ arg, pkg, module, here, want string }{
		{"/tmp/go-build123/b001/exe/locksim", own, module, module, inClone},
		{"/home/me/.cache/go-build/6e/" + hash + "-d/locksim", own, module, module, inClone},
		{"/elsewhere/" + hash[:2] + "/" + hash + "-d/locksim", own, module, module, inClone},
		{"/tmp/go-build123/b001/exe/locksim", own, module, "", "go run locksim/cmd/locksim"},
		{"/tmp/go-build123/b001/exe/held", "example.org/shop/cmd/held", "example.org/shop", "example.org/shop",
			"go run ./cmd/held"},
		{"/tmp/go-build123/b001/exe/held", "example.org/shop/cmd/held", "example.org/shop", "example.org/other",
			"go run example.org/shop/cmd/held"},
		{"/tmp/go-build123/b001/exe/shop", "example.org/shop", "example.org/shop", "example.org/shop", "go run ."},
		{"/tmp/go-build123/b001/exe/main", "command-line-arguments", "", "", ""},
		{"locksim", own, module, module, ""},
		{"./held", "example.org/shop/cmd/held", "example.org/shop", "example.org/shop", "./held"},
		{"/usr/local/bin/locksim", own, module, "", "/usr/local/bin/locksim"},
		{"/home/me/my build/held", "example.org/shop/cmd/held", "example.org/shop", "", "'/home/me/my build/held'"},
		{"/home/me/go-build-scripts/6e/6ebb-d/locksim", own, module, "", "/home/me/go-build-scripts/6e/6ebb-d/locksim"},
	} {
		if got := calledAs(tt.arg, tt.pkg, tt.module, tt.here); got != tt.want {
			t.Errorf("%s of %s, in module %q: %q, want %q", tt.arg, tt.pkg, tt.here, got, tt.want)
		}
	}
}

// On Windows paths have another separator, and programs an ending.
func TestCalledOnWindows(t *testing.T) {
	const own, module = "locksim/cmd/locksim", "locksim"
	for _, tt := range []struct{ arg, here, program, want string }{
		{`C:\Users\me\AppData\Local\Temp\go-build123\b001\exe\locksim.exe`, module, "locksim", inClone},
		{`C:\Users\me\AppData\Local\go-build\6e\` + strings.Repeat("6e", 32) + `-d\locksim.exe`, module, "locksim", inClone},
		{`.\held.exe`, module, "held", "./held.exe"},
		{`C:\my build\held.exe`, "", "held", "'C:/my build/held.exe'"},
		{`locksim.exe`, "", "locksim", ""},
	} {
		arg := slashed(tt.arg, '\\')
		if got := programName(arg); got != tt.program {
			t.Errorf("%s is called %q, want %q", tt.arg, got, tt.program)
		}
		if got := calledAs(arg, own, module, tt.here); got != tt.want {
			t.Errorf("%s in module %q: %q, want %q", tt.arg, tt.here, got, tt.want)
		}
	}
}

// On a terminal, progress rewrites one line and removes it at the end; elsewhere it
// writes a line each time. It writes nothing after clear.
func TestProgress(t *testing.T) {
	for _, tt := range []struct {
		terminal bool
		want     string
	}{{false, "mysim: 1 of 3 runs\nmysim: 2 of 3 runs\n"}, {true, "\r\x1b[K1 of 3 runs\r\x1b[K2 of 3 runs\r\x1b[K"}} {
		var screen bytes.Buffer
		p := &Progress{w: &screen, program: "mysim", terminal: tt.terminal}
		p.write()
		p.Show("1 of 3 runs")
		p.write()
		p.Show("2 of 3 runs")
		p.write()
		p.Clear()
		p.write()
		p.Clear()
		if screen.String() != tt.want {
			t.Errorf("%q, want %q", screen.String(), tt.want)
		}
	}
	none := NewProgress(&Console{}, true)
	none.Show("not written with --quiet")
	none.End()
	some := NewProgress(&Console{Err: &bytes.Buffer{}}, false)
	some.Show("not written by a command that ends within the first interval")
	some.End()
	if said := some.w.(*bytes.Buffer).String(); said != "" {
		t.Errorf("%q", said)
	}
}

// A program that another one has started is called as that says.
func TestCalledByAnother(t *testing.T) {
	t.Setenv(CommandVariable, "go run ./cmd redsync")
	c := OfProcess()
	if got := c.Command(); got != "go run ./cmd redsync" {
		t.Errorf("the command is %q", got)
	}
	if got := c.PublicName(); got != "go run ./cmd redsync" {
		t.Errorf("the public command is %q", got)
	}
}
