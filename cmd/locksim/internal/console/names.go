package console

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"strings"
)

// slashed is a path with slashes, of a system with a separator: what is printed and compared is the same on all
// systems.
func slashed(path string, separator rune) string {
	return strings.ReplaceAll(path, string(separator), "/")
}

// calledAs is the command line that starts the program at a path with slashes, or "" if its name does.
// A program that go run has built cannot be started by its path: see [builtByGoRun].
// pkg is the import path of its main package, and module that of the module with it.
// moduleHere is the path of the module whose root is the working directory, or "".
func calledAs(arg, pkg, module, moduleHere string) string {
	switch {
	case !strings.Contains(arg, "/"):
		return ""
	case !builtByGoRun.MatchString(arg):
		return Quote(arg)
	case pkg == "" || pkg == "command-line-arguments":
		return "" // go run of single files, which the program does not know
	case pkg == module && moduleHere == module:
		return "go run ."
	case moduleHere == module:
		return "go run ./" + Quote(strings.TrimPrefix(pkg, module+"/"))
	}
	return "go run " + Quote(pkg)
}

// builtByGoRun matches the path of a program that go run has built: it is in a folder
// that go run removes afterwards, or in the build cache, which GOCACHE may have put
// anywhere, in a folder named after the hash of the program's inputs.
var builtByGoRun = regexp.MustCompile(`/go-build[0-9]+/b[0-9]+/exe/[^/]+$|/[0-9a-f]{2}/[0-9a-f]{64}-d/[^/]+$`)

// Command is the command line that starts this program as the user has started it.
func (c *Console) Command() string { return cmp.Or(c.called, c.Program) }

// PublicName is the command line that starts this program, for pages that are read on
// other machines, where its path may be another.
func (c *Console) PublicName() string {
	switch {
	case c.Program == OwnProgram:
		return inClone
	case strings.HasPrefix(c.called, "go run "):
		return c.called
	}
	return c.Program
}

// Public is a copy of the console whose commands start with the public name.
func (c *Console) Public() *Console {
	public := *c
	public.Program, public.called = c.PublicName(), ""
	return &public
}

// OwnProgram is the name of the locksim command itself. A program that a user has built
// with their own locks has another name.
const OwnProgram = "locksim"

// inClone is the command line that starts it in a clone of locksim.
const inClone = "go run ./cmd/locksim"

// InOwnWords replaces the name locksim in the commands of a text by the command line that
// starts this program. names are those of the commands.
func (c *Console) InOwnWords(text string) string {
	if c.Command() == OwnProgram {
		return text
	}
	return locksimCommand.ReplaceAllString(text, "${1}"+strings.ReplaceAll(c.Command(), "$", "$$")+"${2}")
}

// locksimCommand matches a call of locksim in a text, with its command.
var locksimCommand = regexp.MustCompile(
	`(^|[^\w./-])locksim( (?:compare|completion|explore|gallery|init|judge|list|matrix|mcp|merge|overlay|pin|playground|replay|report|run|schema|serve|show|sweep|tune|version)\b)`)

// mainPackage are the import paths of the main package of this program and of its module, as
// the Go command has recorded them; "" where it has not.
func mainPackage() (pkg, module string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", ""
	}
	return info.Path, info.Main.Path
}

// ModuleHere is the path of the module whose root is the working directory, or "".
func ModuleHere() string { return ModuleIn(".") }

// ModuleIn is the path of the module whose root is a folder, or "".
func ModuleIn(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return ""
	}
	m := moduleLine.FindSubmatch(text)
	if m == nil {
		return ""
	}
	return string(m[1])
}

var moduleLine = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)

// programName is the name of a program at a path with slashes.
func programName(arg string) string { return strings.TrimSuffix(path.Base(arg), ".exe") }

// OwnModule is the path of the module that has this package: locksim, or the name under which it is published.
func OwnModule() string {
	return strings.TrimSuffix(reflect.TypeFor[Console]().PkgPath(), "/cmd/locksim/internal/console")
}
