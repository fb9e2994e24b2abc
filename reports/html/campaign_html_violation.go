package html

import (
	"fmt"

	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/reports/campaign"
	"locksim/scenarios/play"
	"locksim/scenarios/search"
)

// violationPart is one violation of another shape, with its smallest story.
type violationPart struct {
	N          int
	Shape      string
	Like       string // how many runs are like it
	Violations []play.Violation
	Reasons    []string
	Doubt      string
	Mode       fence.Mode
	Tale       []campaign.Step
	Schedule   string
	Shrunk     string
	Page       string
	Replay     string
}

// newViolation is a violation that was examined or, where found is nil, was not.
func newViolation(i int, shape, like string, found *search.Found, opt CampaignOptions) violationPart {
	v := violationPart{N: i, Shape: shape, Like: like}
	if found == nil {
		v.Doubt = "It has not been examined."
		return v
	}
	v.Violations, v.Reasons = found.Violations, found.Reasons
	v.Page, v.Replay = opt.page(i), opt.replay(i)
	v.Shrunk = prose.Count(found.Faults, "fault")
	if found.Faults != found.Drawn {
		v.Shrunk += fmt.Sprintf(" of the %d that were drawn", found.Drawn)
	}
	if found.Same < found.Replays {
		v.Doubt = fmt.Sprintf("Not deterministic: %d of %d runs of it were equal. %s", found.Same, found.Replays, found.Divergence)
	}
	if len(found.Violations) > 0 {
		v.Mode, v.Tale = found.Violations[0].Mode, campaign.Steps(found.Story)
	}
	if found.Run != nil {
		v.Schedule = found.Run.Source
	}
	return v
}
