package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mutant is one mistake, and the test that must detect it.
type mutant struct {
	name   string // GROUP/NAME, from the name of its patch
	breaks string // what it breaks, in a sentence

	pkg  string // the package of the test, such as ./lock
	test string // its name, with /SUBTEST where one part is enough

	patch string // the patch, relative to the root of the module
	file  string // the file with the mistake, relative to the root of the module
	hunks []hunk
}

// hunk is one place of a file that a mutant changes.
type hunk struct {
	line          int // the line of its head in the patch
	before, after []string
}

func (m mutant) group() string { return strings.Split(m.name, "/")[0] }

// pattern is the value of -run that matches only the mutant's test.
func (m mutant) pattern() string {
	return "^" + strings.ReplaceAll(m.test, "/", "$/^") + "$"
}

// patches is the folder of the mutants, relative to the root of the module.
const patches = "internal/mutants/patches"

// readMutants reads the patches whose names match wanted, in the order of their names.
// The error names all that are malformed.
func readMutants(root string, wanted *regexp.Regexp) ([]mutant, error) {
	files, err := filepath.Glob(filepath.Join(root, patches, "*", "*.patch"))
	if err != nil {
		return nil, err
	}
	var list []mutant
	var errs []error
	for _, file := range files {
		group, base := filepath.Base(filepath.Dir(file)), filepath.Base(file)
		name := group + "/" + strings.TrimSuffix(base, ".patch")
		if !wanted.MatchString(name) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		m := mutant{name: name, patch: patches + "/" + group + "/" + base}
		if err := m.parse(string(text)); err != nil {
			errs = append(errs, err)
		}
		list = append(list, m)
	}
	return list, errors.Join(errs...)
}

var (
	testLine = regexp.MustCompile(`^Test: (\./\S+|\.) (\S+)$`)
	hunkLine = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)
)

// parse reads a patch.
func (m *mutant) parse(text string) error {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < 6 {
		return m.errorf(len(lines), "the patch is too short: want a sentence, a line for the test, an empty line and a unified diff")
	}
	m.breaks = lines[0]
	if m.breaks == "" || strings.Contains(m.breaks, "|") {
		return m.errorf(1, "want a sentence about what the mutant breaks, for a cell of a table")
	}
	test := testLine.FindStringSubmatch(lines[1])
	if test == nil || lines[2] != "" {
		return m.errorf(2, `want "Test: ./PACKAGE TEST" and an empty line`)
	}
	m.pkg, m.test = test[1], test[2]
	m.file = strings.TrimPrefix(lines[3], "--- a/")
	if lines[3] != "--- a/"+m.file || lines[4] != "+++ b/"+m.file {
		return m.errorf(4, `want "--- a/FILE" and "+++ b/FILE", with the same FILE`)
	}
	for n := 5; n < len(lines); {
		head := hunkLine.FindStringSubmatch(lines[n])
		if head == nil {
			return m.errorf(n+1, "want a hunk, from @@ on")
		}
		h := hunk{line: n + 1}
		for n++; n < len(lines) && !strings.HasPrefix(lines[n], "@@"); n++ {
			switch line := lines[n]; {
			case strings.HasPrefix(line, " "):
				h.before, h.after = append(h.before, line[1:]), append(h.after, line[1:])
			case strings.HasPrefix(line, "-"):
				h.before = append(h.before, line[1:])
			case strings.HasPrefix(line, "+"):
				h.after = append(h.after, line[1:])
			default:
				return m.errorf(n+1, "want a line that begins with a space, - or +")
			}
		}
		if len(h.before) != number(head[1]) || len(h.after) != number(head[2]) {
			return m.errorf(h.line, "the hunk has %d old lines and %d new ones, but other numbers after @@", len(h.before), len(h.after))
		}
		if slices.Equal(h.before, h.after) {
			return m.errorf(h.line, "the hunk changes nothing")
		}
		m.hunks = append(m.hunks, h)
	}
	return nil
}

// number is a number of lines in the head of a hunk, where 1 may be left out.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 1
	}
	return n
}

// mutated is the text of the file with the mistake. The error names the line of a patch
// that does not fit, and the remedy.
func (m mutant) mutated(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.file)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", m.errorf(4, "there is no %s: if it was moved, write its new path into the lines --- and +++", m.file)
	}
	if err != nil {
		return "", err
	}
	lines := strings.Split(string(text), "\n")
	var out []string
	done := 0 // how many lines out covers
	for _, h := range m.hunks {
		at, err := m.find(h, lines)
		if err != nil {
			return "", err
		}
		if at < done {
			return "", m.errorf(h.line, "the hunk must be before the one above it")
		}
		out = slices.Concat(out, lines[done:at], h.after)
		done = at + len(h.before)
	}
	return strings.Join(append(out, lines[done:]...), "\n"), nil
}

// find is the index in a file where the lines of a hunk are.
func (m mutant) find(h hunk, lines []string) (int, error) {
	var matches []int
	closest, most := 0, 0 // the index where most of the lines are, and their number
	for i := range lines {
		equal := 0
		for k, line := range lines[i:min(i+len(h.before), len(lines))] {
			if line == h.before[k] {
				equal++
			}
		}
		if equal == len(h.before) {
			matches = append(matches, i)
		}
		if equal > most {
			closest, most = i, equal
		}
	}
	switch {
	case len(matches) == 1:
		return matches[0], nil
	case len(matches) > 1:
		return 0, m.errorf(h.line, "the hunk fits %s:%d and %s:%d: give it more lines of context, as git diff -U2 does",
			m.file, matches[0]+1, m.file, matches[1]+1)
	case most == 0:
		return 0, m.errorf(h.line, "the hunk does not fit %s, which has none of its lines: %s", m.file, remedy)
	}
	k := 0 // the first line that differs
	have := slices.Concat(lines[closest:], make([]string, len(h.before)))
	for k < len(h.before)-1 && have[k] == h.before[k] {
		k++
	}
	return 0, m.errorf(h.line, "the hunk does not fit %s:%d: %s\nthe patch has\n%s\nthe file has\n%s",
		m.file, closest+k+1, remedy, h.before[k], have[k])
}

// remedy is the advice for a patch that does not fit.
const remedy = "make the change by hand and use the output of git diff -U1"

// errorf is an error in a line of the patch.
func (m mutant) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", m.patch, line, fmt.Sprintf(format, args...))
}
