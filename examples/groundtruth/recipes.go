package groundtruth

import "locksim/examples/articles"

// Recipes are the locks that people copy from articles, as rows that are played like bugs: they have one version, "",
// which is that of this tree. The caller owns the slice.
func Recipes() []Bug {
	var all []Bug
	for _, r := range articles.Recipes() {
		all = append(all, Bug{ID: r.ID, Adapter: "articles", Mechanism: r.Idea, Kind: r.Kind, Quote: r.Says,
			Promise: r.Lock.Promise})
	}
	return all
}

// All are the bugs and then the recipes. The caller owns the slice.
func All() []Bug { return append(Bugs(), Recipes()...) }
