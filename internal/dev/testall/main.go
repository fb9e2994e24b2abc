// Testall runs the tests of every module of the checkout, and reports at the end which
// were skipped because a real component is missing, which go test does not report.
//
//	go -C internal/dev run ./testall [-without FOLDERS] [FLAGS OF GO TEST]
//
// -without names modules that are not tested, separated by spaces. It prints what go test
// prints. The exit code is 0 when all tests pass, 1 when one fails, and 2 when the modules
// cannot be listed.
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
	if err == nil && len(flags) > 0 && flags[0] == "-without" {
		if len(flags) == 1 {
			fmt.Fprintln(os.Stderr, "testall: -without: name folders, as in -without 'examples/upstream'")
			os.Exit(2)
		}
		modules, err = without(modules, strings.Fields(flags[1]))
		flags = flags[2:]
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testall:", err)
		os.Exit(2)
	}
	if !testModules(os.Stdout, modules, flags) {
		os.Exit(1)
	}
}

// testModules runs the tests of the main module, which comes first, and at the same time
// those of the others, one after another: these often wait for a browser or a process.
func testModules(w io.Writer, modules, flags []string) (ok bool) {
	s := newSummary(w)
	done := make(chan bool)
	go func() { done <- s.testAll(modules[1:], flags) }()
	ok = s.testAll(modules[:1], flags)
	ok = <-done && ok
	s.print()
	return ok
}

// testAll runs the tests of some modules, one after another.
func (s *summary) testAll(modules, flags []string) (ok bool) {
	ok = true
	for _, dir := range modules {
		s.begin(dir)
		ok = s.test(dir, flags) && ok
	}
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

// without is modules, except those in some folders. A folder without a module is an error: it may have been renamed.
func without(modules, folders []string) ([]string, error) {
	for _, dir := range folders {
		i := slices.Index(modules, filepath.Clean(dir))
		if i <= 0 {
			return nil, fmt.Errorf("-without %s: there is no module, or it is the main one", dir)
		}
		modules = slices.Delete(modules, i, i+1)
	}
	return modules, nil
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
