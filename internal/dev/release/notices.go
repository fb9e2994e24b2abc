package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// notices are the licences of what is linked into a program: of Go, and of each module that has a package in it.
func notices(ctx context.Context, root string, info *buildinfo.BuildInfo) ([]byte, error) {
	dirs, err := foldersOf(ctx, root, info.Deps)
	if err != nil {
		return nil, err
	}
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "Licences of what is linked into locksim %s.\n", info.Main.Version)
	if err := licence(&b, "Go "+info.GoVersion, strings.TrimSpace(string(goroot))); err != nil {
		return nil, err
	}
	for _, m := range info.Deps {
		if err := licence(&b, m.Path+" "+m.Version, dirs[m.Path]); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

func foldersOf(ctx context.Context, root string, modules []*debug.Module) (map[string]string, error) {
	args := []string{"mod", "download", "-json"}
	for _, m := range modules {
		if m.Replace != nil {
			return nil, fmt.Errorf("%s is replaced: a release has what go.mod requires", m.Path)
		}
		args = append(args, m.Path+"@"+m.Version)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go mod download: %w", err)
	}
	dirs := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct{ Path, Dir string }
		if err := dec.Decode(&m); errors.Is(err, io.EOF) {
			return dirs, nil
		} else if err != nil {
			return nil, err
		}
		dirs[m.Path] = m.Dir
	}
}

var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// licence writes the licence of what is in a folder. It is an error if there is none.
func licence(w io.Writer, title, dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("the licence of %s: %w", title, err)
	}
	files = slices.DeleteFunc(files, func(f os.DirEntry) bool { return f.IsDir() || !licenceName.MatchString(f.Name()) })
	if len(files) == 0 {
		return fmt.Errorf("%s has no file with its licence in %s: see whether it may be passed on", title, dir)
	}
	line := strings.Repeat("=", 100)
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "\n%s\n%s, %s\n%s\n\n%s\n", line, title, f.Name(), line,
			bytes.TrimSpace(text)); err != nil {
			return err
		}
	}
	return nil
}
