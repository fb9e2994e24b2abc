// Testall runs the tests of the modules of the checkout, and reports at the end which
// were skipped because a real component is missing, which go test does not report.
//
//	go -C internal/dev run ./testall [-only FOLDERS | -without FOLDERS] [FLAGS OF GO TEST]
//
// -only names the modules that are tested, -without those that are not, separated by spaces; "." is the main one. It
// prints what go test prints. The exit code is 0 when all tests pass, 1 when one fails, and 2 when the modules cannot
// be listed.
package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"locksim/internal/dev/checkout"
)

func main() {
	root, err := checkout.Root()
	if err == nil {
		err = os.Chdir(root)
	}
	var modules []string
	flags := os.Args[1:]
	if err == nil {
		modules, err = modulesUnder(".")
	}
	if err == nil {
		modules, flags, err = chosen(modules, flags)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testall:", err)
		os.Exit(2)
	}
	if !testModules(os.Stdout, modules, flags) {
		os.Exit(1)
	}
}

// testModules runs the tests of the modules, one after another. The main one, if it is among them, comes first, and the
// others are tested meanwhile.
func testModules(w io.Writer, modules, flags []string) (ok bool) {
	s := newSummary(w)
	next, done := make(chan string), make(chan bool)
	lanes := 1
	if modules[0] == "." {
		lanes = 2
	}
	for range lanes {
		go func() {
			ok := true
			for dir := range next {
				s.begin(dir)
				ok = s.test(dir, flags) && ok
			}
			done <- ok
		}()
	}
	for _, dir := range modules {
		next <- dir
	}
	close(next)
	ok = true
	for range lanes {
		ok = <-done && ok
	}
	s.print()
	return ok
}

// modulesUnder are the folders with a go.mod, the main one first, without those in test
// data and in hidden folders.
func modulesUnder(root string) ([]string, error) {
	var dirs []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case !d.IsDir() && d.Name() == "go.mod":
			dirs = append(dirs, filepath.Dir(path))
		}
		return nil
	})
	slices.Sort(dirs)
	return dirs, err
}

// chosen are the modules that the first flag selects, and the other flags. A folder without a module is an error: it
// may have been renamed.
func chosen(modules, flags []string) (tested, rest []string, err error) {
	if len(flags) == 0 || flags[0] != "-only" && flags[0] != "-without" {
		return modules, flags, nil
	}
	if len(flags) == 1 {
		return nil, nil, fmt.Errorf("%s: name folders, as in %[1]s 'examples/upstream'", flags[0])
	}
	var named []string
	for _, dir := range strings.Fields(flags[1]) {
		if !slices.Contains(modules, filepath.Clean(dir)) {
			return nil, nil, fmt.Errorf("%s %s: there is no module", flags[0], dir)
		}
		named = append(named, filepath.Clean(dir))
	}
	for _, dir := range modules {
		if slices.Contains(named, dir) == (flags[0] == "-only") {
			tested = append(tested, dir)
		}
	}
	if len(tested) == 0 {
		return nil, nil, fmt.Errorf("%s %s: no module is left", flags[0], flags[1])
	}
	return tested, flags[2:], nil
}

// test runs the tests of one module. go test starts with the packages that are named
// first. That is the one that takes longest, so that it does not run alone at the end
// while the other cores are idle. One package more than there are cores is tested at a time: some tests wait. Each has
// one processor: the goroutines of a world take turns, and a run on two costs half as much again. Tests of several set
// them.
func (s *summary) test(dir string, flags []string) (ok bool) {
	args := append([]string{"test", "-json", fmt.Sprintf("-p=%d", runtime.NumCPU()+1), "-cpu=1"}, flags...)
	const longest = "./scenarios/play"
	if _, err := os.Stat(filepath.Join(dir, longest)); err == nil {
		args = append(args, longest)
	}
	cmd := exec.Command("go", append(args, "./...")...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testall:", err)
		return false
	}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "testall:", err)
		return false
	}
	readErr := s.read(out)
	if err := cmd.Wait(); err != nil {
		return false
	}
	if readErr != nil {
		fmt.Fprintln(os.Stderr, "testall: the output of go test:", readErr)
	}
	return readErr == nil
}
