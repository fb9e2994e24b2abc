package app

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
)

// initFlags are the flags of the init command.
type initFlags struct {
	module   string
	lock     string
	checkout string
	overlay  bool
}

func initCommand(s *shell) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a test of your own lock into your module",
		Long: `Init writes what a test of your own lock takes into the module in the working
directory: locksimtest/lock.go with an adapter, which stands for a small lock on Redis
until you put yours there, lock_test.go, sim/main.go with the command locksim for your
lock, a .gitignore for what the tests leave behind, and a workflow for GitHub. In go.mod it requires locksim, replaces it by the
checkout from which this program was built, and sets godebug randseednop=0, by which
the world seeds math/rand. It changes no other file, and overwrites none.

With --module it makes a new module of that path first. With --overlay the tests run
with the build overlay, for libraries that take their time, connections and random
numbers from Go and not from locksim: see locksim overlay --help.`,
		Example: `  locksim init
  locksim init --lock stock-lock
  locksim init --module example.org/you/lock
  locksim init --overlay`,
		Args: exactly(0, "no arguments; run it in the folder of your go.mod"),
		RunE: func(*cobra.Command, []string) error { return f.run(s) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.module, "module", "", "make a module of this `PATH` in a folder without go.mod")
	flags.StringVar(&f.lock, "lock", "", "reports call the lock `NAME` (default: the last word of the module's path)")
	flags.StringVar(&f.checkout, "checkout", "", "the checkout of locksim is in `DIR` (default: the one from which this program was built)")
	flags.BoolVar(&f.overlay, "overlay", false, "run the tests with the build overlay")
	return cmd
}

//go:embed skeleton
var skeleton embed.FS

// skeletonFiles are the files that init writes, by the names of their templates.
var skeletonFiles = []struct{ template, name string }{
	{"lock.go.txt", "locksimtest/lock.go"},
	{"lock_test.go.txt", "locksimtest/lock_test.go"},
	{"main.go.txt", "locksimtest/sim/main.go"},
	{"gitignore.txt", "locksimtest/.gitignore"},
	{"workflow.yml.txt", ".github/workflows/locksim.yml"},
}

// initialized is what the templates know.
type initialized struct {
	Locksim string // the path of the module of locksim
	Package string // the import path of the package with the adapter
	Name    string // the name of the lock
	Replace string // the folder by which go.mod replaces locksim; "" for a published version
	Test    string // the command that runs the test
}

// run is the init command.
func (f initFlags) run(s *shell) error {
	for _, file := range skeletonFiles {
		if _, err := os.Lstat(filepath.FromSlash(file.name)); err == nil {
			return fmt.Errorf("%s exists: init overwrites nothing; move it away, or change it yourself", file.name)
		}
	}
	module, goMod, err := userModule(f.module)
	if err != nil {
		return err
	}
	name, err := lockName(f.lock, module)
	if err != nil {
		return err
	}
	from, err := locksimFor(f.checkout)
	if err != nil {
		return err
	}
	i := initialized{Locksim: ownModule(), Package: module + "/locksimtest", Name: name, Replace: from.replace, Test: "go test -count=1 ./locksimtest"}
	if f.overlay {
		i.Test = "go test -count=1 $(go tool locksim overlay) ./locksimtest"
	}
	goMod, err = edited(goMod, from.edits(goMod, f.overlay))
	if err != nil {
		return err
	}
	files := []outfile.Document{{Name: "go.mod", Data: goMod}}
	for _, file := range skeletonFiles {
		var b bytes.Buffer
		t, err := template.ParseFS(skeleton, "skeleton/"+file.template)
		if err == nil {
			err = t.Execute(&b, i)
		}
		if err != nil {
			return &console.BrokenError{Cause: err}
		}
		files = append(files, outfile.Document{Name: file.name, Data: b.Bytes()})
	}
	if err := outfile.WriteAll(".", files); err != nil {
		return fmt.Errorf("%w: run init in a folder that can be written to", err)
	}
	var names []string
	for _, file := range files {
		names = append(names, file.Name)
	}
	if out, err := exec.Command("go", "mod", "tidy").CombinedOutput(); err != nil {
		return &console.BrokenError{Cause: fmt.Errorf("%s are written, but go mod tidy fails: %w\n%s", strings.Join(names, ", "), err, bytes.TrimSpace(out))}
	}
	_, err = fmt.Fprintf(s.Out, `wrote %s

%s
    passes with the lock that is there; put your own into locksimtest/lock.go
go run ./locksimtest/sim explore --lock %s --out found
    searches on, and writes pages of what it finds
`, strings.Join(names, ", "), i.Test, i.Name)
	return s.Print(err)
}

// userModule is the module in the working directory, or the one to be made there.
func userModule(asked string) (path string, goMod []byte, err error) {
	here := console.ModuleHere()
	switch _, err := os.Lstat("go.mod"); {
	case err == nil && here == "":
		return "", nil, errors.New("go.mod has no module line: repair it first")
	case err == nil && asked != "" && asked != here:
		return "", nil, fmt.Errorf("--module %s: the module here is %s: leave the flag out, or use another folder", console.Quote(asked), here)
	case err == nil && here == ownModule():
		return "", nil, errors.New("this is the checkout of locksim itself: run init in the module of your lock")
	case err == nil:
		goMod, err := os.ReadFile("go.mod")
		return here, goMod, err
	case asked == "":
		return "", nil, errors.New("there is no go.mod here: run init in the folder of your module, or make one with --module PATH")
	case !modulePath.MatchString(asked):
		return "", nil, fmt.Errorf("--module %s: this is no path of a module: write one such as example.org/you/lock", console.Quote(asked))
	}
	return asked, []byte("module " + asked + "\n"), nil
}

// lockName is the name of the lock: the one that was asked for, or the last word of the module's path that is no version.
func lockName(asked, module string) (string, error) {
	switch {
	case asked == "":
	case !file.IsWord(asked):
		return "", fmt.Errorf("--lock %s: make it one word, such as stock-lock: scenario files contain it", console.Quote(asked))
	case taken(asked):
		return "", fmt.Errorf("--lock %s: a lock that comes with locksim has this name: choose another", console.Quote(asked))
	default:
		return asked, nil
	}
	words := strings.Split(module, "/")
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
}

// locksimFor is the checkout that a flag names or from which this program was built, as the
// module in the working directory sees it; or, for a program that was built from a published
// version, that version.
func locksimFor(checkout string) (origin, error) {
	if checkout == "" {
		if published := publishedVersion(); published != "" {
			return origin{version: published}, nil
		}
		_, file, _, _ := runtime.Caller(0)
		checkout = filepath.Join(filepath.Dir(file), "..", "..", "..")
		if console.ModuleIn(checkout) != ownModule() {
			return origin{}, errors.New("this program does not know from which checkout of locksim it was built: name it with --checkout DIR")
		}
	}
	if console.ModuleIn(checkout) != ownModule() {
		return origin{}, fmt.Errorf("--checkout %s: there is no go.mod of module %s: name the folder of a checkout of locksim", console.Quote(checkout), ownModule())
	}
	checkout, err := filepath.Abs(checkout)
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
	return origin{version: "v0.0.0", replace: relative}, nil
}

// publishedVersion is the version of locksim that this program has from a registry, or "".
func publishedVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == ownModule() && m.Replace == nil && m.Sum != "" {
			return m.Version
		}
	}
	return ""
}

// needsGo is the version of Go in the go.mod of locksim. A module that needs an older one is
// raised to it: go mod tidy would do so too, but would load the modules that only the tests of
// locksim need before.
const needsGo = "1.26.0"

var goLine = regexp.MustCompile(`(?m)^go\s+(\S+)`)

// edits are the arguments of go mod edit for a go.mod.
func (o origin) edits(goMod []byte, overlay bool) []string {
	args := []string{"-require=" + ownModule() + "@" + o.version, "-godebug=randseednop=0"}
	if m := goLine.FindSubmatch(goMod); m == nil || version.Compare("go"+string(m[1]), "go"+needsGo) < 0 {
		args = append(args, "-go="+needsGo)
	}
	if o.replace != "" {
		args = append(args, "-replace="+ownModule()+"="+o.replace)
	}
	if overlay {
		args = append(args, "-tool="+ownModule()+"/cmd/locksim")
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
