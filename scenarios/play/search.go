package play

// Search draws scenarios from a space, one after another. It is not safe for
// concurrent use.
type Search struct {
	space Space
	seed  uint64
	guide *guide // nil for a plain search
	last  *recorder
}

// NewSearch begins at a seed. A plain search draws each scenario from its seed
// alone. A guided one makes half of them from earlier ones that showed something
// new, by what [Search.Learn] was told; it depends on the first seed and on the
// runs before. It panics where the space is not valid, as [Draw] does.
func NewSearch(space Space, seed uint64, guided bool) *Search {
	s := &Search{space: space, seed: seed}
	if guided {
		s.guide = newGuide(seed)
	}
	return s
}

// Next is the next scenario, and the seed to play it with: the first one, then
// those that follow it.
func (s *Search) Next() (*Scenario, uint64) {
	seed := s.seed
	s.seed++
	from := Seeded(seed)
	if s.guide != nil {
		s.last = &recorder{from: s.guide.choices(from)}
		from = s.last
	}
	return Draw(from, s.space), seed
}

// Learn is told what became of the scenario that Next returned last. A plain
// search does not listen. Without an outcome there is nothing to learn.
func (s *Search) Learn(o *Outcome) {
	if s.guide == nil || s.last == nil || o == nil {
		return
	}
	s.guide.learn(o, s.last.made)
	s.last = nil
}
