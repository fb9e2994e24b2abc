package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
)

// exits CODE COMMAND ARGS… runs a command that must end with that exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGS…")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%s: %v", args[1], err)
		}
		code = exit.ExitCode()
	}
	if args[0] != strconv.Itoa(code) {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// json FILE CHECK… fails unless a file is one JSON document and the checks hold. A check
// is a path that must exist, PATH=VALUE, or PATH~REGEXP; ! before it negates it.
func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: json FILE CHECK…")
	}
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	dec.UseNumber()
	var doc any
	if err := dec.Decode(&doc); err != nil {
		ts.Fatalf("%s is not JSON: %v", args[0], err)
	}
	if err := dec.Decode(new(any)); err != io.EOF {
		ts.Fatalf("%s is more than one JSON document", args[0])
	}
	for _, check := range args[1:] {
		rest, not := strings.CutPrefix(check, "!")
		if holds(ts, doc, rest) == not {
			ts.Fatalf("%s: %s does not hold", args[0], check)
		}
	}
}

var checkForm = regexp.MustCompile(`^([^=~]+)([=~]?)(.*)$`)

func holds(ts *testscript.TestScript, doc any, check string) bool {
	parts := checkForm.FindStringSubmatch(check)
	if parts == nil {
		ts.Fatalf("%s is not a check", check)
	}
	value, ok := at(doc, strings.Split(parts[1], "."))
	switch {
	case !ok || parts[2] == "":
		return ok
	case parts[2] == "=":
		return value == parts[3]
	}
	return regexp.MustCompile(parts[3]).MatchString(value)
}

// at is the value at a path; a number in the path is an index.
func at(v any, path []string) (value string, ok bool) {
	if len(path) == 0 {
		if s, isText := v.(string); isText {
			return s, true
		}
		b, err := json.Marshal(v)
		return string(b), err == nil
	}
	switch v := v.(type) {
	case map[string]any:
		inner, ok := v[path[0]]
		if !ok {
			return "", false
		}
		return at(inner, path[1:])
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i >= len(v) {
			return "", false
		}
		return at(v[i], path[1:])
	}
	return "", false
}

// replace FILE REGEXP TEXT replaces the first match by a text.
func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace FILE REGEXP TEXT")
	}
	data := ts.ReadFile(args[0])
	found := regexp.MustCompile(args[1]).FindStringIndex(data)
	if found == nil {
		ts.Fatalf("%s has no %s", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(data[:found[0]]+args[2]+data[found[1]:]), 0o644))
}

// halve FILE truncates a file to its first half.
func halve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: halve FILE")
	}
	data := ts.ReadFile(args[0])
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(data[:len(data)/2]), 0o644))
}

// narrow FILE fails if a line is longer than 120 columns, or the story longer than 40
// lines.
func narrow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: narrow FILE")
	}
	text := ts.ReadFile(args[0])
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 120 {
			ts.Fatalf("a line of %d columns: %s", n, line)
		}
	}
	_, story, found := strings.Cut(text, "\nstory in mode ")
	if !found {
		ts.Fatalf("there is no story")
	}
	story, _, _ = strings.Cut(story, "\n\nnearest miss")
	story, _, _ = strings.Cut(story, "\n\nOne seed")
	story, _, _ = strings.Cut(story, "\n\nNo violation")
	story, _, _ = strings.Cut(story, "\n\nVACUOUS")
	if n := strings.Count(story, "\n") + 1; n > 40 {
		ts.Fatalf("the story has %d lines", n)
	}
}

// untimed FILE removes the timing from a document, which is its last field.
func untimed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: untimed FILE")
	}
	before, _, found := strings.Cut(ts.ReadFile(args[0]), "\n  \"timing\":")
	if !found {
		ts.Fatalf("%s has no timing", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(before), 0o644))
}
