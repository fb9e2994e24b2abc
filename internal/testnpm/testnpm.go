// Package testnpm has packages of the npm registry for tests: programs that read what locksim writes. They are
// installed once, and kept in the user's cache folder, since an install takes a minute of a core.
package testnpm

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Modules is a folder node_modules with packages, each NAME@VERSION, and what they need. Without node, npm or the
// registry the test is skipped, or fails with LOCKSIM_REQUIRE_LIVE=1. The folder is shared: do not write into it.
// Several processes may call Modules at the same time.
func Modules(t testing.TB, packages ...string) string {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			missing(t, program)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir() // an account without a home
	}
	dir, err := install(filepath.Join(cache, "locksim"), packages)
	if err != nil {
		t.Log(err)
		missing(t, strings.Join(packages, " and ")+" from the npm registry")
	}
	return filepath.Join(dir, "node_modules")
}

// missing ends a test that lacks a component.
func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("LOCKSIM_REQUIRE_LIVE") == "1" {
		t.Fatalf("%s is missing, and LOCKSIM_REQUIRE_LIVE=1", what)
	}
	t.Skipf("%s is missing; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", what)
}

// install returns the folder of these packages below cache. One that is not there yet is made beside it and renamed: it
// is whole, or it does not exist.
func install(cache string, packages []string) (string, error) {
	sum := sha256.Sum256([]byte(strings.Join(packages, "\n")))
	dir := filepath.Join(cache, "npm-"+hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	part, err := os.MkdirTemp(cache, "part-")
	if err != nil {
		return "", err
	}
	args := []string{"install", "--prefix", part, "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline",
		"--fetch-retries=1"}
	if out, err := exec.Command("npm", append(args, packages...)...).CombinedOutput(); err != nil {
		return "", errors.Join(fmt.Errorf("npm install: %w\n%s", err, out), os.RemoveAll(part))
	}
	err = os.Rename(part, dir)
	if _, made := os.Stat(dir); err != nil && made == nil { // another process was faster
		return dir, os.RemoveAll(part)
	}
	return dir, err
}
