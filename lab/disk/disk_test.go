//go:build linux

package disk

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
	"golang.org/x/text/unicode/norm"
)

// A diskFile is a file of a file system that the test itself serves, and that is broken
// as the test wants it.
type diskFile struct {
	fs.Inode
	mu   sync.Mutex // held to change what follows while the disk is mounted
	text string
	size int           // as the file system gives it; -1: 0, whatever the file holds
	open syscall.Errno // of each open
	// read answers a read of up to most bytes; nil: as a sound disk does. Its
	// context is done when the reader is told to give up.
	read func(ctx context.Context, off int64, most int) (string, syscall.Errno)
}

func (f *diskFile) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_DIRECT_IO, f.open // every read(2) comes here as it is
}

func (f *diskFile) Read(ctx context.Context, _ fs.FileHandle, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	f.mu.Lock()
	read := f.read
	f.mu.Unlock()
	if read == nil {
		read = f.sound
	}
	text, fault := read(ctx, off, len(dest))
	return fuse.ReadResultData([]byte(text)), fault
}

// sound is a read of a disk without a fault.
func (f *diskFile) sound(_ context.Context, off int64, most int) (string, syscall.Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	from := min(int(off), len(f.text))
	return f.text[from:min(from+most, len(f.text))], 0
}

func (f *diskFile) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	out.Mode, out.Size = 0o644, uint64(max(cmp.Or(f.size, len(f.text)), 0))
	return 0
}

// change changes a file of a disk that is mounted.
func (f *diskFile) change(text string, size int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.text, f.size = text, size
}

// A diskDirectory is a directory of it.
type diskDir struct {
	fs.Inode
	files    map[string]fs.InodeEmbedder
	shuffled bool                   // each listing has another order
	listings atomic.Int32           // how many there were
	same     func(a, b string) bool // two names are one; nil: they are not
	breaks   int                    // how many entries are listed before EIO; 0: all
	failed   *atomic.Int32
	refuses  func(name string) bool // the name is looked for, and there comes EIO; nil: none is
}

// OnAdd makes the tree when the root is mounted.
func (d *diskDir) OnAdd(ctx context.Context) {
	for name, file := range d.files {
		mode := uint32(fuse.S_IFREG)
		if _, ok := file.(*diskDir); ok {
			mode = fuse.S_IFDIR
		}
		d.AddChild(name, d.NewPersistentInode(ctx, file, fs.StableAttr{Mode: mode}), false)
	}
}

func (d *diskDir) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if d.refuses != nil && d.refuses(name) {
		return nil, syscall.EIO
	}
	for have := range d.files {
		if have != name && (d.same == nil || !d.same(have, name)) {
			continue
		}
		child := d.GetChild(have)
		var attr fuse.AttrOut
		if file, ok := child.Operations().(fs.NodeGetattrer); ok {
			file.Getattr(ctx, nil, &attr)
		}
		out.Attr = attr.Attr
		return child, 0
	}
	return nil, syscall.ENOENT
}

func (d *diskDir) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	l := &diskListing{breaks: d.breaks, failed: d.failed}
	for name, child := range d.Children() {
		if _, ok := d.files[name]; ok {
			l.entries = append(l.entries, fuse.DirEntry{Name: name, Mode: child.Mode(), Ino: child.StableAttr().Ino})
		}
	}
	if d.shuffled {
		r := rand.New(rand.NewPCG(142, uint64(d.listings.Add(1))))
		r.Shuffle(len(l.entries), func(i, k int) { l.entries[i], l.entries[k] = l.entries[k], l.entries[i] })
	}
	return l, 0
}

// A diskListing is what a directory says that it holds.
type diskListing struct {
	entries []fuse.DirEntry
	at      int
	breaks  int
	failed  *atomic.Int32
}

func (l *diskListing) HasNext() bool { return l.at < len(l.entries) }
func (l *diskListing) Close()        {}

func (l *diskListing) Next() (fuse.DirEntry, syscall.Errno) {
	if l.breaks > 0 && l.at == l.breaks {
		l.failed.Add(1)
		return fuse.DirEntry{}, syscall.EIO
	}
	l.at++
	e := l.entries[l.at-1]
	e.Off = uint64(l.at)
	return e, 0
}

// mount mounts a disk on the directory disk next to the program's others.
func (p program) mount(disk *diskDir) {
	p.t.Helper()
	if _, err := os.Stat("/dev/fuse"); err != nil || os.Geteuid() != 0 {
		p.t.Skip("SKIPPED: this needs root and FUSE")
	}
	dir := filepath.Join(p.dir, "disk")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		p.t.Fatal(err)
	}
	options := &fs.Options{MountOptions: fuse.MountOptions{DirectMountStrict: true, FsName: "policyscan-test", Name: "test", Logger: log.New(io.Discard, "", 0)}}
	if _, err := fs.Mount(dir, disk, options); err != nil {
		p.t.Skipf("SKIPPED: this needs FUSE, which cannot be mounted: %v", err)
	}
	p.t.Cleanup(p.unmount)
}

// unmount takes the disk away, whoever uses it: every later call gets ENOTCONN.
func (p program) unmount() {
	err := unix.Unmount(filepath.Join(p.dir, "disk"), unix.MNT_FORCE|unix.MNT_DETACH)
	if err != nil && err != unix.EINVAL { // EINVAL: it is gone already
		p.t.Error(err)
	}
}

// What breaks the rule, and what does not.
const (
	badText  = "cidr = \"0.0.0.0/0\"\n"
	goodText = "cidr = \"10.0.0.0/8\"\n"
)

// diskText is what diskTree's files hold, 20,000 times: more than a window of the scanner.
const diskText = goodText

// diskTree returns the files of a disk. Those named bad…, at any depth, break the rule at
// their very end.
func diskTree(names ...string) *diskDir {
	root := &diskDir{files: map[string]fs.InodeEmbedder{}}
	for _, name := range names {
		at := root
		steps := strings.Split(name, "/")
		for _, step := range steps[:len(steps)-1] {
			if at.files[step] == nil {
				at.files[step] = &diskDir{files: map[string]fs.InodeEmbedder{}}
			}
			at = at.files[step].(*diskDir)
		}
		last, text := steps[len(steps)-1], strings.Repeat(diskText, 20_000)
		if strings.HasPrefix(last, "bad") {
			text += "cidr = \"0.0.0.0/0\""
		}
		at.files[last] = &diskFile{text: text}
	}
	return root
}

// file is one of diskTree's.
func (d *diskDir) file(name string) *diskFile {
	at := d
	for {
		first, rest, more := strings.Cut(name, "/")
		if !more {
			return at.files[first].(*diskFile)
		}
		at, name = at.files[first].(*diskDir), rest
	}
}

// scanDisk scans the disk, in full and by a list, and fails unless each ends so.
func (p program) scanDisk(status int, saying string, list ...string) {
	p.t.Helper()
	p.run(status, "--policy", "policy", "disk")
	if got := p.saying(); got != saying {
		p.t.Errorf("full: the verdict is %s, want %s: %+v", got, saying, p.verdict().Errors)
	}
	if len(list) == 0 {
		return
	}
	p.stdin = strings.Join(list, "\n")
	p.run(status, "--policy", "policy", "--files-from", "-", "disk")
	if got := p.saying(); got != saying {
		p.t.Errorf("files: the verdict is %s, want %s: %+v", got, saying, p.verdict().Errors)
	}
}

// TestFault_015_DiskWithoutSizes: a file of size 0 is read to its end, as is one that is
// longer or shorter than its size.
func TestFault_015_DiskWithoutSizes(t *testing.T) {
	p := newProgram(t)
	disk := diskTree("bad.tf", "sub/bad.tf", "sub/good.tf")
	for _, name := range []string{"bad.tf", "sub/bad.tf", "sub/good.tf"} {
		disk.file(name).size = -1
	}
	p.mount(disk)
	p.scanDisk(exitViolation, "FAIL NET-1@bad.tf NET-1@sub/bad.tf", "bad.tf", "sub/bad.tf", "sub/good.tf")
	want := int64(len(disk.file("bad.tf").text) + len(disk.file("sub/bad.tf").text) + len(disk.file("sub/good.tf").text))
	if v := p.verdict(); v.Coverage.Bytes != want || v.Coverage.Scanned != 3 {
		t.Errorf("%+v, want %d bytes", v.Coverage, want)
	}
	for _, size := range []int{1, 1 << 30} {
		disk.file("bad.tf").change(disk.file("bad.tf").text, size)
		p.run(exitViolation, "--policy", "policy", "disk")
		if got := p.saying(); !strings.HasPrefix(got, "FAIL NET-1@bad.tf NET-1@sub/bad.tf") {
			t.Errorf("a file of size %d: %s", size, got)
		}
	}
}

// TestFault_028_029_OneFileOnDisk: git tracks two files that the disk cannot hold both.
// The one that it does not hold must not be judged by the content of the other.
func TestFault_028_029_OneFileOnDisk(t *testing.T) {
	const collide = "UNDECIDED E_CASE_COLLISION E_CASE_COLLISION"
	sameForm := func(a, b string) bool { return norm.NFD.String(a) == norm.NFD.String(b) }
	sameFormOrCase := func(a, b string) bool { return strings.EqualFold(norm.NFD.String(a), norm.NFD.String(b)) }
	for name, c := range map[string]struct {
		tracked string // the other file
		on      string // the disk
		same    func(a, b string) bool
		want    string
	}{
		"a file":                    {"A.tf", "a.tf", strings.EqualFold, collide},
		"in a directory":            {"DIR/a.tf", "dir/a.tf", strings.EqualFold, collide},
		"another letter":            {"\u00c4.tf", "\u00e4.tf", strings.EqualFold, collide},
		"another file":              {"b.tf", "a.tf", strings.EqualFold, "UNDECIDED E_UNAVAILABLE"},
		"a disk that cares":         {"A.tf", "a.tf", nil, "UNDECIDED E_UNAVAILABLE"},
		"another form":              {"\u00e4.tf", "a\u0308.tf", sameForm, collide},
		"another form, a directory": {"a\u0308/a.tf", "\u00e4/a.tf", sameForm, collide},
		"another form and case":     {"\u00c4.tf", "a\u0308.tf", sameFormOrCase, collide},
		"beside another form":       {"\u00c4.tf", "\u00e4.tf", strings.EqualFold, collide},
		"a disk of exact forms":     {"\u00e4.tf", "a\u0308.tf", strings.EqualFold, "UNDECIDED E_UNAVAILABLE"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGit(t)
			other := "other.tf"
			if name == "beside another form" { // another file, the first of the three
				other = "a\u0308.tf"
			}
			g.tracks(map[string]string{c.on: goodText, c.tracked: badText, other: goodText})
			disk := diskTree(c.on, other)
			disk.files[".git"] = &diskFile{text: "gitdir: " + filepath.Join(g.dir, "repo/.git") + "\n"}
			disk.names(c.same)
			g.mount(disk)
			g.judge(exitUndecided, c.want, "--tracked")
			// What is committed and what is staged are not of the disk, of which all is read.
			g.judge(exitPass, "PASS", "--staged", "--allow", "empty")
			g.judge(exitPass, "PASS")
			disk.file(c.on).change(disk.file(c.on).text+"cidr = \"0.0.0.0/0\"", 0)
			g.judge(exitViolation, "FAIL NET-1@"+c.on)
		})
	}
}

// TestOneFileOnBrokenDisk: that two files are one is seen, or that it cannot be seen, where the disk fails just
// when it is asked.
func TestOneFileOnBrokenDisk(t *testing.T) {
	for _, c := range []struct {
		broken string
		times  int32 // it is looked up before the files are compared
		want   string
	}{
		{"", 0, "UNDECIDED E_CASE_COLLISION E_CASE_COLLISION"},
		{".GIT", 1, "UNDECIDED E_CASE_COLLISION E_CASE_COLLISION"},
		{"A.tf", 1, "UNDECIDED E_CASE_COLLISION E_CASE_COLLISION"},
		{"A.tf", 2, "UNDECIDED E_READ"},
		{"a.tf", 1, "UNDECIDED E_READ"},
	} {
		t.Run(fmt.Sprint(c.broken, "-", c.times), func(t *testing.T) {
			g := newGit(t)
			g.tracks(map[string]string{"a.tf": goodText, "A.tf": badText, "other.tf": goodText})
			disk := diskTree("a.tf", "other.tf")
			disk.files[".git"] = &diskFile{text: "gitdir: " + filepath.Join(g.dir, "repo/.git") + "\n"}
			disk.names(strings.EqualFold)
			var asked atomic.Int32
			disk.refuses = func(name string) bool { return name == c.broken && asked.Add(1) <= c.times }
			g.mount(disk)
			g.judge(exitUndecided, c.want, "--tracked")
			if asked.Load() < c.times {
				t.Error("the disk was not asked so often")
			}
		})
	}
}

// TestSubmoduleOnBrokenDisk: whether a submodule is a directory of the tree cannot be determined, though an empty one can be listed.
func TestSubmoduleOnBrokenDisk(t *testing.T) {
	for _, broken := range []string{"", "mid"} {
		g := newGit(t)
		disk := diskTree("a.tf")
		disk.files[".gitmodules"] = &diskFile{text: "[submodule \"mid\"]\n\tpath = mid\n"}
		disk.files["mid"] = &diskDir{files: map[string]fs.InodeEmbedder{}}
		var asked atomic.Bool
		disk.refuses = func(name string) bool { return name == broken && !asked.Swap(true) }
		g.mount(disk)
		want := map[string]string{"": "UNDECIDED E_UNAVAILABLE", "mid": "UNDECIDED E_READ"}[broken]
		g.judge(exitUndecided, want)
		if broken != "" && !asked.Load() {
			t.Error("the disk was not asked")
		}
	}
}

// names makes a disk for which some names are one.
func (d *diskDir) names(same func(a, b string) bool) {
	d.same = same
	for _, file := range d.files {
		if sub, ok := file.(*diskDir); ok {
			sub.names(same)
		}
	}
}

// TestFault_046_BrokenDisk: a disk that fails at open, on the way and at the very end.
func TestFault_046_BrokenDisk(t *testing.T) {
	end := int64(len(strings.Repeat(diskText, 20_000)))
	for name, spoil := range map[string]func(f *diskFile){
		"at open": func(f *diskFile) { f.open = syscall.EIO },
		"at once": func(f *diskFile) { f.read = f.until(0, syscall.EIO) },
		"at 4096": func(f *diskFile) { f.read = f.until(4096, syscall.EIO) },
		"in the second window": func(f *diskFile) {
			f.read = f.until(300_000, syscall.EIO)
		},
		"a byte before the end": func(f *diskFile) { f.read = f.until(end-1, syscall.EIO) },
		"at the end":            func(f *diskFile) { f.read = f.until(end, syscall.EIO) },
		"a bad answer":          func(f *diskFile) { f.read = f.until(4096, syscall.EUCLEAN) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(t)
			disk := diskTree("good.tf", "sub/main.tf")
			spoil(disk.file("sub/main.tf"))
			p.mount(disk)
			p.scanDisk(exitUndecided, "UNDECIDED E_READ", "good.tf", "sub/main.tf")
			v := p.verdict()
			if v.Errors[0].File != "sub/main.tf" || v.Coverage.Scanned != 1 || len(v.Coverage.NotScanned) != 1 {
				t.Errorf("%+v, %+v", v.Errors, v.Coverage)
			}
		})
	}
	p := newProgram(t)
	disk := diskTree("bad.tf", "main.tf")
	disk.file("main.tf").open = syscall.EIO
	p.mount(disk)
	p.scanDisk(exitViolation, "FAIL NET-1@bad.tf E_READ")
}

// until is a disk that is sound up to an offset, where it fails.
func (f *diskFile) until(offset int64, fault syscall.Errno) func(context.Context, int64, int) (string, syscall.Errno) {
	return func(ctx context.Context, off int64, most int) (string, syscall.Errno) {
		if off >= offset {
			return "", fault
		}
		return f.sound(ctx, off, min(most, int(offset-off)))
	}
}

// TestFault_047_ShortReads: reads that bring a byte, or a few, and reads that are
// interrupted or put off. The answer is the right one, or none.
func TestFault_047_ShortReads(t *testing.T) {
	for name, c := range map[string]struct {
		read     func(f *diskFile) func(context.Context, int64, int) (string, syscall.Errno)
		status   int
		good, is string
	}{
		"a byte": {func(f *diskFile) func(context.Context, int64, int) (string, syscall.Errno) {
			f.text = f.text[len(f.text)-3000:]
			return func(ctx context.Context, off int64, _ int) (string, syscall.Errno) { return f.sound(ctx, off, 1) }
		}, exitViolation, "PASS", "FAIL NET-1@bad.tf"},
		"4097 bytes": {func(f *diskFile) func(context.Context, int64, int) (string, syscall.Errno) {
			return func(ctx context.Context, off int64, most int) (string, syscall.Errno) {
				return f.sound(ctx, off, min(most, 4097))
			}
		}, exitViolation, "PASS", "FAIL NET-1@bad.tf"},
		"interrupted": {func(f *diskFile) func(context.Context, int64, int) (string, syscall.Errno) {
			var n atomic.Int32
			return func(ctx context.Context, off int64, most int) (string, syscall.Errno) {
				if n.Add(1)%3 != 0 {
					return "", syscall.EINTR
				}
				return f.sound(ctx, off, min(most, 10_000))
			}
		}, exitViolation, "PASS", "FAIL NET-1@bad.tf"},
		"put off": {func(f *diskFile) func(context.Context, int64, int) (string, syscall.Errno) {
			return f.until(8192, syscall.EAGAIN)
		}, exitUndecided, "UNDECIDED E_CHANGED", "UNDECIDED E_CHANGED"}, // which is what a FIFO in its place would say
	} {
		t.Run(name, func(t *testing.T) {
			for tree, saying := range map[string]string{"bad.tf": c.is, "good.tf": c.good} {
				p := newProgram(t)
				disk := diskTree(tree, "zz.tf")
				disk.file(tree).read = c.read(disk.file(tree))
				p.mount(disk)
				status := c.status
				if saying == "PASS" {
					status = exitPass
				}
				p.scanDisk(status, saying, tree, "zz.tf")
			}
		})
	}
}

// TestFault_048_DirectoryBreaksOff: a listing that fails after some of its entries is no
// short directory.
func TestFault_048_DirBreaksOff(t *testing.T) {
	var names []string
	for i := range 300 { // more than one call of getdents brings
		names = append(names, fmt.Sprintf("sub/%03d-%s.tf", i, strings.Repeat("n", 150)))
	}
	for _, breaks := range []int{1, 100, 299} {
		p := newProgram(t)
		disk := diskTree(append(names, "main.tf")...)
		for _, name := range names {
			disk.file(name).text = "x"
		}
		sub := disk.files["sub"].(*diskDir)
		sub.breaks, sub.failed = breaks, new(atomic.Int32)
		p.mount(disk)
		p.scanDisk(exitUndecided, "UNDECIDED E_READ")
		if v := p.verdict(); v.Errors[0].File != "sub" || sub.failed.Load() == 0 {
			t.Errorf("%d entries: %+v, after %d failures", breaks, v.Errors, sub.failed.Load())
		}
	}
}

// TestFault_052_DiskGone: the disk is removed under the scan, or says that what it
// gave is no longer good.
func TestFault_052_DiskGone(t *testing.T) {
	t.Run("taken away", func(t *testing.T) {
		p := newProgram(t)
		disk := diskTree("a.tf", "sub/b.tf", "sub/deep/c.tf")
		gone := func(f *diskFile) {
			f.read = func(ctx context.Context, off int64, most int) (string, syscall.Errno) {
				if off > 0 {
					p.unmount()
				}
				return f.sound(ctx, off, min(most, 4096))
			}
		}
		for _, name := range []string{"a.tf", "sub/b.tf", "sub/deep/c.tf"} {
			gone(disk.file(name))
		}
		p.mount(disk)
		p.run(exitUndecided, "--policy", "policy", "disk")
		v := p.verdict()
		if v.Complete || len(v.Errors) == 0 || v.Coverage.Scanned != 0 {
			t.Errorf("%s: %+v", p.saying(), v.Coverage)
		}
		for _, e := range v.Errors {
			if e.Code != "E_READ" && e.Code != "E_CHANGED" {
				t.Errorf("%+v", e)
			}
		}
	})
	t.Run("stale", func(t *testing.T) {
		p := newProgram(t)
		disk := diskTree("a.tf", "sub/b.tf", "sub/bad.tf")
		f := disk.file("sub/b.tf")
		f.read = f.until(4096, syscall.ESTALE)
		disk.file("a.tf").open = syscall.ESTALE
		p.mount(disk)
		p.scanDisk(exitViolation, "FAIL NET-1@sub/bad.tf E_READ E_READ", "a.tf", "sub/b.tf", "sub/bad.tf")
		disk.file("sub/bad.tf").change("x", 0)
		p.stdin = ""
		p.scanDisk(exitUndecided, "UNDECIDED E_READ E_READ")
	})
}

// TestFault_140_DiskNeverAnswers: a read that does not return is ended by --timeout; the
// verdict says so.
func TestFault_140_DiskNeverAnswers(t *testing.T) {
	p := newProgram(t)
	p.limit = 30 * time.Second
	disk := diskTree("a.tf", "sub/stuck.tf")
	f := disk.file("sub/stuck.tf")
	var asked atomic.Int32
	f.read = func(ctx context.Context, off int64, most int) (string, syscall.Errno) {
		if off == 0 {
			return f.sound(ctx, off, min(most, 4096))
		}
		asked.Add(1)
		<-ctx.Done() // a kernel thread whose read is never answered cannot even be killed
		return "", syscall.EINTR
	}
	p.mount(disk)
	for _, args := range [][]string{{"disk"}, {"--files-from", "-", "disk"}} {
		p.stdin = "a.tf\nsub/stuck.tf\n"
		p.run(exitUndecided, append([]string{"--policy", "policy", "--timeout", "1s"}, args...)...)
		if got := p.saying(); got != "UNDECIDED E_TIMEOUT" {
			t.Errorf("%q: %s", args, got)
		}
	}
	if asked.Load() == 0 {
		t.Error("nothing was stuck")
	}
}

// TestFault_142_ShuffledDirectories: each listing of a directory has another order; the verdicts
// are the same bytes.
func TestFault_142_ShuffledDirs(t *testing.T) {
	var names []string
	for i := range 60 {
		for _, dir := range []string{"", "a/", "b/deep/"} {
			names = append(names, fmt.Sprintf("%sbad%02d.tf", dir, i), fmt.Sprintf("%sgood%02d.tf", dir, i))
		}
	}
	p := newProgram(t)
	disk := diskTree(names...)
	for i, name := range names {
		f := disk.file(name)
		f.text = f.text[len(f.text)-20-i:]
	}
	var shuffle func(d *diskDir)
	shuffle = func(d *diskDir) {
		d.shuffled = true
		for _, file := range d.files {
			if sub, ok := file.(*diskDir); ok {
				shuffle(sub)
			}
		}
	}
	shuffle(disk)
	p.mount(disk)
	first := orderOf(t, filepath.Join(p.dir, "disk"))
	var want []byte
	orders := map[string]bool{first: true}
	for i := range 12 {
		p.env = []string{fmt.Sprintf("GOMAXPROCS=%d", 1+i%4)}
		p.run(exitViolation, "--policy", "policy", "disk")
		text := p.verdictFile()
		if want == nil {
			want = text
		}
		if !bytes.Equal(text, want) {
			t.Errorf("run %d has another verdict", i)
		}
		orders[orderOf(t, filepath.Join(p.dir, "disk"))] = true
	}
	if len(orders) < 6 || len(p.verdict().Violations) != 180 {
		t.Errorf("%d orders, %d violations", len(orders), len(p.verdict().Violations))
	}
}

// orderOf are the names of a directory in the order in which the disk gives them.
func orderOf(t *testing.T, dir string) string {
	t.Helper()
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, "\n")
}
