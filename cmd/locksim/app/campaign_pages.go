package app

import (
	"bytes"
	"fmt"
	"strings"

	"locksim/reports/html"
	"locksim/scenarios/explore"
	"locksim/scenarios/sweep"
)

// public is this command under the name by which it is called in what is read
// elsewhere.
func (s *shell) public() *shell {
	elsewhere := *s
	elsewhere.program, elsewhere.called = s.publicName(), ""
	return &elsewhere
}

// explorePages are explore.html and the pages of its violations.
func (s *shell) explorePages(e *explore.Exploration, children int) ([]document, error) {
	public, jobs := s.public(), map[int]foundPageJob{}
	for i, d := range e.Summary.Distinct {
		jobs[i+1] = foundPageJob{Run: d.Shown.Run, Replay: explorations{public}.exploreAgain(&e.Plan, d.Shown.Seed)}
	}
	opt := html.CampaignOptions{Again: public.exploreWhole(&e.Plan), Versions: versionsOf(e.Timing.Go, e.Timing.Modules)}
	return explorations{s}.campaignFiles(explore.Kind, jobs, children, opt, func(b *bytes.Buffer, opt html.CampaignOptions) error {
		return html.Exploration(b, e, opt)
	})
}

// exploreWhole is the command that makes a whole exploration again.
func (s *shell) exploreWhole(plan *explore.Plan) string {
	text := fmt.Sprintf("%s explore --lock %s --runs %d", s.command(), quote(plan.Lock), plan.Runs)
	if plan.FirstSeed != 1 {
		text += fmt.Sprintf(" --from-seed %d", plan.FirstSeed)
	}
	if plan.Space.Faults != nil {
		text += " --faults " + classList(plan)
	}
	for _, flag := range []struct {
		name string
		on   bool
	}{{"--promise", plan.Judge == explore.JudgePromise}, {"--all", plan.Collect == explore.CollectAll}} {
		if flag.on {
			text += " " + flag.name
		}
	}
	return text
}

// sweepPages are sweep.html and the pages of its violations.
func (s *shell) sweepPages(sw *sweep.Sweep, scenario string, children int) ([]document, error) {
	public, jobs := s.public(), map[int]foundPageJob{}
	for i, c := range sw.Summary.Classes {
		if c.Shown != nil && c.Shown.Run != nil {
			jobs[i+1] = foundPageJob{Run: c.Shown.Run, Replay: sweeps{public}.sweepReplay(&sw.Plan, scenario, "", i+1, c)}
		}
	}
	opt := html.CampaignOptions{Again: public.sweepWhole(&sw.Plan, scenario), Versions: versionsOf(sw.Timing.Go, sw.Timing.Modules)}
	return explorations{s}.campaignFiles(sweep.Name, jobs, children, opt, func(b *bytes.Buffer, opt html.CampaignOptions) error {
		return html.Sweep(b, sw, opt)
	})
}

// sweepWhole is the command that makes a whole sweep again. scenario is what the
// user calls the scenario.
func (s *shell) sweepWhole(plan *sweep.Plan, scenario string) string {
	text := fmt.Sprintf("%s sweep %s --lock %s --seed %d", s.command(), quote(scenario), quote(plan.Lock), plan.Seed)
	if plan.Pairs > 0 {
		text += fmt.Sprintf(" --pairs %d", plan.Pairs)
	}
	if len(plan.Kinds) > 0 {
		text += " --faults " + strings.Join(plan.Kinds, ",")
	}
	if plan.Judge == explore.JudgePromise {
		text += " --promise"
	}
	return text
}
