// Command cmd is locksim with the recipes of package articles in it.
//
//	go run ./cmd explore --lock A8-get-del
//	go run ./cmd explore --fence A16
//	go run ./cmd run ./a16.yaml --seed 8
//
//go:debug randseednop=0
package main

import (
	"os"

	"locksim/cmd/locksim/app"
	"locksim/examples/articles"
	"locksim/scenarios"
)

func main() {
	var locks []scenarios.Lock
	for _, r := range articles.Recipes() {
		if r.Try == nil {
			locks = append(locks, r.Lock)
		}
	}
	os.Exit(app.Main(locks...))
}
