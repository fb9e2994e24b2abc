package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/scenarios"
	"locksim/scenarios/redislocks"
)

var update = flag.Bool("update", false, "write the output of the commands, and the text of the files, into the pages")

const quickstart = "../../examples/quickstart"

// The comments above the blocks of the pages:
//
//	prints            a console block with the exact output of its commands
//	prints, about     the same for the tests of the quick start, but for their figures and times
//	prints, fails     the same as prints, for commands that fail; also after about
//	from FILE         Go or YAML from a file of the repository, in this order; a line with an
//	                  ellipsis leaves text out
//	folders           the picture of the folders
//
// A table has a comment too where its cells are those of a page that a command writes:
//
//	from docs/reference/compare.md and docs/reference/compare-leases.md
//	signs of reports/LIBRARIES.md
//
// The list below the comment "choose" is the same wherever it is.
//
// A console block without a comment has only commands.

// A block with the comment "prints" has the exact output of its commands.
func TestDocsShowWhatIsPrinted(t *testing.T) {
	beside(t)
	for _, b := range blocks(t, "console") {
		if marker, _ := b.fails(); marker != "prints" {
			continue
		}
		first, _, _ := strings.Cut(b.text, "\n")
		t.Run(b.page.name+"/"+strings.TrimPrefix(first, "$ "), func(t *testing.T) {
			if testing.Short() && b.page.name != "README.md" {
				t.Skip("it runs many commands")
			}
			beside(t)
			b.shows(t, b.printed(t))
		})
	}
}

// beside lets a test run in parallel with others, unless they write the pages.
func beside(t *testing.T) {
	if !*update {
		t.Parallel()
	}
}

// printed is the block with the output of its commands. They run in the root of the
// repository, where go run finds the command, or in an empty folder.
func (b block) printed(t *testing.T) string {
	t.Helper()
	dir := root
	if !strings.Contains(b.text, "$ go run ./cmd/locksim ") && !strings.Contains(b.text, "$ go -C examples/") {
		dir = t.TempDir()
	}
	var out strings.Builder
	for line := range strings.Lines(b.text) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			out.WriteString(line + b.runs(t, dir, command))
		}
	}
	return out.String()
}

// fails is the comment of a block without the word that says that its command fails, and
// whether it has that word.
func (b block) fails() (marker string, fails bool) { return strings.CutSuffix(b.marker, ", fails") }

// runs is the output of a command of the block. It ends the test if the command fails, unless
// the comment of the block says so, and if it does not fail then, although it prints something.
func (b block) runs(t *testing.T, dir, command string) string {
	t.Helper()
	out, ok := shell(t, dir, command)
	if _, fails := b.fails(); ok == (fails && out != "") {
		t.Fatalf("%s: %s: fails is %t, and the comment of the block is %q; it "+
			"printed:\n%s", b.page.name, command, !ok, b.marker, out)
	}
	return out
}

// notBuilt is in what Go prints of a program or a test that it cannot compile.
var notBuilt = regexp.MustCompile(`(?m)^# locksim/|\[(?:build|setup) failed\]`)

// shell is the output of a command: its standard output or, if that is empty, its standard
// error; ok says that the exit code is 0 and that not all output is on standard error, since a
// pipe hides the exit code of all but its last command. A command that Go cannot compile ends the test, so that
// the errors of the compiler never come into a page.
func shell(t *testing.T, dir, command string) (out string, ok bool) {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "NO_COLOR=1", "GOFLAGS=", "GOWORK=off")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if both := stdout.String() + stderr.String(); notBuilt.MatchString(both) {
		t.Fatalf("%s: this does not compile:\n%s", command, both)
	}
	if stdout.Len() > 0 {
		return stdout.String(), err == nil
	}
	return stderr.String(), err == nil && stderr.Len() == 0
}

// shows compares a block with the text that it must have, or writes it with -update.
func (b block) shows(t *testing.T, want string) {
	t.Helper()
	if *update {
		file := filepath.Join(root, b.page.name)
		text := strings.Replace(readFile(t, file), "```"+b.kind+"\n"+b.text+"```", "```"+b.kind+"\n"+want+"```", 1)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(want, b.text); d != "" {
		t.Errorf("%s is out of date: run go test ./cmd/locksim -run Docs -update (-want +got):\n%s", b.page.name, d)
	}
}

// The commands of the other console blocks exist, with their flags, scenarios and locks,
// and these blocks have no output, since no test would compare it.
func TestDocsCommands(t *testing.T) {
	known := named(t)
	for _, b := range blocks(t, "console") {
		if b.marker != "" {
			continue
		}
		for line := range strings.Lines(b.text) {
			command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
			if !ok {
				t.Errorf("%s: this is not a command, and its block has no comment: %s", b.page.name, line)
				continue
			}
			if err := known.check(command); err != nil {
				t.Errorf("%s: %s\n%v", b.page.name, command, err)
			}
		}
	}
}

// names are the scenarios and locks that commands may name.
type names struct{ scenarios, locks []string }

func named(t *testing.T) names {
	t.Helper()
	out, err := exec.Command("locksim", "list", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	type list []struct{ Name string }
	var doc struct{ Scenarios, Locks, Specimens list }
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	var n names
	for _, s := range doc.Scenarios {
		n.scenarios = append(n.scenarios, s.Name)
	}
	for _, l := range slices.Concat(doc.Locks, doc.Specimens) {
		n.locks = append(n.locks, l.Name)
	}
	return n
}

var (
	ownCommand = regexp.MustCompile(`^(?:locksim|go run \./cmd/locksim)((?: |$)[^|#;>&]*)`)
	goCommand  = regexp.MustCompile(`^go run \. `)
	makeTarget = regexp.MustCompile(`^make ([a-z-]+)`)
	lockFlag   = regexp.MustCompile(`--lock ([\w/,-]+)`)
	playing    = regexp.MustCompile(`^ ?(?:run|sweep) ([a-z][\w-]*)(?: |$)`)
)

// check returns an error for a wrong command. It accepts commands of other programs, and
// does not check the locks and scenarios of a user's own command.
func (n names) check(command string) error {
	if m := makeTarget.FindStringSubmatch(command); m != nil {
		text, err := os.ReadFile(filepath.Join(root, "Makefile"))
		if err == nil && !bytes.Contains(text, []byte("\n"+m[1]+":")) {
			err = errors.New("the Makefile has no such target")
		}
		return err
	}
	m := ownCommand.FindStringSubmatch(command)
	if m == nil {
		if args, own := strings.CutPrefix(command, goCommand.FindString(command)); own && args != command {
			return helps(args)
		}
		return nil
	}
	if s := playing.FindStringSubmatch(m[1]); s != nil && !slices.Contains(n.scenarios, s[1]) {
		return fmt.Errorf("there is no scenario %s", s[1])
	}
	if l := lockFlag.FindStringSubmatch(m[1]); l != nil && l[1] != "all" {
		for name := range strings.SplitSeq(l[1], ",") {
			if !slices.Contains(n.locks, name) {
				return fmt.Errorf("there is no lock %s", name)
			}
		}
	}
	return helps(m[1])
}

// helps adds --help to the arguments of a command, which then checks its flags and exits.
func helps(args string) error {
	args, _, _ = strings.Cut(args, " #")
	words := strings.Fields(strings.ReplaceAll(args, "'", ""))
	if len(words) > 0 && strings.HasPrefix(words[0], "-") {
		return nil // of locksim itself, which has --help alone
	}
	out, err := exec.Command("locksim", append(words, "--help")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	if len(words) > 0 && !strings.Contains(string(out), "locksim "+words[0]) {
		return fmt.Errorf("there is no command %s", words[0])
	}
	return nil
}

// Go in the pages, and YAML with a comment, is a part of a file that is compiled or
// tested.
func TestDocsQuoteFiles(t *testing.T) {
	for _, b := range slices.Concat(blocks(t, "go"), blocks(t, "yaml")) {
		name, quoted := strings.CutPrefix(b.marker, "from ")
		if !quoted {
			if b.kind == "go" {
				t.Errorf("%s: a Go block has no comment with its file:\n%s", b.page.name, b.text)
			}
			continue
		}
		file := readFile(t, filepath.Join(root, name))
		if *update && strings.Contains(b.text, "package ") && !ellipsis.MatchString(b.text) {
			b.shows(t, file)
			continue
		}
		for _, part := range ellipsis.Split(b.text, -1) {
			rest, ok := after(file, part)
			if !ok {
				t.Errorf("%s: this is not in %s, or not in this order:\n%s", b.page.name, name, part)
				break
			}
			file = rest
		}
	}
}

// verdicts are the words of a README for the signs of the comparison.
type verdicts struct{ right, with, notPromised, wrong, notMeasured string }

// of says a cell of the comparison in words; a cell that is no sign stays as it is.
func (v verdicts) of(cell string) string {
	sign, ok := strings.CutPrefix(cell, "`")
	if !ok {
		return cell
	}
	switch sign = strings.TrimRight(sign, "`*!"); {
	case sign == "(?)":
		return "–"
	case strings.HasPrefix(sign, "("):
		return v.notPromised
	case sign == "ok":
		return v.right
	case sign == "no":
		return v.wrong
	case sign == "?":
		return v.notMeasured
	}
	return v.with + "`" + sign + "`"
}

// The table for choosing a lock says in words what the comparison has measured.
func TestTheTableForChoosingIsThatOfTheComparison(t *testing.T) {
	cells := map[string]map[string]string{} // by lock and column
	classes := map[string]bool{}            // of faults, of which a page leaves out those that it has no run of
	put := func(lock, column, cell string) {
		if cells[lock] == nil {
			cells[lock] = map[string]string{}
		}
		cells[lock][column] = cell
	}
	for _, page := range []string{"docs/reference/compare.md", "docs/reference/compare-leases.md"} {
		for _, rows := range tables(readFile(t, filepath.Join(root, page))) {
			for _, row := range rows[1:] {
				for i, cell := range row[1:] {
					switch rows[0][0] {
					case "lock":
						put(row[0], rows[0][i+1], cell)
					case "faults":
						put(strings.TrimSuffix(rows[0][i+1], " °"), row[0], cell)
						classes[row[0]] = true
					}
				}
			}
		}
	}
	const marker = "<!-- from docs/reference/compare.md and docs/reference/compare-leases.md -->\n"
	const name = "docs/reference/locks.md"
	words := verdicts{"right", "right with ", "not promised", "wrong", "not measured"}
	_, text, found := strings.Cut(readFile(t, filepath.Join(root, name)), marker)
	if !found {
		t.Fatalf("%s has no %s", name, marker)
	}
	rows := tables(text)[0]
	if len(rows) < 10 {
		t.Errorf("%s: the table has %d rows", name, len(rows))
	}
	for _, row := range rows[1:] {
		for i, column := range rows[0][1:] {
			want, known := cells[row[0]][column]
			if want = words.of(want); !known && classes[column] && cells[row[0]] != nil {
				want = words.notMeasured
			}
			if row[i+1] != want {
				t.Errorf("%s: lock %s, column %s: %q, and the comparison has %q", name, row[0], column, row[i+1], want)
			}
		}
	}
}

// The README and the page of the locks choose alike.
func TestTheReadmeChoosesAsTheLocksDo(t *testing.T) {
	list := func(name string) string {
		_, text, found := strings.Cut(readFile(t, filepath.Join(root, name)), "<!-- choose -->\n")
		list, _, ended := strings.Cut(text, "\n\n")
		if !found || !ended || strings.Count(list, "\n- ") < 4 {
			t.Fatalf("%s has no list below <!-- choose -->", name)
		}
		return list
	}
	if d := cmp.Diff(list("docs/reference/locks.md"), list("README.md")); d != "" {
		t.Errorf("-docs/reference/locks.md +README.md:\n%s", d)
	}
}

// signOf is a cell of the table of verdicts as one sign: ✓, ✓† where a finding is known, ✗, ? or –, "few" where too few
// runs count for a sign, and · where nothing is promised.
func signOf(cell string) string {
	sign, rest, _ := strings.Cut(cell, " ")
	switch number, after, _ := strings.Cut(rest, " "); {
	case sign == "✓" && number != "" && strings.HasPrefix(after, "†"):
		return "✓†"
	case slices.Contains([]string{"✓", "✗", "?", "–"}, sign):
		return sign
	}
	if _, err := strconv.Atoi(sign); err == nil {
		return "few"
	}
	return "·"
}

// The tables of other people's locks in the READMEs have the signs of the table of verdicts.
func TestReadmeTablesOfLibraries(t *testing.T) {
	link := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	cells := map[string]map[string]string{} // by lock and column
	for _, rows := range tables(readFile(t, filepath.Join(root, "reports/LIBRARIES.md"))) {
		for _, row := range rows[1:] {
			if rows[0][0] != "lock" {
				continue
			}
			name := strings.TrimSuffix(link.ReplaceAllString(row[0], "$1"), " °")
			cells[name] = map[string]string{}
			for i, cell := range row {
				cells[name][rows[0][i]] = signOf(cell)
			}
		}
	}
	for _, name := range []string{"README.md", "README.zh.md"} {
		_, text, found := strings.Cut(readFile(t, filepath.Join(root, name)), "<!-- signs of reports/LIBRARIES.md -->\n")
		if !found {
			t.Fatalf("%s has no table of signs of reports/LIBRARIES.md", name)
		}
		rows := tables(text)[0]
		if len(rows) < 11 || rows[0][1] != "none" {
			t.Errorf("%s: the table has %d rows, and begins with the column %s", name, len(rows), rows[0][1])
		}
		for _, row := range rows[1:] {
			lock := link.ReplaceAllString(row[0], "$1")
			for i, column := range rows[0][1:] {
				if want, ok := cells[lock][column]; !ok || row[i+1] != want {
					t.Errorf("%s: lock %s, column %s: %q, and the table of verdicts has %q", name, lock, column, row[i+1], want)
				}
			}
		}
	}
}

// The README in Chinese has every command and every output of the English one, in its order.
func TestTheReadmesAreAlike(t *testing.T) {
	fences := func(name string) []string {
		var out []string
		for _, b := range (page{name, readFile(t, filepath.Join(root, name))}).blocks() {
			out = append(out, b.marker+"\n"+b.kind+"\n"+b.text)
		}
		return out
	}
	if d := cmp.Diff(fences("README.md"), fences("README.zh.md")); d != "" {
		t.Errorf("blocks (-README.md +README.zh.md):\n%s", d)
	}
	const most = 160
	for name, link := range map[string]string{"README.md": "](README.zh.md)", "README.zh.md": "](README.md)"} {
		text := readFile(t, filepath.Join(root, name))
		first, _, _ := strings.Cut(text, "\n")
		if lines := strings.Count(text, "\n"); lines > most || !strings.Contains(first, link) {
			t.Errorf("%s has %d lines, at most %d are allowed; its first line is %q", name, lines, most, first)
		}
	}
}

// tables are the tables of a page: rows of cells, the first of which is the head.
func tables(text string) [][][]string {
	var all [][][]string
	var rows [][]string
	for line := range strings.Lines(text + "\n") {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			if len(rows) > 0 {
				all, rows = append(all, rows), nil
			}
			continue
		}
		if strings.HasPrefix(line, "|--") {
			continue
		}
		var row []string
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			row = append(row, strings.TrimSpace(cell))
		}
		rows = append(rows, row)
	}
	return all
}

var ellipsis = regexp.MustCompile(`(?m)^\s*(?://|#) …\n`)

// after is the text of a file after a part of it; the part may be indented less.
func after(file, part string) (rest string, ok bool) {
	for range 4 {
		if _, rest, ok = strings.Cut(file, part); ok {
			return rest, true
		}
		part = regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(part, "\t$1")
	}
	return "", false
}

// A scenario in the pages can be played, and its faults strike.
func TestDocsScenarios(t *testing.T) {
	for _, b := range blocks(t, "yaml") {
		if !strings.HasPrefix(b.text, "name:") {
			continue
		}
		sc, err := scenarios.Parse(b.page.name, []byte(b.text))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, name := range sc.LockNames() {
			l, err := redislocks.FindSubject(name, sc.Store, append(locks(), onTrial()...))
			if err != nil {
				t.Errorf("%s: %v", b.page.name, err)
				continue
			}
			o, err := scenarios.Run(sc, l, scenarios.RunOptions{Seed: 1})
			if err != nil {
				t.Errorf("%s: %v", b.page.name, err)
				continue
			}
			if never := o.NeverFired(); len(never) > 0 {
				t.Errorf("%s: faults %v of %s never struck lock %s", b.page.name, never, sc.Name, name)
			}
			for _, m := range o.Mismatches() {
				t.Errorf("%s: %s with %s: %s", b.page.name, sc.Name, name, m)
			}
		}
	}
}

// The pages promise that the adapter of the quick start has fewer than 20 lines.
func TestTheGlueIsShort(t *testing.T) {
	_, body, _ := strings.Cut(readFile(t, filepath.Join(quickstart, "adapter", "adapter.go")), "\n)\n")
	lines := 0
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			lines++
		}
	}
	if lines >= 20 {
		t.Errorf("the glue of the quick start has %d lines, want fewer than 20", lines)
	}
}

// The adapter of the quick start compiles nothing of what plays it: no driver, no search, no server.
func TestTheGlueCompilesNoDriver(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", ".")
	cmd.Dir = filepath.Join(quickstart, "adapter")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "locksim/scenarios/subject") {
		t.Errorf("it has no package subject: %v", deps)
	}
	for _, heavy := range []string{"locksim/scenarios", "locksim/scenarios/play", "locksim/scenarios/search",
		"locksim/sim/redis", "locksim/sim/store", "github.com/alicebob/miniredis/v2", "pgregory.net/rapid"} {
		if slices.Contains(deps, heavy) {
			t.Errorf("it compiles %s", heavy)
		}
	}
}

// The tests of the quick start print what the pages show. They run in a copy without
// stored failures of an earlier run, as in a user's module, with require and replace.
func TestDocsShowTheQuickStart(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a module")
	}
	beside(t)
	dir := t.TempDir()
	copySources(t, quickstart, dir, "*.go", "go.*")
	copySources(t, filepath.Join(quickstart, "adapter"), filepath.Join(dir, "adapter"), "*.go")
	from, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	if out, _ := shell(t, dir, "go mod edit -replace=locksim="+from); out != "" {
		t.Fatal(out)
	}
	outputs := map[string]string{} // of each command, which several pages show
	for _, b := range blocks(t, "console") {
		if marker, _ := b.fails(); marker != "prints, about" {
			continue
		}
		command, output, _ := strings.Cut(b.text, "\n")
		fewer := strings.TrimPrefix(command, "$ ")
		if strings.Contains(fewer, "TestMutex") {
			fewer += " -rapid.checks=5" // instead of a hundred: the figures are not compared
		}
		printed, known := outputs[fewer]
		if !known {
			printed = b.runs(t, dir, fewer)
			outputs[fewer] = printed
		}
		switch want := about(printed); {
		case want == about(output):
		case *update:
			b.shows(t, command+"\n"+timeless(printed))
		default:
			t.Errorf("%s: %s\n(-is +%[1]s)\n%[3]s", b.page.name, command, cmp.Diff(want, about(output)))
		}
	}
	if len(outputs) != 2 {
		t.Errorf("the pages show %d tests of the quick start, want the one that passes and the one that fails", len(outputs))
	}
}

// copySources copies the files of a folder, without the failures that its tests have stored.
func copySources(t *testing.T, from, to string, patterns ...string) {
	t.Helper()
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(from, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no %s: %v", from, pattern, err)
		}
		for _, file := range files {
			if err := os.WriteFile(filepath.Join(to, filepath.Base(file)), []byte(readFile(t, file)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

var (
	wallTime = regexp.MustCompile(`[(\t]\d+\.\d\d+s\b`)
	passing  = regexp.MustCompile(
		`(?m)^(\s*mutex_test\.go:\d+: mutex: no violation in ).*( of them really tested the lock \(.*\); with 95 % confidence fewer than ).*( of such runs break it \(faults drawn: ).*\)$`)
	unseen = regexp.MustCompile(
		`(?m)^(\s*not seen yet: about ).*( % of further runs .* \().*( courses were seen in one run only\); more runs would show ).*$`)
	calls = regexp.MustCompile(
		`(?m)^(\s*calls: ).*(?:\n\s*(?:errors: +)?(?:Acquire|TryAcquire|Extend|Release) \d+: .*)*$`)
	nearest = regexp.MustCompile(`(?m)^(\s*nearest miss: ).*$`)
	late    = regexp.MustCompile(`(?m)^\s*losses of the lock were noticed at most .* late\n`) // if some draw lost it
	load    = regexp.MustCompile(`(?m)^(\s*open connections of a client at the end of a run: ).*$`)
	leftOut = regexp.MustCompile(`(?m)^\s*left out for lack of time .*\n`) // on a busy machine
	byClass = regexp.MustCompile(
		`(?m)^(\s*runs that tested the lock by class of fault, and how many of such runs may break it \(95 % confidence\): ).*$`)
)

// timeless removes the times from the output of go test, in the lines without an indent,
// and white space at the ends of lines.
func timeless(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, " ") {
			line = wallTime.ReplaceAllStringFunc(line, func(took string) string { return took[:1] + "…s" })
		}
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// about is an output without times, and without the figures of a test that passes, which
// differ each time.
func about(out string) string {
	out = calls.ReplaceAllString(out, "${1}…")
	out = byClass.ReplaceAllString(out, "${1}…")
	out = load.ReplaceAllString(out, "${1}…")
	out = leftOut.ReplaceAllString(out, "")
	out = nearest.ReplaceAllString(out, "${1}…")
	out = late.ReplaceAllString(out, "")
	out = unseen.ReplaceAllString(out, "${1}…${2}…${3}…")
	return passing.ReplaceAllString(timeless(out), "${1}…${2}…${3}…)")
}
