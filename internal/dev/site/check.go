package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	linked   = regexp.MustCompile(`<(?:a|link|img|script|iframe)\b[^>]*?\s(href|src)="([^"]*)"`)
	named    = regexp.MustCompile(`\sid="([^"]*)"`)
	embedded = regexp.MustCompile(`(?s)<script.*?</script>|<style.*?</style>`)
)

// check follows the links of all pages. A page may lead to another site, and load nothing from it.
func (s *site) check(context.Context) error {
	ids, pages := map[string]map[string]bool{}, map[string]string{}
	err := fs.WalkDir(os.DirFS(s.dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path.Ext(name) != ".html" {
			return err
		}
		b, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		pages[name], ids[name] = embedded.ReplaceAllString(string(b), ""), map[string]bool{}
		for _, m := range named.FindAllStringSubmatch(pages[name], -1) {
			ids[name][m[1]] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.pages = len(pages)
	var wrong []error
	for name, text := range pages {
		for _, m := range linked.FindAllStringSubmatch(text, -1) {
			if err := s.follow(name, m[1], m[2], ids); err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", name, err))
			}
		}
	}
	return errors.Join(wrong...)
}

func (s *site) follow(from, kind, to string, ids map[string]map[string]bool) error {
	u, err := url.Parse(strings.ReplaceAll(to, "&amp;", "&"))
	if err != nil {
		return err
	}
	switch {
	case u.Scheme == "data" || u.Scheme == "mailto" || to == "":
		return nil
	case u.Scheme != "" && kind == "src":
		return fmt.Errorf("it loads %s from another site", to)
	case u.Scheme != "":
		s.outer++
		return nil
	}
	s.inner++
	file := from
	if u.Path != "" {
		file = path.Join(path.Dir(from), u.Path)
	}
	if !s.exists(file) {
		return fmt.Errorf("the link %s leads nowhere", to)
	}
	if u.Fragment != "" && path.Ext(file) == ".html" && !ids[file][u.Fragment] {
		return fmt.Errorf("the link %s leads to no such place on %s", to, file)
	}
	return nil
}
