// Package checkout finds the root of the checkout of locksim, in which the programs of this module work.
package checkout

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// module is the folder of the module of this package, relative to the root of the checkout.
var module = filepath.Join("internal", "dev")

// Root returns the root of the checkout: the folder of the main module, from anywhere in it and in this module. It is
// an error if the working directory is in no module, or if the go command is missing.
func Root() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the root of the checkout: %w", err)
	}
	file := strings.TrimSpace(string(out))
	if filepath.Base(file) != "go.mod" { // it is os.DevNull outside of a module
		return "", fmt.Errorf("find the root of the checkout: there is no go.mod in this folder or above it: run this in " +
			"the checkout")
	}
	dir := filepath.Dir(file)
	return strings.TrimSuffix(dir, string(filepath.Separator)+module), nil
}
