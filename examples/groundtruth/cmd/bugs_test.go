package main

import (
	"os"
	"testing"

	"locksim/examples/groundtruth"
	"locksim/sim/postgres"
)

// Every adapter builds with both versions of every bug, knows which one it has, and plays: the first runs of a fixed version show
// no violation, and those of the other show the bug where few runs do.
func TestBugs(t *testing.T) {
	t.Chdir("..")
	b := &builder{dir: t.TempDir()}
	ids := map[string]bool{}
	for _, bug := range groundtruth.Bugs() {
		if ids[bug.ID] {
			t.Errorf("two bugs are called %s", bug.ID)
		}
		ids[bug.ID] = true
		for _, version := range []string{bug.Has, bug.HasNot} {
			if version == "" {
				continue
			}
			t.Run(bug.ID+" "+version, func(t *testing.T) {
				if err := postgres.Missing(); err != nil && bug.Adapter == "pglock" {
					if os.Getenv("LOCKSIM_REQUIRE_LIVE") == "1" {
						t.Fatal(err)
					}
					t.Skipf("%v; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", err)
				}
				program, err := b.build(bug, version)
				if err != nil {
					t.Fatal(err)
				}
				p := groundtruth.Play{Bug: bug.ID, Version: version, Seed: groundtruth.FirstSeeds[0], Runs: 100}
				got, err := play(program, p, t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				if got.Found && version == bug.HasNot && bug.Also == "" {
					t.Errorf("the fixed version fails: %s", got.Text)
				}
				if p.Version = "v0.0.1"; version == bug.Has {
					if _, err := play(program, p, t.TempDir()); err == nil {
						t.Error("a program plays although it was built with another version")
					}
				}
			})
		}
	}
}
