package main

import (
	"os"
	"slices"
	"testing"

	"locksim/examples/groundtruth"
	"locksim/internal/book"
)

// quick are the bugs that the first runs show.
var quick = []string{"redsync-38", "redsync-61", "redsync-timeout", "redislock-58", "redislock-64", "redsync-156",
	"redsync-164", "etcd-22123", "etcd-21128", "gozero-1704"}

// another are the bugs whose fixed version has another one, which is a row of its own.
var another = []string{"etcd-11456", "gozero-1704", "rueidislock-301"}

// Every adapter builds with both versions of every bug, knows which one it has, and plays: the first runs of a fixed
// version show no violation, and those of the other show the bug where few runs do. Since each version takes a build,
// one bug is enough for a part of the soak, and none is built without it. That the adapters compile with the versions
// of go.mod, the linter tells.
func TestBugs(t *testing.T) {
	t.Chdir("..")
	b := &builder{&book.Builder{Dir: t.TempDir()}}
	ids := map[string]bool{}
	for _, bug := range groundtruth.Bugs() {
		if ids[bug.ID] {
			t.Errorf("two bugs are called %s", bug.ID)
		}
		ids[bug.ID] = true
		if part := os.Getenv("LOCKSIM_SOAK"); part == "" || part != "1" && bug.ID != "redsync-61" {
			continue
		}
		// With the build overlay all is compiled anew, and PostgreSQL is slow: these are built, and only say which version
		// they have.
		plays := !bug.Overlay && bug.Adapter != "pglock" && bug.Adapter != "migrate"
		bug.Overlay = false
		for _, version := range []string{bug.Has, bug.HasNot} {
			if version == "" {
				continue
			}
			t.Run(bug.ID+" "+version, func(t *testing.T) {
				program, err := b.build(bug, version)
				if err != nil {
					t.Fatal(err)
				}
				p := groundtruth.Play{Bug: bug.ID, Version: version, Seed: groundtruth.FirstSeeds[0], Runs: 100}
				if plays {
					got, err := play(program.File, p, t.TempDir())
					if err != nil {
						t.Fatal(err)
					}
					if got.NoVerdict {
						t.Errorf("a run has no verdict: %s", got.Text)
					}
					if got.Found && version == bug.HasNot && !slices.Contains(another, bug.ID) {
						t.Errorf("the fixed version fails: %s", got.Text)
					}
					if !got.Found && version == bug.Has && slices.Contains(quick, bug.ID) {
						t.Errorf("the bug is not found: %s", got.Text)
					}
				}
				if p.Version = "v0.0.1"; version == bug.Has {
					if _, err := play(program.File, p, t.TempDir()); err == nil {
						t.Error("a program plays although it was built with another version")
					}
				}
			})
		}
	}
}
