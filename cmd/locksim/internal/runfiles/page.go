package runfiles

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"locksim/cmd/locksim/internal/console"
	"locksim/cmd/locksim/internal/outfile"
	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/html"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
)

// Page is a run as an HTML page.
func Page(o *outcome.Outcome, opt reports.Options) (outfile.Document, error) {
	var b bytes.Buffer
	if err := html.Run(&b, o, opt); err != nil {
		return outfile.Document{}, err
	}
	return outfile.Document{Name: "report.html", Data: b.Bytes()}, nil
}

// PageOptions are the options of the page of a run. They do not name the folder of the
// page, so that the page is the same in every folder.
func PageOptions(c *console.Console, o *outcome.Outcome, l subject.Lock, repeat outcome.Repeat) reports.Options {
	if o.Live != nil { // real servers have ended by then
		return reports.Options{Repeat: repeat, Replay: publicCommand(c, o), Versions: versions(o)}
	}
	return reports.Options{
		Repeat: repeat, Replay: publicCommand(c, o), Versions: versions(o),
		Inspect: func(mode fence.Mode, step int) (*outcome.State, error) {
			return play.Inspect(o.Scenario, l, o.Seed, mode, step)
		},
	}
}

// versions are the versions for which the trace hashes of a run hold.
func versions(o *outcome.Outcome) []reports.Version {
	t := outcome.NewRunFile(o).Timing
	return VersionsOf(t.Go, t.Modules)
}

// VersionsOf are the version of Go and those of the modules, sorted by name.
func VersionsOf(goVersion string, modules map[string]string) []reports.Version {
	out := []reports.Version{{Name: "Go", Version: strings.TrimPrefix(goVersion, "go")}}
	for _, module := range slices.Sorted(maps.Keys(modules)) {
		out = append(out, reports.Version{Name: module, Version: modules[module]})
	}
	return out
}
