package action

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"locksim/internal/soak"
)

const root = "../../.."

// job is a CI job of a module: its folder, and what its script has left.
type job struct {
	t   *testing.T
	dir string
	env []string
}

func newJob(t *testing.T, dir string, env ...string) *job {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	return &job{t, dir, env}
}

// run runs the script on a package, and returns its exit code and its output.
func (j *job) run(pkg string, env ...string) (code int, out string) {
	j.t.Helper()
	script, err := filepath.Abs(filepath.Join(root, ".github", "action", "test.sh"))
	if err != nil {
		j.t.Fatal(err)
	}
	results := j.path("results")
	if err := os.RemoveAll(results); err != nil {
		j.t.Fatal(err)
	}
	cmd := exec.CommandContext(j.t.Context(), "bash", script, pkg)
	cmd.Dir = j.dir
	cmd.Env = append(os.Environ(), "LOCKSIM_OUT="+results, "GITHUB_STEP_SUMMARY="+j.path("step"), "GITHUB_OUTPUT="+
		j.path("output"))
	cmd.Env = append(append(cmd.Env, j.env...), env...)
	b, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		j.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(b)
}

func (j *job) path(name string) string { return filepath.Join(j.dir, name) }

func (j *job) read(name string) string {
	j.t.Helper()
	b, err := os.ReadFile(j.path(name))
	if err != nil {
		j.t.Fatal(err)
	}
	return string(b)
}

// files are the names of the files that match a pattern.
func (j *job) files(pattern string) string {
	j.t.Helper()
	names, err := filepath.Glob(j.path(pattern))
	if err != nil {
		j.t.Fatal(err)
	}
	for i, name := range names {
		names[i], _ = filepath.Rel(j.dir, name)
	}
	return strings.Join(names, " ")
}

// fakeGo stands for go: the tests fail if a failure is stored, and otherwise as the file outcome says, which may name a
// failure that they store.
const fakeGo = `#!/bin/sh
case $1 in
list) pwd ;;
test)
	if [ "$(cat outcome)" = broken ]; then
		echo "./lock.go:3: undefined: x"
		exit 1
	fi
	stored=$(ls testdata/locksim/*.json 2>/dev/null)
	if [ -n "$stored" ]; then
		echo "--- FAIL: TestLock (0.01s)"
		exit 1
	fi
	found=$(cat outcome)
	case $found in
	pass) echo "    lock_test.go:9: mine: no violation in 100 runs. 40 of them really tested the lock"; echo "--- PASS: TestLock (0.01s)" ;;
	other) echo "--- FAIL: TestOther (0.01s)"; exit 1 ;;
	*)
		mkdir -p testdata/locksim
		printf '{\n  "test": "TestLock"\n}\n' >"testdata/locksim/$found.json"
		echo "# the story of $found" >"testdata/locksim/$found.md"
		echo "--- FAIL: TestLock (0.01s)"
		exit 1
		;;
	esac
	;;
esac
`

// What the job ends with, by what is stored, what the tests find, and when it is to fail.
func TestOutcomes(t *testing.T) {
	const known, sameShape, otherShape = "mine-stuck-pause-00000001", "mine-stuck-pause-00000002",
		"mine-corrupted-crash-00000003"
	for name, c := range map[string]struct {
		stored, outcome, failOn string
		code                    int
		summary                 string // matches the summary
		output                  string
		kept                    string
	}{
		"pass": {"", "pass", "any", 0,
			`^## locksim: no violation\n\n- mine: no violation in 100 runs\. 40`, "failures=0\nnew=0\n", ""},
		"a failure": {"", known, "any", 1,
			`^## locksim: 1 failure\n[\s\S]*<details open><summary>mine-stuck-pause-00000001</summary>\n\n# the story of mine`,
			"failures=1\nnew=1\n", known},
		"no build": {"", "broken", "any", 1, "^## locksim: the tests fail\n\n```text\n.*undefined: x",
			"failures=0\nnew=0\n", ""},
		"known": {known, "pass", "any", 1, `^## locksim: 1 failure\n`, "failures=1\nnew=0\n", known},
		"known, on new": {known, "pass", "new", 0, `^## locksim: 1 known, nothing new\n`, "failures=1\nnew=0\n",
			known},
		"known and again, on new": {known, sameShape, "new", 0, `^## locksim: 2 known, nothing new\n`, "failures=2\nnew=0\n",
			known + " " + sameShape},
		"known and other, on new": {known, otherShape, "new", 1, `^## locksim: 2 failures\n`, "failures=2\nnew=1\n",
			otherShape + " " + known},
		"first failure, on new":    {"", known, "new", 1, `^## locksim: 1 failure\n`, "failures=1\nnew=1\n", known},
		"known and no lock at all": {known, "other", "new", 1, `^## locksim: 1 failure\n`, "failures=1\nnew=0\n", known},
		"known and no build": {known, "broken", "new", 1, "^## locksim: the tests fail\n\n```text\n.*undefined: x",
			"failures=0\nnew=0\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "my lock") // with a space, as a checkout may have
			for file, text := range map[string]string{"bin/go": fakeGo, "outcome": c.outcome, "testdata/locksim/" + c.stored +
				".json": "{\n  \"test\": \"TestLock\"\n}\n"} {
				if strings.HasSuffix(file, "/.json") {
					continue
				}
				path := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			j := newJob(t, dir, "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "LOCKSIM_FAIL_ON="+c.failOn)
			code, out := j.run(".")
			if code != c.code {
				t.Errorf("exit code %d, want %d\n%s", code, c.code, out)
			}
			if summary := j.read("step"); !regexp.MustCompile(c.summary).MatchString(summary) {
				t.Errorf("the summary:\n%s", summary)
			}
			if got := j.read("output"); !strings.HasSuffix(got, c.output) ||
				!strings.HasPrefix(got, "folder="+j.path("results")) {
				t.Errorf("the output: %q", got)
			}
			var want []string
			for _, name := range strings.Fields(c.kept) {
				want = append(want, "results/my lock/"+name+".json")
			}
			if got := j.files("results/my lock/*.json"); got != strings.Join(want, " ") {
				t.Errorf("kept %s", got)
			}
			if c.stored != "" {
				if _, err := os.Stat(j.path("testdata/locksim/" + c.stored + ".json")); err != nil {
					t.Error("what was stored is gone")
				}
			}
		})
	}
}

func TestUsage(t *testing.T) {
	j := newJob(t, t.TempDir())
	for _, c := range []struct{ env, want string }{
		{"LOCKSIM_FAIL_ON=never", "LOCKSIM_FAIL_ON is 'never': set it to any or new"},
		{"LOCKSIM_OVERLAY=yes", "LOCKSIM_OVERLAY is 'yes': set it to true or false"},
	} {
		if code, out := j.run(".", c.env); code != 2 || !strings.Contains(out, c.want) {
			t.Errorf("%s: exit code %d\n%s", c.env, code, out)
		}
	}
}

// The quick start with the lock that fails: the artifacts have the failure with its page, and the summary its diagram.
func TestQuickstart(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(root, "examples", "quickstart")
	if err := os.Mkdir(filepath.Join(dir, "adapter"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum", "mutex.go", "mutex_test.go", "naive_test.go", "adapter/adapter.go"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"),
		[]byte(strings.Replace(string(text), "=> ../..", "=> "+checkout, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	j := newJob(t, dir, "NAIVE=1", "LOCKSIM_FLAGS=-vet=off -run=TestNaive")
	if code, out := j.run("."); code != 1 || !strings.Contains(out, "--- FAIL: TestNaive") {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	for _, name := range []string{"*/naive-*.json", "*/naive-*.html", "*/naive-*.md", "test.log", "summary.md"} {
		if j.files("results/"+name) == "" {
			t.Errorf("no %s in the artifacts", name)
		}
	}
	summary := j.read("step")
	for _, want := range []string{"## locksim: 1 failure\n", "```mermaid\nsequenceDiagram\n",
		"go test -count=1 -run '^TestNaive$'"} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary has no %q:\n%s", want, summary)
		}
	}
}

// The workflows, and the action that one of them uses, are as GitHub expects them.
func TestWorkflows(t *testing.T) {
	soak.Only(t, "it fetches and compiles actionlint")
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v: %v", files, err)
	}
	for i, name := range files {
		files[i], _ = filepath.Rel(root, name)
	}
	lint(t, root, files...)
}

// lint runs actionlint on workflows.
func lint(t *testing.T, dir string, files ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go",
		append([]string{"run", "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"}, files...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
