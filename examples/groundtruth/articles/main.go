// Command articles has the recipes of locksim/examples/articles.
package main

import (
	"locksim/examples/articles"
	"locksim/examples/groundtruth"
	"locksim/scenarios"
)

func main() {
	locks, judges := map[string]scenarios.Lock{}, map[string]groundtruth.Judge{}
	for _, r := range articles.Recipes() {
		if r.Try != nil {
			judges[r.ID] = r.Check
		} else {
			locks[r.ID] = r.Lock
		}
	}
	groundtruth.MainWith(locks, judges)
}
