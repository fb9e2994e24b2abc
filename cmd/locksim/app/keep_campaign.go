package app

import (
	"fmt"
	"strings"

	"locksim/scenarios/explore"
	"locksim/scenarios/sweep"
)

// end says what the exit code of a campaign is to be, once its folder is listed.
func (k kept) end(pub *publication) error {
	problem := pub.end()
	if err := k.list(pub.shell); err != nil {
		return err
	}
	return problem
}

// fewLocks is how many locks the name of a folder tells one by one.
const fewLocks = 3

// folderToKeep is where the results of an exploration go. With --keep, those that
// are judged by promises lie in other folders than those that are not.
func (f exploreFlags) folderToKeep(plans []*explore.Plan) (kept, error) {
	about := []string{explore.Kind}
	if list := words(f.locks); len(list) == 1 && list[0] == "all" {
		about = append(about, "all")
	} else {
		about = append(about, lockParts(plans)...)
	}
	return keep(f.keep, f.out, promised(about, f.promise)...)
}

// lockParts are the locks of some plans as parts of a name.
func lockParts(plans []*explore.Plan) []string {
	var names []string
	for _, p := range plans {
		names = append(names, p.Lock)
	}
	if len(names) > fewLocks {
		return []string{strings.Join(names, ",")}
	}
	return names
}

// folderToKeep is where the results of a sweep go.
func (f sweepFlags) folderToKeep(p *sweep.Plan) (kept, error) {
	about := []string{sweep.Name, p.Scenario, p.Lock, fmt.Sprintf("s%d", p.Seed)}
	return keep(f.keep, f.out, promised(about, f.promise)...)
}

func promised(about []string, promise bool) []string {
	if promise {
		return append(about, "promise")
	}
	return about
}
