// Typecheck checks the types of packages and of their tests as they are for other
// systems than this one, from source. The packages are those of the main module.
//
//	go -C internal/dev run ./typecheck darwin/arm64,windows/amd64 ./cmd/locksim/... ./lock/...
//
// What go vet does for another system begins with the compilation of the standard library
// and of all dependencies, which takes minutes; this takes seconds.
//
// It prints each mistake with its position, and a line for each system. The exit code is
// 0 when there is no mistake, 1 when there is one, and 2 when the packages cannot be
// listed, as for a system that Go does not know.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"locksim/internal/dev/checkout"
	"locksim/internal/prose"
)

// The exit codes.
const (
	exitOK    = 0
	exitWrong = 1
	exitUsage = 2
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: typecheck SYSTEM/ARCHITECTURE[,...] PACKAGE..., such as typecheck "+
			"darwin/arm64,windows/amd64 ./...")
		os.Exit(exitUsage)
	}
	root, err := checkout.Root()
	code := exitUsage
	if err == nil {
		code, err = check(os.Stdout, root, strings.Split(os.Args[1], ","), os.Args[2:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "typecheck:", err)
	}
	os.Exit(code)
}

// check checks the packages, named from dir, for each of the systems.
func check(w io.Writer, dir string, systems, patterns []string) (code int, err error) {
	for _, system := range systems {
		checked, mistakes, err := checkFor(dir, system, patterns)
		if err != nil {
			return exitUsage, fmt.Errorf("%s: %w", system, err)
		}
		for _, m := range mistakes {
			code = exitWrong
			_, _ = fmt.Fprintf(w, "%s: %v\n", system, m)
		}
		_, _ = fmt.Fprintf(w, "%s: %s, %s\n", system, prose.Count(checked, "package"), prose.Count(len(mistakes), "mistake"))
	}
	return code, nil
}

// checkFor checks the packages for one system, and returns how many they are, with those
// that they import. A mistake in a file that a package shares with its test is there once.
func checkFor(dir, system string, patterns []string) (checked int, mistakes []packages.Error, err error) {
	name, arch, ok := strings.Cut(system, "/")
	if !ok || name == "" || arch == "" {
		return 0, nil, errors.New("name a system and an architecture, such as windows/amd64")
	}
	all, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax,
		Tests: true,
		Dir:   dir,
		Env:   append(os.Environ(), "GOOS="+name, "GOARCH="+arch, "CGO_ENABLED=0"),
	}, patterns...)
	if err != nil {
		return 0, nil, err
	}
	packages.Visit(all, nil, func(p *packages.Package) {
		checked++
		mistakes = append(mistakes, p.Errors...)
	})
	if checked == 0 {
		return 0, nil, fmt.Errorf("%s: there is no such package", strings.Join(patterns, " "))
	}
	slices.SortFunc(mistakes, func(a, b packages.Error) int {
		return cmp.Or(cmp.Compare(a.Pos, b.Pos), cmp.Compare(a.Msg, b.Msg))
	})
	return checked, slices.Compact(mistakes), nil
}
