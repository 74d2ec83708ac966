// Package kubernetes_test runs the objects of examples/kubernetes and examples/kubernetes-nightly on a real cluster of
// one node, which it builds and starts itself: "make kubernetes", as root. It is a separate module, since it needs all
// of Kubernetes.
//
// Without -cluster only TestTypes runs: it decodes the objects of the examples with Kubernetes' own types. What cannot be run is listed at the end, and never counts as passed.
//
// Limits: one node, so no node is ever lost (an eviction stands in for that); the volumes are directories of the machine.
// The network between nodes, a storage driver and a registry are not part of it.
package kubernetes_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	onCluster = flag.Bool("cluster", false, "run the cases on a cluster")
	toolsDir  = flag.String("tools", "", "keep the programs of the cluster in this directory; the user's cache by default")
)

// A cluster is a running one.
type cluster struct {
	tools, state string
	first        int // the first process in the namespaces, by its number outside of them
	api          *http.Client
}

// needs returns what is missing on this machine, or "".
func needs() string {
	if runtime.GOOS != "linux" {
		return "Linux"
	}
	if os.Geteuid() != 0 {
		return "root"
	}
	for _, program := range []string{"apt-get", "dpkg", "unshare", "nsenter", "ip", "openssl", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			return program
		}
	}
	return ""
}

// start builds the tools and starts a cluster, which ends with the test.
func start(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{tools: *toolsDir}
	if c.tools == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		c.tools = filepath.Join(cache, "policyscan-kubernetes")
	}
	began := time.Now()
	build := exec.Command("./cluster.sh", "tools")
	build.Env = append(os.Environ(), "KUBERNETES_TOOLS="+c.tools)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cluster.sh tools: %v\n%s", err, out)
	}
	t.Logf("the programs of the cluster are ready after %.0f s", time.Since(began).Seconds())

	state, err := os.MkdirTemp("", "policyscan-kubernetes-")
	if err != nil {
		t.Fatal(err)
	}
	c.state = state
	archive(t, filepath.Join(state, "pause.tar"), image{
		name: "policyscan.test/pause:1", files: map[string]string{"pause": filepath.Join(c.tools, "bin/pause")},
		config: map[string]any{"Entrypoint": []string{"/pause"}},
	})
	began = time.Now()
	outer, ended := c.run(t)
	for !exists(filepath.Join(state, "ready")) {
		select {
		case err := <-ended:
			out, _ := exec.Command("sh", "-c", "tail -n 5 "+state+"/log/*; cat "+state+"/said").CombinedOutput()
			t.Fatalf("the cluster ended while it started: %v\n%s", err, out)
		case <-time.After(200 * time.Millisecond):
		}
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", outer, outer))
	if err != nil {
		t.Fatal(err)
	}
	if c.first, err = strconv.Atoi(strings.TrimSpace(string(children))); err != nil {
		t.Fatalf("the children of unshare: %q", children)
	}
	c.openAPI(t)
	t.Logf("the node is ready after %.1f s", time.Since(began).Seconds())
	return c
}

// run starts cluster.sh run, which ends when this process ends, however it does. It returns the number of the process
// and a channel that says that it has ended.
func (c *cluster) run(t *testing.T) (int, <-chan error) {
	t.Helper()
	said, err := os.Create(filepath.Join(c.state, "said"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("./cluster.sh", "run")
	cmd.Env = append(os.Environ(), "KUBERNETES_TOOLS="+c.tools, "KUBERNETES_STATE="+c.state)
	cmd.Stdout, cmd.Stderr = said, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	started, ended := make(chan error), make(chan error, 1)
	go func() {
		runtime.LockOSThread() // Pdeathsig is sent when this thread ends
		err := cmd.Start()
		started <- err
		if err == nil {
			ended <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		began := time.Now()
		if err := cmd.Process.Kill(); err != nil {
			t.Errorf("the cluster had ended: %v", err)
		}
		<-ended
		c.remove(t)
		t.Logf("the cluster ended in %.1f s", time.Since(began).Seconds())
	})
	return cmd.Process.Pid, ended
}

// remove removes what a cluster leaves behind: its cgroups and its directory.
func (c *cluster) remove(t *testing.T) {
	for _, group := range c.groups(t) {
		for try := 0; exists(group) && try < 100; try++ {
			var below []string
			_ = filepath.WalkDir(group, func(name string, d fs.DirEntry, err error) error {
				if err == nil && d.IsDir() {
					below = append(below, name)
				}
				return nil
			})
			for i := len(below) - 1; i >= 0; i-- {
				_ = syscall.Rmdir(below[i]) // fails as long as the kernel ends the processes in it
			}
			time.Sleep(50 * time.Millisecond)
		}
		if exists(group) {
			t.Errorf("the cgroup %s is left", group)
		}
	}
	if err := os.RemoveAll(c.state); err != nil {
		t.Error(err)
	}
}

func (c *cluster) groups(t *testing.T) []string {
	list, err := os.ReadFile(filepath.Join(c.state, "cgroups"))
	if err != nil {
		t.Error(err)
	}
	return strings.Fields(string(list))
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// inside is a command in the cluster's namespaces.
func (c *cluster) inside(command ...string) *exec.Cmd {
	args := []string{"-t", strconv.Itoa(c.first), "-m", "-p", "-n", "-u", "-i", "-C", "--", "env",
		"KUBECONFIG=" + c.state + "/keys/admin.kubeconfig", "LD_LIBRARY_PATH=" + c.tools + "/root/usr/lib/x86_64-linux-gnu"}
	return exec.Command("nsenter", append(args, command...)...)
}

// try runs kubectl with this standard input.
func (c *cluster) try(stdin string, args ...string) (string, error) {
	cmd := c.inside(append([]string{c.tools + "/bin/node", "kubectl"}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, said.String())
	}
	return string(out), err
}

// kubectl is try that must succeed.
func (c *cluster) kubectl(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	out, err := c.try(stdin, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// openAPI makes the API reachable from outside of the namespaces, by a socket. Whoever asks again and again would start
// kubectl each time, which is a program of all of Kubernetes, and leave the pods less of the processors.
func (c *cluster) openAPI(t *testing.T) {
	t.Helper()
	socket := filepath.Join(c.state, "api.sock")
	proxy := c.inside(c.tools+"/bin/node", "kubectl", "proxy", "--unix-socket", socket)
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // runs before the cluster ends
		_ = proxy.Process.Kill() // that is nsenter; kubectl ends with the namespaces
		_ = proxy.Wait()
	})
	until(t, "the socket of kubectl proxy", func() bool { return exists(socket) })
	c.api = &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
}

// ask sends a request to the API, and returns the body of the response.
func (c *cluster) ask(method, path string, body []byte) ([]byte, error) {
	request, err := http.NewRequest(method, "http://localhost"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.api.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s\n%s", method, path, response.Status, text)
	}
	return text, err
}

// get reads an object, or a list of objects.
func (c *cluster) get(t *testing.T, into any, path string) {
	t.Helper()
	text, err := c.ask(http.MethodGet, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// load imports an image.
func (c *cluster) load(t *testing.T, file string) {
	t.Helper()
	cmd := c.inside(c.tools+"/root/usr/bin/ctr", "--address", "/run/containerd/containerd.sock", "--namespace", "k8s.io", "images", "import", file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// kill sends SIGKILL to the processes of a container, as the kernel does when memory is short. It reports whether there
// was one.
func (c *cluster) kill(t *testing.T, container string) bool {
	t.Helper()
	found := false
	for _, group := range c.groups(t) {
		_ = filepath.WalkDir(group, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() || d.Name() != container {
				return nil // groups come and go
			}
			list, _ := os.ReadFile(filepath.Join(name, "cgroup.procs"))
			for _, number := range strings.Fields(string(list)) {
				pid, err := strconv.Atoi(number)
				if err != nil {
					t.Fatal(err)
				}
				switch err := syscall.Kill(pid, syscall.SIGKILL); {
				case err == nil:
					found = true
				case !errors.Is(err, syscall.ESRCH): // it has ended since
					t.Fatal(err)
				}
			}
			return fs.SkipDir
		})
		if found {
			return true
		}
	}
	return found
}

// An image has one layer.
type image struct {
	name   string
	files  map[string]string // a path in the image, and the file on disk
	config map[string]any    // what a container is started with, as in an OCI image
}

// archive writes an image as "docker save" does.
func archive(t *testing.T, file string, i image) {
	t.Helper()
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	add := func(w *tar.Writer, h *tar.Header, content []byte) {
		h.Size = int64(len(content))
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	found := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(i.files)) {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			found[dir] = true
		}
	}
	if dir, ok := i.config["WorkingDir"].(string); ok {
		found[strings.TrimPrefix(dir, "/")] = true
	}
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		add(w, &tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755}, nil)
	}
	for _, name := range slices.Sorted(maps.Keys(i.files)) {
		content, err := os.ReadFile(i.files[name])
		if err != nil {
			t.Fatal(err)
		}
		add(w, &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755}, content)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(layer.Bytes())
	encode := func(v any) []byte {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	config := encode(map[string]any{
		"architecture": "amd64", "os": "linux", "config": i.config, "created": "1970-01-01T00:00:00Z",
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + hex.EncodeToString(sum[:])}},
		"history": []any{map[string]any{"created": "1970-01-01T00:00:00Z"}},
	})
	index := encode([]any{map[string]any{"Config": "config.json", "RepoTags": []string{i.name}, "Layers": []string{"layer.tar"}}})
	var whole bytes.Buffer
	w = tar.NewWriter(&whole)
	add(w, &tar.Header{Typeflag: tar.TypeReg, Name: "manifest.json", Mode: 0o644}, index)
	add(w, &tar.Header{Typeflag: tar.TypeReg, Name: "config.json", Mode: 0o644}, config)
	add(w, &tar.Header{Typeflag: tar.TypeReg, Name: "layer.tar", Mode: 0o644}, layer.Bytes())
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, whole.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// released returns the image that the repository's Dockerfile describes, with this program in it. An instruction that it
// does not know is an error: there is no builder of images here.
func released(t *testing.T, name, program string) image {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	i := image{name: name, files: map[string]string{}, config: map[string]any{}}
	var env []string
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
		instruction, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch words := strings.Fields(rest); instruction {
		case "", "#", "ARG", "LABEL":
		case "FROM":
			if rest != "scratch" {
				t.Fatalf("Dockerfile: FROM %s: the image is not from scratch", rest)
			}
		case "COPY":
			if strings.HasPrefix(words[0], "--chmod=") {
				words = words[1:]
			}
			to := words[len(words)-1]
			for _, from := range words[:len(words)-1] {
				inside, onDisk := to, filepath.Join(root, from)
				if strings.HasSuffix(to, "/") {
					inside += from
				}
				if from == "${TARGETPLATFORM}/policyscan" {
					onDisk = program
				}
				i.files[strings.TrimPrefix(inside, "/")] = onDisk
			}
		case "USER":
			i.config["User"] = rest
		case "WORKDIR":
			i.config["WorkingDir"] = rest
		case "ENV":
			env = append(env, rest)
		case "ENTRYPOINT":
			var words []string
			if err := json.Unmarshal([]byte(rest), &words); err != nil {
				t.Fatalf("Dockerfile: ENTRYPOINT %s: %v", rest, err)
			}
			i.config["Entrypoint"] = words
		default:
			t.Fatalf("Dockerfile: unknown instruction %s; add it to image_test.go", instruction)
		}
	}
	i.config["Env"] = env
	return i
}

const root = "../.."

// build builds the program as a release does, but for its version.
func build(t *testing.T, to string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", to, "./cmd/policyscan")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
