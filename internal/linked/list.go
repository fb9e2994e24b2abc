package linked

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// module is what go list says of a module.
type module struct {
	Path, Version string
	Replace       *replacement
	GoMod         string // the file; "" if it is not on this machine
}

// replacement is the module that replaces another, or the folder, without a version.
type replacement struct{ Path, Version string }

// version is that of a module, or of what replaces it.
func (m module) version() string {
	switch r := m.Replace; {
	case r == nil:
		return m.Version
	case r.Path == m.Path:
		return r.Version
	default:
		return strings.TrimSpace(r.Path + " " + r.Version)
	}
}

func (m module) folder() bool { return m.Replace != nil && m.Replace.Version == "" }

// lister lists modules of the build of the module in a folder.
type lister func(dir string, paths []string) ([]module, error)

// goList asks the Go command, which looks at this machine only, and writes nothing.
func goList(dir string, paths []string) ([]module, error) {
	const patience = 20 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	args := []string{"list", "-e", "-m", "-mod=readonly", "-json=Path,Version,Replace,GoMod"}
	cmd := exec.CommandContext(ctx, "go", append(args, paths...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PWD="+dir, "GOPROXY=off", "GOTOOLCHAIN=local")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []module
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var m module
		switch err := dec.Decode(&m); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("go list: %w", err)
		}
		all = append(all, m)
	}
}
