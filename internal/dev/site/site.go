package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"locksim/internal/playground/page"
)

// site is a site that is being written.
type site struct {
	root, dir           string
	pages, inner, outer int
}

// stamp is the file by which a folder is known as a site, so that nothing else is ever removed.
const stamp = ".locksim-site"

// clear empties the folder of an older site.
func (s *site) clear() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		if _, err := os.Stat(filepath.Join(s.dir, stamp)); err != nil {
			return fmt.Errorf("%s has files that are no site of locksim: give an empty folder", s.dir)
		}
		if err := os.RemoveAll(s.dir); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, stamp), nil, 0o644)
}

// gallery plays the stories of the gallery, and writes a page of each.
func (s *site) gallery(ctx context.Context) error {
	dir, err := filepath.Abs(filepath.Join(s.dir, "reports", "gallery"))
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "run", "./cmd/locksim", "gallery", "--html", dir)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.root, os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("write the gallery: %w", err)
	}
	return nil
}

func (s *site) playground(ctx context.Context) error {
	engine, err := page.Build(ctx, s.root)
	if err != nil {
		return fmt.Errorf("build the playground: %w", err)
	}
	b, err := page.Make(engine, page.Options{Front: "index.html", FrontChinese: "index.zh.html"})
	if err != nil {
		return err
	}
	return s.put(page.Name, b)
}

// put writes a file of the site, by its name with slashes.
func (s *site) put(name string, b []byte) error {
	file := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o644)
}

// exists reports whether the site has a file.
func (s *site) exists(name string) bool {
	info, err := os.Stat(filepath.Join(s.dir, filepath.FromSlash(name)))
	return err == nil && info.Mode().IsRegular()
}
