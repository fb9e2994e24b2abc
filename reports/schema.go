package reports

import (
	"embed"
	"fmt"
	"strings"
)

//go:generate go -C .. run ./internal/schemas
//go:embed schema/*.schema.json
var schemas embed.FS

// Schemas are the names of the documents that [Schema] describes, in order.
func Schemas() []string { return []string{"explore", "list", "matrix", "run", "sweep"} }

// Schema is the JSON Schema (draft 2020-12) of a document: of what the command of
// that name prints with --json and, except list, stores with --out. The run of a
// violation that was found, found-1.json, is a "run"; the output of merge is an
// "explore" or a "sweep". A schema describes the version that this locksim writes,
// and refuses every other document. The command internal/schemas generates it from
// the Go types that are marshalled.
//
// Schema returns an error for any other name. Schema is safe for concurrent use.
func Schema(name string) ([]byte, error) {
	b, err := schemas.ReadFile("schema/" + name + ".schema.json")
	if err != nil {
		return nil, fmt.Errorf("there is no schema %q: choose one of %s", name, strings.Join(Schemas(), ", "))
	}
	return b, nil
}
