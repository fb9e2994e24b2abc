package consul

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"locksim/internal/soak"
)

// The tests that consul/api has of its own Lock and Semaphore, as written but for where they run, pass on the simulated
// servers: 16 of 18. The two of MonitorRetry listen on the network of this machine, and cannot run in a world.
func TestOwnTestsOfTheClient(t *testing.T) {
	soak.Only(t, "it compiles the tests of consul/api")
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/hashicorp/consul/api").Output()
	if err != nil {
		t.Fatal(err)
	}
	from, dir := strings.TrimSpace(string(out)), t.TempDir()
	files, err := filepath.Glob(filepath.Join(from, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read := func(path string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	test := regexp.MustCompile(`(?m)^func (TestAPI_\w+)\(t \*testing\.T\) \{\n\t*(t\.Parallel\(\))?`)
	names := 0
	for _, file := range files {
		name, text := filepath.Base(file), read(file)
		if strings.HasSuffix(name, "_test.go") {
			if name != "lock_test.go" && name != "semaphore_test.go" {
				continue
			}
			names += len(test.FindAllString(text, -1))
			text = test.ReplaceAllString(text,
				"func $1(t *testing.T) { inWorld(t, played$1) }\n\nfunc played$1(t *testing.T) {")
		}
		write(name, text)
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	write("harness_test.go", read("testdata/harness.go.txt"))
	mod := read("../go.mod")
	mod = strings.Replace(mod, "module locksim/examples/leases", "module consulapi", 1)
	mod = regexp.MustCompile(`=> (\.\./\.\.\S*)`).ReplaceAllStringFunc(mod, func(s string) string {
		return "=> " + filepath.Join(root, strings.TrimPrefix(s, "=> ../.."))
	})
	write("go.mod", mod)
	write("go.sum", read("../go.sum"))
	for _, args := range [][]string{{"mod", "tidy"}, {"test", "-count=1", "-v", "-skip", "MonitorRetry", "."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		out, err = cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	if passed := strings.Count(string(out), "\n--- PASS: "); names != 18 || passed != 16 {
		t.Errorf("%d of %d tests pass, want 16 of 18:\n%s", passed, names, out)
	}
}
