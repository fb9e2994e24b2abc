package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"locksim/internal/overlay"
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
	env, err := goTool(ctx, checkout, "env", "-json", "GOROOT", "GOVERSION", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	var installed overlay.Toolchain
	if err := json.Unmarshal([]byte(env), &installed); err != nil {
		return nil, err
	}
	var glue []byte
	for _, folder := range []string{"lib", "misc"} { // since Go 1.24, before
		if glue, err = os.ReadFile(filepath.Join(installed.GOROOT, folder, "wasm", "wasm_exec.js")); err == nil {
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
	args := []string{"build", "-trimpath", "-ldflags=-s -w", "-o", file}
	if !installed.Cached() { // whose files go build replaces
		list, err := withoutTLS(ctx, checkout, dir)
		if err != nil {
			return nil, err
		}
		args = append(args, "-overlay", list)
	}
	if _, err := goTool(ctx, checkout, append(args, program)...); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(file)
	return &Engine{b, string(glue)}, err
}

// withoutTLS writes a build overlay into a folder that has assets/tls.go.txt in place of crypto/tls, and returns its
// path.
func withoutTLS(ctx context.Context, checkout, dir string) (string, error) {
	out, err := goTool(ctx, checkout, "list", "-json=Dir,GoFiles", "crypto/tls")
	if err != nil {
		return "", err
	}
	var tls struct {
		Dir     string
		GoFiles []string
	}
	if err := json.Unmarshal([]byte(out), &tls); err != nil {
		return "", err
	}
	stub, list := filepath.Join(dir, "tls.go"), filepath.Join(dir, "overlay.json")
	replace := map[string]string{}
	for _, name := range tls.GoFiles {
		replace[filepath.Join(tls.Dir, name)] = "" // it is not there
	}
	replace[filepath.Join(tls.Dir, "tls.go")] = stub
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	return list, errors.Join(os.WriteFile(stub, []byte(asset("tls.go.txt")), 0o600), os.WriteFile(list, b, 0o600))
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
