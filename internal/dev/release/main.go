// Release builds the command locksim for several systems, and writes an archive of each and their checksums:
//
//	go -C internal/dev run ./release                          # make release: into reports/out/release
//	go -C internal/dev run ./release -targets linux/arm64 -out DIR
//	go -C internal/dev run ./release -targets linux/amd64 -files DIR
//
// An archive has the program, the page of its playground, the licence of locksim, and those of all that is linked into
// the program. Its name has the version that Go takes from Git: the tag of the commit, or a version with its time. The
// same commit and the same Go give the same archives, byte for byte. With -files the files of one system go into a
// folder, without an archive: the image of a container is made of them, also where Git is missing.
//
// The exit code is 2 for wrong flags, and 1 if a program cannot be built.
package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"locksim/internal/dev/checkout"
	"locksim/internal/playground/page"
)

// systems are those of a release.
var systems = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

func main() {
	targets := flag.String("targets", strings.Join(systems, ","), "build for these `SYSTEMS`, each with its architecture")
	out := flag.String("out", "", "write archives and SHA256SUMS into `DIR` (default reports/out/release)")
	files := flag.String("files", "", "write the files of one system into `DIR`, and no archive")
	flag.Parse()
	err := validate(*targets, *out, *files, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(2)
	}
	root, err := checkout.Root()
	if err == nil {
		err = release(context.Background(), root, strings.Split(*targets, ","), *out, *files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// validate refuses flags that make no sense.
func validate(targets, out, files string, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q: there are only flags: see -help", args[0])
	}
	for _, target := range strings.Split(targets, ",") {
		if system, arch, ok := strings.Cut(target, "/"); !ok || system == "" || arch == "" {
			return fmt.Errorf("-targets %s: name a system and an architecture, such as windows/amd64", target)
		}
	}
	switch {
	case files != "" && out != "":
		return errors.New("-files and -out: choose one")
	case files != "" && strings.Contains(targets, ","):
		return errors.New("-files: name one system with -targets")
	}
	return nil
}

// release builds the programs of the checkout at root, one after another.
func release(ctx context.Context, root string, targets []string, out, files string) error {
	temp, err := os.MkdirTemp("", "locksim-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	if out == "" {
		out = filepath.Join(root, "reports", "out", "release")
	}
	for _, dir := range []string{out, files} {
		if dir == "" || dir == out && files != "" {
			continue
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	engine, err := page.Build(ctx, root)
	if err != nil {
		return fmt.Errorf("build the playground: %w", err)
	}
	playground, err := page.Make(engine, page.Options{})
	if err != nil {
		return err
	}
	var archives []string
	for _, target := range targets {
		p, err := build(ctx, root, temp, target, files == "")
		if err != nil {
			return err
		}
		content, err := p.content(ctx, root, playground)
		if err != nil {
			return err
		}
		if files != "" {
			return unpacked(files, content)
		}
		name := filepath.Join(out, p.archiveName())
		if err := archived(name, p.made, content); err != nil {
			return err
		}
		fmt.Println(name)
		archives = append(archives, name)
	}
	sums, err := checksums(filepath.Join(out, "SHA256SUMS"), archives)
	if err == nil {
		fmt.Println(sums)
	}
	return err
}

// program is the command as it was built for one system.
type program struct {
	path         string
	system, arch string
	info         *buildinfo.BuildInfo
	// made is the time of its commit, and zero if that is not known.
	made time.Time
}

// build builds the command for one system, into a folder. A release has to know its commit.
func build(ctx context.Context, root, dir, target string, known bool) (*program, error) {
	p := &program{}
	p.system, p.arch, _ = strings.Cut(target, "/")
	p.path = filepath.Join(dir, p.system+"-"+p.arch, p.name())
	stamp := "-buildvcs=auto"
	if known {
		stamp = "-buildvcs=true"
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", stamp, "-ldflags=-s -w", "-o", p.path, "./cmd/locksim")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0", "GOOS="+p.system, "GOARCH="+p.arch)
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("build for %s: %w", target, err)
	}
	var err error
	if p.info, err = buildinfo.ReadFile(p.path); err != nil {
		return nil, err
	}
	if known {
		if err := versioned(p.info.Main.Version); err != nil {
			return nil, fmt.Errorf("%s: %w", root, err)
		}
	}
	if at := p.setting("vcs.time"); at != "" {
		p.made, err = time.Parse(time.RFC3339, at)
	}
	return p, err
}

// versioned refuses the version of a program of which Go does not know what it was built from.
func versioned(version string) error {
	if version == "" || version == "(devel)" {
		return errors.New("the version of this checkout is not known to Go: make a release in a clone, with its tags, and " +
			"not in a worktree of Git")
	}
	return nil
}

// name is that of the file of the program.
func (p *program) name() string {
	if p.system == "windows" {
		return "locksim.exe"
	}
	return "locksim"
}

// setting is one of the settings with which Go has built the program.
func (p *program) setting(key string) string {
	for _, s := range p.info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// archiveName has the version, the system and the architecture.
func (p *program) archiveName() string {
	name := fmt.Sprintf("locksim_%s_%s_%s", p.info.Main.Version, p.system, p.arch)
	if p.system == "windows" {
		return name + ".zip"
	}
	return name + ".tar.gz"
}

// content are the files of the archive.
func (p *program) content(ctx context.Context, root string, playground []byte) ([]entry, error) {
	binary, err := os.ReadFile(p.path)
	if err != nil {
		return nil, err
	}
	licence, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		return nil, err
	}
	notices, err := notices(ctx, root, p.info)
	if err != nil {
		return nil, err
	}
	return []entry{{p.name(), 0o755, binary}, {page.Name, 0o644, playground}, {"LICENSE", 0o644, licence},
		{"LICENSES-OF-DEPENDENCIES", 0o644, notices}}, nil
}
