package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// In a script, locksim is the test program.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"locksim": main})
}

// The command has no library that only tests need: Check, of the entry points for users, draws its seeds from rapid.
func TestTheCommandHasNoLibraryOfTests(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.Lines(string(out)) {
		for _, unwanted := range []string{"pgregory.net/rapid", "github.com/google/go-cmp/",
			"github.com/rogpeppe/go-internal/", "go.uber.org/goleak"} {
			if strings.HasPrefix(path, unwanted) {
				t.Errorf("the command depends on %s", path)
			}
		}
	}
}

// With -short, only one script runs: each starts the command many times.
func TestScripts(t *testing.T) {
	dir, files := "testdata/script", []string(nil)
	if testing.Short() {
		dir, files = "", []string{"testdata/script/gc-pause.txt"}
	}
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		Files:               files,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("ONLY_LOCKSIM", filepath.SplitList(env.Getenv("PATH"))[0])
			for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB"} { // the home of a script is empty
				value, err := exec.Command("go", "env", name).Output()
				if err != nil {
					return err
				}
				env.Setenv(name, strings.TrimSpace(string(value)))
			}
			return nil
		},
		Condition: condition,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":   exits,
			"json":    checkJSON,
			"replace": replace,
			"halve":   halve,
			"narrow":  narrow,
			"untimed": untimed,
		},
	})
}

// condition is "tmpfs" where a script can mount a file system for its own process, and "soak" with LOCKSIM_SOAK, where
// what plays in real time is played.
func condition(name string) (bool, error) {
	switch name {
	case "tmpfs":
		return exec.Command("unshare", "-m", "sh", "-c", `mount -t tmpfs -o size=64k none "$0"`, "/mnt").Run() == nil, nil
	case "soak":
		return os.Getenv("LOCKSIM_SOAK") != "", nil
	}
	return false, fmt.Errorf("there is no condition %q", name)
}
