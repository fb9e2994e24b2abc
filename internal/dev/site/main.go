// Site writes the web site of locksim into a folder: a front page in two languages, the playground, the gallery as
// pages, and the documents of the checkout, with an address for each cell of the tables of verdicts. The folder needs
// no server and no network: it can be opened from disk, or put anywhere.
//
//	go -C internal/dev run ./site DIR
//
// Links between the documents lead to the pages made of them. What is not on the site, such as source files, is named
// without a link. A link of the site that leads nowhere is an error.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"locksim/internal/dev/checkout"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "site: give the folder to write into, such as reports/out/site")
		os.Exit(2)
	}
	root, err := checkout.Root()
	if err == nil {
		err = write(context.Background(), root, os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// write writes the site of a checkout into a folder, which must be empty or have an older site.
func write(ctx context.Context, root, dir string) error {
	s := &site{root: root, dir: dir}
	if err := s.clear(); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{s.gallery, s.playground, s.documents, s.front, s.check} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	fmt.Printf("%s: %d pages, %d links between them, %d links to other sites\n", filepath.Join(dir, "index.html"), s.pages,
		s.inner, s.outer)
	return nil
}
