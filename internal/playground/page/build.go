package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Engine is the playground as a program for browsers.
type Engine struct {
	// Program is the program, as WebAssembly.
	Program []byte
	// Glue is the script of the same Go that starts it.
	Glue string
}

// program is the package of the engine, in its module.
const program = "./internal/playground/wasm"

// Build builds the engine from a checkout of locksim, with the Go that is installed. The first time that takes minutes.
func Build(ctx context.Context, checkout string) (*Engine, error) {
	root, err := goTool(ctx, checkout, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	var glue []byte
	for _, folder := range []string{"lib", "misc"} { // since Go 1.24, before
		if glue, err = os.ReadFile(filepath.Join(strings.TrimSpace(root), folder, "wasm", "wasm_exec.js")); err == nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: it is a part of Go, which this installation lacks", err)
	}
	dir, err := os.MkdirTemp("", "locksim-playground-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "playground.wasm")
	if _, err := goTool(ctx, checkout, "build", "-trimpath", "-ldflags=-s -w", "-o", file, program); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(file)
	return &Engine{b, string(glue)}, err
}

// goTool runs the go command for a browser.
func goTool(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("%w: it takes Go to build the playground", err)
	}
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return string(out), nil
}
