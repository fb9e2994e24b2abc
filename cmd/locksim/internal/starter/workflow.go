package starter

import (
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"locksim/cmd/locksim/internal/console"
)

// workflowName is the file of the workflow, from the top folder of the repository.
const workflowName = ".github/workflows/locksim.yml"

// workflow is what the template of the workflow knows.
type workflow struct {
	Locksim string // the path of the module of locksim
	Folder  string // of the module, from the top of the repository, such as "lock/"; "" for the top
	// Action is the name of the Action of locksim, such as you/locksim/.github/action@v1.2.3, or "": then the job
	// runs its script, which is in the module of locksim.
	Action string
	// Clone is the address of the repository that the job clones, and Commit the one that is checked out; "" where the
	// job has locksim without that.
	Clone, Commit string
	// Inside says that locksim is in a folder of the same repository.
	Inside  bool
	Overlay bool
}

// repository is where the workflow goes.
type repository struct {
	top    string // the top folder
	folder string // of the working directory in it, with a slash at the end; "" for the top
}

// here is the repository of the working directory. Without Git it is the working directory.
func here() repository {
	top, err := git(".", "rev-parse", "--show-toplevel")
	if err != nil {
		return repository{top: "."}
	}
	folder, err := git(".", "rev-parse", "--show-prefix")
	if err != nil {
		return repository{top: "."}
	}
	return repository{top: filepath.FromSlash(top), folder: folder}
}

// git is the output of Git in a folder, without the end of the last line.
func git(dir string, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
	return strings.TrimRight(string(out), "\r\n"), err
}

// workflow is the workflow for a module that takes locksim from an origin. It is an error if a CI job cannot get
// locksim from there.
func (o origin) workflow(at repository, overlay bool) (*workflow, error) {
	w := &workflow{Locksim: console.OwnModule(), Folder: at.folder, Overlay: overlay}
	if o.replace == "" {
		if m := onGitHub.FindStringSubmatch(w.Locksim); m != nil {
			w.Action = m[1] + "/.github/action@" + o.version
		}
		return w, nil
	}
	if inside(at.top, o.checkout) {
		w.Inside = true
		return w, nil
	}
	if _, err := exec.LookPath("git"); err != nil {
		return nil, fmt.Errorf("--ci: there is no git in PATH, which says from where a CI job gets the checkout in %s: "+
			"install it, or leave --ci out", console.Quote(o.replace))
	}
	remote, err := git(o.checkout, "remote", "get-url", "origin")
	if err != nil {
		return nil, fmt.Errorf("--ci: a CI job cannot get locksim: the checkout in %s has no remote: push it to a "+
			"repository that the job can read, and git remote add origin URL; or keep it inside this repository",
			console.Quote(o.replace))
	}
	if w.Clone, err = publicAddress(remote); err != nil {
		return nil, err
	}
	if w.Commit, err = git(o.checkout, "rev-parse", "HEAD"); err != nil {
		return nil, fmt.Errorf("--ci: the checkout of locksim in %s has no commit: commit and push it first",
			console.Quote(o.replace))
	}
	return w, nil
}

// onGitHub matches the path of a module at the top of a repository of GitHub.
var onGitHub = regexp.MustCompile(`^github\.com/([\w.-]+/[\w.-]+?)(?:/v[0-9]+)?$`)

// inside reports whether a folder is within another one.
func inside(top, dir string) bool {
	top, err := resolved(top)
	if err != nil {
		return false
	}
	dir, err = resolved(dir)
	if err != nil {
		return false
	}
	within, err := filepath.Rel(top, dir)
	return err == nil && filepath.IsLocal(within)
}

// resolved is the absolute path of a folder, without symbolic links.
func resolved(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// overSSH matches the short form of an address that Git reaches by SSH.
var overSSH = regexp.MustCompile(`^(?:[\w.-]+@)?([\w.-]+\.[\w-]+):([^/].*)$`)

// publicAddress is the address from which a CI job clones a repository, by HTTPS and without the name or password of
// whoever has cloned it here.
func publicAddress(remote string) (string, error) {
	if m := overSSH.FindStringSubmatch(remote); m != nil {
		remote = "https://" + m[1] + "/" + m[2]
	}
	u, err := url.Parse(remote)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "ssh" && u.Scheme != "git" {
		return "", errors.New("--ci: a CI job cannot get locksim: the remote origin of its checkout is a folder of this " +
			"machine: push locksim to a repository that the job can read, and git remote set-url origin URL")
	}
	if u.Scheme == "ssh" || u.Scheme == "git" {
		u.Scheme, u.Host = "https", u.Hostname()
	}
	u.User = nil
	return u.String(), nil
}
