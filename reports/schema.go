package reports

import (
	"embed"
	"fmt"
	"strings"
)

//go:generate go -C ../internal/dev run ./schemas
//go:embed schema/*.schema.json
var schemas embed.FS

// Schemas are the names of the documents that [Schema] describes, in order.
func Schemas() []string {
	return []string{"compare", "explore", "init", "judge", "leaders", "list", "matrix", "overlay", "review", "run",
		"scenario", "serve", "show", "state", "sweep", "triage", "tune", "version", "worlds"}
}

// Schema is the JSON Schema (draft 2020-12) of a document that locksim prints: of what the command of that name prints
// with --json and, but for list and compare, stores with --out. A "triage" is the triage.json of explore --against. A
// "state" is the world at a step, which replay --until-step prints; an "init" is also what report prints of a run. A
// "worlds" is what matrix --live prints and stores. A "leaders" is what tune leaders prints and stores. A "review" is
// what report --review prints and stores. The run of a violation that was found, found-1.json, is a "run"; what merge
// puts together has the schema of the command whose shards they are. A schema describes the version that this locksim
// writes, and refuses what it does not write. It is generated from the Go types that are marshalled, by
// internal/dev/schemas.
//
// A "scenario" is a scenario file, which is YAML; its schema is for editors. The parser refuses more than the schema,
// such as a fault that strikes a client that is not there.
//
// Schema returns an error for any other name. Schema is safe for concurrent use.
func Schema(name string) ([]byte, error) {
	b, err := schemas.ReadFile("schema/" + name + ".schema.json")
	if err != nil {
		return nil, fmt.Errorf("there is no schema %q: choose one of %s", name, strings.Join(Schemas(), ", "))
	}
	return b, nil
}
