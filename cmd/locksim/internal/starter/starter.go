// Package starter writes what a test of a user's own lock takes into a module.
package starter

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"go/version"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"text/template"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
)

//go:embed skeleton
var skeleton embed.FS

// skeletonFile is a file that init writes, by the name of its template.
type skeletonFile struct{ template, name string }

// skeletonFiles are those for a lock, or for a fence.
func skeletonFiles(fence bool) []skeletonFile {
	always := []skeletonFile{{"main.go.txt", "locksimtest/sim/main.go"}, {"gitignore.txt", "locksimtest/.gitignore"}}
	if fence {
		return append([]skeletonFile{{"fence.go.txt", "locksimtest/fence.go"},
			{"fence_test.go.txt", "locksimtest/fence_test.go"}}, always...)
	}
	return append([]skeletonFile{{"lock.go.txt", "locksimtest/lock.go"},
		{"lock_test.go.txt", "locksimtest/lock_test.go"}}, always...)
}

// Options are what is asked for; the zero value is the usual.
type Options struct {
	// Module is the path of a module to make first, in a folder without go.mod; "" for the module that is there.
	Module string
	// Lock is the name of the lock; "" for the last word of the module's path.
	Lock string
	// Fence is the name of a fence; "" for a lock.
	Fence string
	// Checkout is the folder of a checkout of locksim; "" for the one from which this program was built.
	Checkout string
	// Overlay runs the tests with the build overlay.
	Overlay bool
	// CI adds a workflow for GitHub, at the top of the repository.
	CI bool
	// Topology is how the client of the lock finds Redis: [Node], [Sentinel] or [Cluster]; "" for [Node]. A fence may be
	// on [Postgres].
	Topology string
}

// The topologies.
const (
	Node     = "node"     // one node, whose name a failover moves
	Sentinel = "sentinel" // Sentinels watch the node and its replicas, and the client asks them
	Cluster  = "cluster"  // a Redis Cluster, in which the client finds the node of a key
	Postgres = "postgres" // a PostgreSQL, for a fence
)

// Written is what Write has written.
type Written struct {
	// Files are the names of the files.
	Files []string
	// Test is the command that runs the test.
	Test string
	// Lock is the name of the lock.
	Lock string
	// Vendored says that the module has a folder vendor, which has no locksim yet.
	Vendored bool
}

// initialized is what the templates know.
type initialized struct {
	Locksim string // the path of the module of locksim
	Package string // the import path of the package with the adapter
	Name    string // the name of the lock
	Test    string // the command that runs the test
	// Sentinels says that the client asks Sentinels for the primary.
	Sentinels bool
	// Cluster says that the client is one of a Redis Cluster.
	Cluster bool
	// Fence says that it is a fence, and Postgres that it is on PostgreSQL.
	Fence, Postgres bool
}

func (o Options) topology() error {
	switch {
	case o.Fence != "" && o.Lock != "":
		return errors.New("--fence and --lock: choose one, init writes a test of a lock or of a fence")
	case o.Fence != "" && !slices.Contains([]string{"", Node, Postgres}, o.Topology):
		return fmt.Errorf("--topology %s: for a fence write %s or %s", console.Quote(o.Topology), Node, Postgres)
	case o.Fence == "" && o.Topology == Postgres:
		return fmt.Errorf("--topology %s: it is for a fence: name one with --fence, or see docs on locks in SQL", Postgres)
	case o.Fence == "" && !slices.Contains([]string{"", Node, Sentinel, Cluster}, o.Topology):
		return fmt.Errorf("--topology %s: write %s, %s or %s", console.Quote(o.Topology), Node, Sentinel, Cluster)
	}
	return nil
}

// Write writes the files into the module in the working directory, all or none. It overwrites no file but go.mod and
// go.sum. A failure of go mod tidy is a [console.BrokenError]: the files are written then.
func Write(o Options) (*Written, error) {
	for _, file := range skeletonFiles(o.Fence != "") {
		if _, err := os.Lstat(filepath.FromSlash(file.name)); err == nil {
			return nil, fmt.Errorf("%s exists: init overwrites nothing; move it away, or change it yourself", file.name)
		}
	}
	at := here()
	if _, err := os.Lstat(filepath.Join(at.top, filepath.FromSlash(workflowName))); err == nil && o.CI {
		return nil, fmt.Errorf("%s exists: init overwrites nothing; move it away, or leave --ci out", workflowName)
	}
	if err := o.topology(); err != nil {
		return nil, err
	}
	path, goMod, err := userModule(o.Module)
	if err != nil {
		return nil, err
	}
	name, err := o.name(path)
	if err != nil {
		return nil, err
	}
	from, err := locksimFor(o.Checkout)
	if err != nil {
		return nil, err
	}
	i := initialized{Locksim: console.OwnModule(), Package: path + "/locksimtest", Name: name,
		Test: "go test -count=1 ./locksimtest", Sentinels: o.Topology == Sentinel, Cluster: o.Topology == Cluster,
		Fence:    o.Fence != "",
		Postgres: o.Topology == Postgres}
	if o.Overlay {
		i.Test = "go test -count=1 $(go tool locksim overlay) ./locksimtest"
	}
	goMod, err = edited(goMod, from.edits(goMod, o.Overlay))
	if err != nil {
		return nil, err
	}
	var ci []outfile.Document
	if o.CI {
		w, err := from.workflow(at, o.Overlay)
		if err != nil {
			return nil, err
		}
		text, err := filled("workflow.yml.txt", w)
		if err != nil {
			return nil, &console.BrokenError{Cause: err}
		}
		ci = []outfile.Document{{Name: workflowName, Data: text}}
	}
	files, err := i.files()
	if err != nil {
		return nil, &console.BrokenError{Cause: err}
	}
	sums, err := from.sums()
	if err != nil {
		return nil, err
	}
	files = append([]outfile.Document{{Name: "go.mod", Data: goMod}}, files...)
	if err := outfile.WriteAll(".", slices.Concat(files, sums)); err != nil {
		return nil, fmt.Errorf("%w: run init in a folder that can be written to", err)
	}
	if err := outfile.WriteAll(at.top, ci); err != nil {
		return nil, fmt.Errorf("%w: the workflow goes to the top of the repository", err)
	}
	done := &Written{Test: i.Test, Lock: i.Name}
	for _, file := range append(files, ci...) {
		done.Files = append(done.Files, file.Name)
	}
	if out, err := exec.Command("go", "mod", "tidy").CombinedOutput(); err != nil {
		return nil, &console.BrokenError{Cause: fmt.Errorf("%s are written, but go mod tidy fails: %w\n%s",
			strings.Join(done.Files, ", "), err, bytes.TrimSpace(out))}
	}
	_, err = os.Lstat(filepath.Join("vendor", "modules.txt"))
	done.Vendored = err == nil
	return done, nil
}

func (i initialized) files() ([]outfile.Document, error) {
	var files []outfile.Document
	for _, file := range skeletonFiles(i.Fence) {
		text, err := filled(file.template, i)
		if err != nil {
			return nil, err
		}
		files = append(files, outfile.Document{Name: file.name, Data: text})
	}
	return files, nil
}

// filled is a file of the skeleton with what its template needs to know.
func filled(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	t, err := template.ParseFS(skeleton, "skeleton/"+name)
	if err == nil {
		err = t.Execute(&b, data)
	}
	return b.Bytes(), err
}

// userModule is the module in the working directory, or the one to be made there.
func userModule(asked string) (path string, goMod []byte, err error) {
	here := console.ModuleHere()
	switch _, err := os.Lstat("go.mod"); {
	case err == nil && here == "":
		return "", nil, errors.New("go.mod has no module line: repair it first")
	case err == nil && asked != "" && asked != here:
		return "", nil, fmt.Errorf("--module %s: the module here is %s: leave the flag out, or use another folder",
			console.Quote(asked), here)
	case err == nil && here == console.OwnModule():
		return "", nil, errors.New("this is the checkout of locksim itself: run init in the module of your lock")
	case err == nil:
		goMod, err := os.ReadFile("go.mod")
		return here, goMod, err
	case asked == "":
		return "", nil, errors.New("there is no go.mod here: run init in the folder of your module, or make one with " +
			"--module PATH")
	case !modulePath.MatchString(asked):
		return "", nil, fmt.Errorf("--module %s: this is no path of a module: write one such as example.org/you/lock",
			console.Quote(asked))
	}
	return asked, []byte("module " + asked + "\n"), nil
}

func (o Options) name(path string) (string, error) {
	switch {
	case o.Fence == "":
		return lockName(o.Lock, path)
	case !file.IsWord(o.Fence):
		return "", fmt.Errorf("--fence %s: make it one word, such as stock-fence: scenario files contain it",
			console.Quote(o.Fence))
	case taken(o.Fence):
		return "", fmt.Errorf("--fence %s: a lock that comes with locksim has this name: choose another",
			console.Quote(o.Fence))
	}
	return o.Fence, nil
}

// lockName is the name of the lock: the one that was asked for, or the last word of the module's path that is no
// version.
func lockName(asked, path string) (string, error) {
	switch {
	case asked == "":
	case !file.IsWord(asked):
		return "", fmt.Errorf("--lock %s: make it one word, such as stock-lock: scenario files contain it",
			console.Quote(asked))
	case taken(asked):
		return "", fmt.Errorf("--lock %s: a lock that comes with locksim has this name: choose another", console.Quote(asked))
	default:
		return asked, nil
	}
	words := strings.Split(path, "/")
	if last := len(words) - 1; last > 0 && majorVersion.MatchString(words[last]) {
		words = words[:last]
	}
	name := words[len(words)-1]
	if taken(name) {
		name = "my-" + name
	}
	return name, nil
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// taken reports whether a lock that comes with locksim has the name, here or in another package.
func taken(name string) bool {
	_, elsewhere := kinds.Package(name)
	return elsewhere || kinds.Reserved(name)
}

var modulePath = regexp.MustCompile(`^[A-Za-z0-9][\w.~-]*(/[\w.~-]+)*$`)

// origin is where a user's module takes locksim from.
type origin struct {
	version string
	replace string // a folder, or "" for a published version
	// checkout is the absolute path of that folder.
	checkout string
}

// locksimFor is the checkout that a flag names or from which this program was built, as the
// module in the working directory sees it; or, for a program that was built from a published
// version, that version.
func locksimFor(checkout string) (origin, error) {
	if checkout == "" {
		if published := publishedVersion(); published != "" {
			return origin{version: published}, nil
		}
	}
	named := checkout != ""
	checkout, err := Checkout(checkout)
	if err != nil && !named {
		if info, ok := debug.ReadBuildInfo(); ok {
			if v := releasedVersion(console.OwnModule(), info.Main); v != "" {
				return origin{version: v}, nil
			}
		}
	}
	if err != nil {
		return origin{}, err
	}
	checkout, err = filepath.Abs(checkout)
	if err != nil {
		return origin{}, err
	}
	here, err := filepath.Abs(".")
	if err != nil {
		return origin{}, err
	}
	relative, err := filepath.Rel(here, checkout)
	if err != nil {
		relative = checkout // on another drive
	} else if relative = filepath.ToSlash(relative); !strings.HasPrefix(relative, "../") {
		relative = "./" + relative
	}
	return origin{version: "v0.0.0", replace: relative, checkout: checkout}, nil
}

// sums is the go.sum of the module in the working directory with what that of the checkout knows too: then go mod tidy,
// which removes what is not needed, asks no server for it, which takes a HOME. There is none for a published version.
func (o origin) sums() ([]outfile.Document, error) {
	if o.checkout == "" {
		return nil, nil
	}
	known, err := os.ReadFile(filepath.Join(o.checkout, "go.sum"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	own, err := os.ReadFile("go.sum")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return []outfile.Document{{Name: "go.sum", Data: mergedSums(own, known)}}, nil
}

// mergedSums are the lines of own, and those of more for files of modules of which own has none.
func mergedSums(own, more []byte) []byte {
	out, has := bytes.Clone(own), map[string]bool{}
	if len(own) > 0 && !bytes.HasSuffix(own, []byte("\n")) {
		out = append(out, '\n')
	}
	for line := range strings.Lines(string(own)) {
		has[sumOf(line)] = true
	}
	for line := range strings.Lines(string(more)) {
		if !has[sumOf(line)] {
			out = append(out, line...)
		}
	}
	return out
}

// sumOf is what a line of go.sum has the checksum of: a module and its version, or the go.mod of that.
func sumOf(line string) string {
	fields := strings.Fields(line)
	return strings.Join(fields[:min(2, len(fields))], " ")
}

// Checkout is the checkout of locksim that --checkout names or, without the flag, from which this program was built.
func Checkout(flag string) (string, error) {
	if flag == "" {
		_, file, _, _ := runtime.Caller(0)
		flag = filepath.Join(filepath.Dir(file), "..", "..", "..", "..")
		if console.ModuleIn(flag) != console.OwnModule() {
			return "", errors.New("this program does not know from which checkout of locksim it was built: name it with " +
				"--checkout DIR")
		}
	}
	if console.ModuleIn(flag) != console.OwnModule() {
		return "", fmt.Errorf("--checkout %s: there is no go.mod of module %s: name the folder of a checkout of locksim",
			console.Quote(flag), console.OwnModule())
	}
	return flag, nil
}

// publishedVersion is the version of locksim that this program has from a registry, or "".
func publishedVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == console.OwnModule() && m.Replace == nil && m.Sum != "" {
			return m.Version
		}
	}
	return ""
}

// releasedVersion is the version of a program of a release, whose tag is that of a module which others can get by its
// path, or "".
func releasedVersion(own string, of debug.Module) string {
	host, _, _ := strings.Cut(own, "/")
	if of.Path != own || !strings.Contains(host, ".") || module.IsPseudoVersion(of.Version) ||
		!semver.IsValid(of.Version) || semver.Build(of.Version) != "" {
		return ""
	}
	return of.Version
}

// needsGo is the version of Go in the go.mod of locksim. A module that needs an older one is
// raised to it: go mod tidy would do so too, but would load the modules that only the tests of
// locksim need before.
const needsGo = "1.26.0"

var goLine = regexp.MustCompile(`(?m)^go\s+(\S+)`)

// edits are the arguments of go mod edit for a go.mod.
func (o origin) edits(goMod []byte, overlay bool) []string {
	args := []string{"-require=" + console.OwnModule() + "@" + o.version, "-godebug=randseednop=0"}
	if m := goLine.FindSubmatch(goMod); m == nil || version.Compare("go"+string(m[1]), "go"+needsGo) < 0 {
		args = append(args, "-go="+needsGo)
	}
	if o.replace != "" {
		args = append(args, "-replace="+console.OwnModule()+"="+o.replace)
	}
	if overlay {
		args = append(args, "-tool="+console.OwnModule()+"/cmd/locksim")
	}
	return args
}

// edited is a go.mod after go mod edit.
func edited(goMod []byte, args []string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "locksim-init-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	name := filepath.Join(dir, "go.mod")
	if err := os.WriteFile(name, goMod, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command("go", append(append([]string{"mod", "edit", "-print"}, args...), name)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go mod edit: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}
