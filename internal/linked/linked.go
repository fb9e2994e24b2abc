// Package linked says which versions of the client libraries a program was built with, and which ones the module of the
// lock asks for. They differ where locksim requires a higher version: Go builds a program with the highest version that
// any module of it requires, so that a lock may be tested with a client that it does not ship with.
package linked

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// Client is a client library that the module of a lock asks for, as this program has it.
type Client struct {
	// Module is its path.
	Module string `json:"module"`
	// Version is the one in this program: that of what replaces it, or the path of the module or folder that does.
	Version string `json:"version"`
	// Asked is another version that the module By asks for, in the same form. "" if none is known that differs.
	Asked string `json:"asked,omitempty"`
	// By is the module that asks for Asked, with its version, unless that one is a folder.
	By string `json:"by,omitempty"`

	// raises says that Version is the one that locksim requires, so that a lower one in a go.mod was raised to it.
	raises bool
	// own is the path of locksim.
	own string
}

// Differs reports whether the lock was tested with another version than the one that its module asks for.
func (c Client) Differs() bool { return c.Asked != "" }

// Pin is the command that makes Go build the module in the working directory with the version that was asked for, or
// with VERSION if none differs. A replaced module is not raised.
func (c Client) Pin() string {
	to := c.Module + "@" + cmp.Or(c.Asked, "VERSION")
	if c.Asked != "" && !semver.IsValid(c.Asked) { // a module or folder that replaces it
		to = strings.Replace(c.Asked, " ", "@", 1)
	}
	return fmt.Sprintf("go mod edit -replace=%s=%s && go mod tidy", c.Module, to)
}

// String is one line: what was linked, what was asked for if that differs, and the command that pins it.
func (c Client) String() string {
	text := "linked: " + c.Module + " " + c.Version
	switch {
	case c.Differs() && c.raises:
		return fmt.Sprintf("%s, which %s requires; %s asks for %s: to test with that, %s", text, c.own, c.By, c.Asked,
			c.Pin())
	case c.Differs():
		return fmt.Sprintf("%s; %s asks for %s: to test with that, %s", text, c.By, c.Asked, c.Pin())
	case c.raises:
		return fmt.Sprintf("%s, the least that %s requires: go mod tidy raises a lower one in go.mod to it; to test with "+
			"another, %s",
			text, c.own, c.Pin())
	}
	return text
}

// Text is the lines of some clients, "" for none.
func Text(clients []Client) string {
	var lines []string
	for _, c := range clients {
		lines = append(lines, c.String())
	}
	return strings.Join(lines, "\n")
}

// clients are the client libraries that locksim requires, with the modules that are released together with them.
var clients = []string{
	"github.com/redis/go-redis/v9",
	"go.etcd.io/etcd/client/v3", "go.etcd.io/etcd/api/v3", "go.etcd.io/etcd/client/pkg/v3",
	"github.com/jackc/pgx/v5",
	"github.com/go-zookeeper/zk",
}

// Clients are the client libraries that the module of the lock asks for. There are none in a program of locksim or of
// its examples, and where the go.mod of the program is not in the working directory or above it, or there is no Go: a
// test runs in the folder of its package. They are read once, with the Go command, which looks at this machine only.
// Clients may be called at the same time, but not within a simulated run.
func Clients() []Client { return slices.Clone(here().clients) }

// Modules are the versions in this program of some modules, by path, in the form of [Client.Version]. Those that it
// does not have, or that are not known, are left out.
func Modules(paths ...string) map[string]string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	out := map[string]string{}
	for _, m := range info.Deps {
		if slices.Contains(paths, m.Path) {
			out[m.Path] = versionOf(m)
		}
	}
	if len(info.Deps) == 0 { // a test: the Go command records nothing in it
		for _, p := range paths {
			if v := here().versions[p]; v != "" {
				out[p] = v
			}
		}
	}
	return out
}

// versionOf is the version of a module of this program.
func versionOf(m *debug.Module) string {
	of := module{Path: m.Path, Version: m.Version}
	if m.Replace != nil {
		of.Replace = &replacement{m.Replace.Path, m.Replace.Version}
	}
	return of.version()
}

var here = sync.OnceValue(func() *build {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path == "" {
		return new(build)
	}
	own := strings.TrimSuffix(reflect.TypeFor[Client]().PkgPath(), "/internal/linked")
	if strings.HasPrefix(info.Main.Path+"/", own+"/") {
		return new(build) // locksim, or an example of it
	}
	dir, err := os.Getwd()
	if err != nil {
		return new(build)
	}
	b, err := read(own, info.Main.Path, dir, goList)
	if err != nil {
		return new(build) // nothing is known: what the lock is judged by does not depend on it
	}
	return b
})

// build is what is known of the modules of a program.
type build struct {
	versions map[string]string // of all that the go.mod lists
	clients  []Client
}

// read reads a build whose main module has its go.mod in a folder or above it.
func read(own, main, dir string, list lister) (*build, error) {
	name, err := goModAbove(dir)
	if err != nil {
		return nil, err
	}
	root, err := parse(name, modfile.Parse)
	if err != nil {
		return nil, err
	}
	if root.Module == nil || root.Module.Mod.Path != main {
		return nil, fmt.Errorf("%s is not of module %s", name, main)
	}
	var paths []string // all that the go.mod lists: a larger list would take modules that are not on this machine
	for _, r := range root.Require {
		paths = append(paths, r.Mod.Path)
	}
	if !slices.Contains(paths, own) {
		paths = append(paths, own) // in a workspace
	}
	listed, err := list(filepath.Dir(name), paths)
	if err != nil {
		return nil, err
	}
	b := &build{versions: map[string]string{}}
	required := map[string]string{} // by locksim
	asking := []asker{{file: root, by: main, ships: true}}
	for _, m := range listed {
		b.versions[m.Path] = m.version()
		if m.Path != own && !directly(root, m.Path) {
			continue
		}
		reads := modfile.ParseLax // without its replacements, which hold for a main module only
		if m.folder() {
			reads = modfile.Parse
		}
		f, err := parse(m.GoMod, reads)
		switch {
		case err != nil: // a vendored module has none
		case m.Path == own:
			for _, r := range f.Require {
				required[r.Mod.Path] = r.Mod.Version
			}
		case m.folder():
			asking = append(asking, asker{file: f, by: m.Path, folder: m.Replace.Path, ships: true})
		default:
			asking = append(asking, asker{file: f, by: m.Path + " " + m.version()})
		}
	}
	for _, path := range clients {
		c, ok := client(path, b.versions[path], required[path], asking)
		if ok {
			c.own = own
			b.clients = append(b.clients, c)
		}
	}
	return b, nil
}

// client is one client library; not ok if only locksim asks for it. What a module in a folder asks for is what ships
// with it: those of the libraries matter where there is none that differs, and locksim has raised them.
func client(path, version, required string, asking []asker) (c Client, ok bool) {
	if version == "" || required == "" {
		return c, false
	}
	c = Client{Module: path, Version: version, raises: version == required}
	settled := false // a module in another folder says what ships
	for i, a := range asking {
		asked, direct := a.asks(path)
		main := i == 0
		ok = ok || direct || asked != "" && !main
		if asked == "" || !a.ships {
			continue
		}
		settled = settled || !main
		if asked != version {
			c.Asked, c.By = asked, a.by
		}
	}
	if settled || c.Differs() || !c.raises {
		return c, ok
	}
	for _, a := range asking {
		if asked, _ := a.asks(path); !a.ships && semver.Compare(asked, version) < 0 && semver.Compare(asked, c.Asked) > 0 {
			c.Asked, c.By = asked, a.by
		}
	}
	return c, ok
}

// asker is a module that may ask for clients.
type asker struct {
	file   *modfile.File
	by     string
	folder string // from the main module to it
	ships  bool   // it is in a folder, and is built as its go.mod says where it is the main module
}

// asks is the version that a module asks for, in the form of [Client.Version], or "", and whether it says so as one
// that imports it itself.
func (a asker) asks(path string) (version string, direct bool) {
	for _, r := range a.file.Require {
		if r.Mod.Path == path {
			version, direct = r.Mod.Version, !r.Indirect
		}
	}
	if version == "" || !a.ships {
		return version, direct
	}
	return a.replaced(path, version), direct
}

// replaced is a version after the replacements of a go.mod.
func (a asker) replaced(of, version string) string {
	out := version
	for _, r := range a.file.Replace {
		if r.Old.Path != of || r.Old.Version != "" && r.Old.Version != version {
			continue
		}
		switch {
		case r.New.Path == of:
			out = r.New.Version
		case r.New.Version != "":
			out = r.New.Path + " " + r.New.Version
		case a.folder == "" || filepath.IsAbs(r.New.Path):
			out = r.New.Path
		default:
			if out = path.Join(filepath.ToSlash(a.folder), r.New.Path); !strings.HasPrefix(out, "..") && !path.IsAbs(out) {
				out = "./" + out
			}
		}
		if r.Old.Version != "" {
			break // it beats one for all versions
		}
	}
	return out
}

func directly(f *modfile.File, path string) bool {
	return slices.ContainsFunc(f.Require, func(r *modfile.Require) bool { return r.Mod.Path == path && !r.Indirect })
}

func parse(name string, with func(string, []byte, modfile.VersionFixer) (*modfile.File, error)) (*modfile.File, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return with(name, text, nil)
}

// goModAbove is the go.mod of the module that a folder is in.
func goModAbove(dir string) (string, error) {
	for {
		name := filepath.Join(dir, "go.mod")
		if _, err := os.Stat(name); err == nil {
			return name, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no go.mod above")
		}
		dir = up
	}
}
