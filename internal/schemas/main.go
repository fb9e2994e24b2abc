// Schemas writes the JSON Schemas of what locksim prints as JSON, from the Go
// types that are marshalled:
//
//	go run ./internal/schemas
//
// It runs in the root of a checkout, and writes reports/schema.
//
// A field is described by its doc comment, without the name of the field: "Seed
// is the seed of the run" becomes "The seed of the run". A field without omitempty
// is required, and nothing else than the fields is allowed. A string type with
// constants has these for values. Numbers are not negative, texts and lists that
// may be absent are not empty, and nothing is null, unless a jsonschema tag says
// otherwise; the tags are those of github.com/invopop/jsonschema, and
// minProperties. What neither a type nor a tag can say stands in documents.go.
//
// A type is in $defs under its own name in snake case, whatever its package. Two
// types of one name in one document are an error, until the table names in
// documents.go gives one of them another name.
//
// The published command embeds the files and knows nothing of the library.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := write("."); err != nil {
		fmt.Fprintln(os.Stderr, "schemas:", err)
		os.Exit(1)
	}
}

// write writes the schemas into the checkout in the folder root, from which it
// reads the comments.
func write(root string) error {
	for _, d := range documents {
		text, err := d.schema(root)
		if err != nil {
			return fmt.Errorf("schema of %s: %w", d.name, err)
		}
		if err := os.WriteFile(filepath.Join(root, "reports", "schema", d.name+".schema.json"), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
