package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"locksim/cmd/locksim/app"
)

// In a script, locksim is this very program.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"locksim": func() { os.Exit(app.Main()) }})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
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
