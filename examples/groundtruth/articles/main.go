// Command articles has the recipes of locksim/examples/articles.
package main

import (
	"locksim/examples/articles"
	"locksim/examples/groundtruth"
	"locksim/scenarios"
)

func main() {
	locks := map[string]scenarios.Lock{}
	for _, r := range articles.Recipes() {
		locks[r.ID] = r.Lock
	}
	groundtruth.Main(locks)
}
