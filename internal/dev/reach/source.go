package reach

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// theCommand is the command that searches, a package of this module, whose folder is relative to the root of the
// checkout.
const (
	theCommand = "./reach/locksim"
	itsModule  = "internal/dev"
)

// identify returns a hash of what decides the results besides the mutants: the version of Go, the modules, the source
// of the command, and the scenario of the sweep.
func identify(ctx context.Context, root, scenario string) (string, error) {
	source, err := sources(ctx, root)
	if err != nil {
		return "", fmt.Errorf("list the source of locksim: %w", err)
	}
	hash := sha256.New()
	_, _ = io.WriteString(hash, runtime.Version()) // it never fails
	for _, file := range append(source, scenario) {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintf(hash, "\n%s %d\n%s", filepath.ToSlash(name), len(text), text)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// sources are the files of the command that are in the checkout, with those of its module that name the libraries.
func sources(ctx context.Context, root string) ([]string, error) {
	own := filepath.Join(root, itsModule)
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-json=Dir,GoFiles,EmbedFiles,Module", theCommand)
	cmd.Dir = own
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	files := []string{filepath.Join(own, "go.mod"), filepath.Join(own, "go.sum")}
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p struct {
			Dir                 string
			GoFiles, EmbedFiles []string
			Module              *struct{ Dir string }
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return files, nil
		} else if err != nil {
			return nil, err
		}
		if p.Module == nil || p.Module.Dir != root && p.Module.Dir != own {
			continue
		}
		for _, name := range append(p.GoFiles, p.EmbedFiles...) {
			files = append(files, filepath.Join(p.Dir, name))
		}
	}
}

// commit names the commit of the source, and whether the source differs from it.
func commit(ctx context.Context, root string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--exclude=*")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("name the commit: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
