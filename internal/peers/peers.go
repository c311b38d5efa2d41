// Package peers runs independent implementations of what this repository
// implements, so that tests compare against them and not against themselves.
//
// What a test asks for is installed once, with the ordinary package clients,
// into the folder .cache of the repository. Where that is not possible a test is
// skipped; under CI (CI=true) it fails. Only tests import this package.
package peers

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Peer is an installed environment in which scripts can be run.
type Peer struct {
	dir     string
	command func(script string) *exec.Cmd
}

// Node makes npm packages ("name@version") available to scripts for Node.js.
func Node(t testing.TB, packages ...string) *Peer {
	t.Helper()
	dir := installed(t, "npm", packages, func(dir string) error {
		if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private": true}`), 0o666); err != nil {
			return err
		}
		args := []string{"install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--prefix", dir}
		return run("npm", append(args, packages...)...)
	})
	return &Peer{dir: dir, command: func(script string) *exec.Cmd {
		cmd := exec.Command("node", script)
		cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(dir, "node_modules"))
		return cmd
	}}
}

// Python makes packages of PyPI ("name==version") available to Python scripts.
func Python(t testing.TB, packages ...string) *Peer {
	t.Helper()
	dir := installed(t, "python", packages, func(dir string) error {
		if err := run("python3", "-m", "venv", dir); err != nil {
			return err
		}
		args := []string{"install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"}
		return run(filepath.Join(dir, "bin", "pip"), append(args, packages...)...)
	})
	return &Peer{dir: dir, command: func(script string) *exec.Cmd {
		return exec.Command(filepath.Join(dir, "bin", "python"), script)
	}}
}

// Dir is the folder into which the packages were installed.
func (p *Peer) Dir() string { return p.dir }

// Run runs a script file with the given input and returns its output. A script
// that fails ends the test with what it wrote to standard error.
func (p *Peer) Run(t testing.TB, script string, input io.Reader) []byte {
	t.Helper()
	cmd := p.command(script)
	var out, log bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = input, &out, &log
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, log.Bytes())
	}
	return out.Bytes()
}

// installed returns the folder for these packages, filled by install if this is
// the first time. Processes that want the same one wait for each other.
func installed(t testing.TB, kind string, packages []string, install func(dir string) error) string {
	t.Helper()
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(strings.Join(packages, "\n")))
	dir := filepath.Join(root, ".cache", "peers", kind+"-"+hex.EncodeToString(sum[:6]))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	unlock, err := lock(dir + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	done := filepath.Join(dir, ".complete")
	if _, err := os.Stat(done); err == nil {
		return dir
	}
	if err := install(dir); err != nil {
		what := fmt.Sprintf("%s packages %v cannot be installed: %v", kind, packages, err)
		if os.Getenv("CI") == "true" {
			t.Fatal(what)
		}
		t.Skip(what)
	}
	if err := os.WriteFile(done, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// repository is the folder of the go.mod above the test.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("peers: the test does not run inside the repository")
		}
		dir = filepath.Dir(dir)
	}
}

func run(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
