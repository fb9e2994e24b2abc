package reviewpage

import (
	"locksim/lock/fence"
	"locksim/reports/grid"
	"locksim/scenarios/review"
)

// storyBlocks are the scenarios of the library in which the lock was broken, with
// what each fence made of them: those within the promise first.
func storyBlocks(r *review.Review) []Block {
	t := &Table{Name: "Stories of the library that break it", Head: []string{"Story", "Promise", "Without a fence", "Rescue", "Do not rescue", "Do harm", "Command"}}
	for _, g := range review.Grounds() {
		for i := range r.Scenarios {
			if s := &r.Scenarios[i]; s.Ground == g && s.Harmful() {
				t.Rows = append(t.Rows, storyRow(r, s))
			}
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return []Block{{Heading: "Stories of the library"},
		paragraph("Known failures of locks in the field, each told by a scenario. A fence in brackets rescues the data at a price: a rightful holder is refused. The command runs a story in every fencing mode."),
		{Table: t}}
}

func storyRow(r *review.Review, s *review.Scenario) Row {
	by := map[review.FenceEffect][]fence.Mode{}
	var rescue, fail []string
	for _, c := range s.Cells {
		e := s.Effect(c.Mode)
		by[e] = append(by[e], c.Mode)
		switch e {
		case review.FenceRescues:
			rescue = append(rescue, string(c.Mode))
		case review.FenceCosts:
			rescue = append(rescue, "("+string(c.Mode)+")")
		case review.FenceFails, review.FenceUndecided:
			fail = append(fail, string(c.Mode))
		}
	}
	none := s.Cells[0]
	return Row{Name: s.Name, Note: s.Title, Cells: []Cell{
		{Text: groundWord(r, s.Ground)}, {Text: grid.KOfN(none), Label: none.Label},
		{Text: commas(rescue)}, {Text: commas(fail)}, {Text: commas(by[review.FenceHarms])}, {Text: s.Replay, Code: true}}}
}
