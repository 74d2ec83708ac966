package trials

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// strace -e inject counts the calls of each thread alone, and Go moves a goroutine from one
// thread to another as it likes: of a call that is the 40th today it cannot be said to be the
// 40th tomorrow. So the calls are counted here, over all threads, and failed in the same way:
// the number of the call is replaced by one that there is not, and the result by the error.

// touching are the calls that touch files, or could, and where their path is among the
// arguments (-1: they have none).
var touching = map[uint64]struct {
	name string
	path int
}{
	unix.SYS_OPEN: {"open", 0}, unix.SYS_OPENAT: {"openat", 1}, unix.SYS_OPENAT2: {"openat2", 1}, unix.SYS_STAT: {"stat", 0}, unix.SYS_LSTAT: {"lstat", 0},
	unix.SYS_NEWFSTATAT: {"newfstatat", 1}, unix.SYS_STATX: {"statx", 1}, unix.SYS_FSTAT: {"fstat", -1}, unix.SYS_GETDENTS64: {"getdents64", -1},
	unix.SYS_READ: {"read", -1}, unix.SYS_PREAD64: {"pread64", -1}, unix.SYS_READV: {"readv", -1}, unix.SYS_MMAP: {"mmap", -1},
	unix.SYS_READLINK: {"readlink", 0}, unix.SYS_READLINKAT: {"readlinkat", 1}, unix.SYS_WRITE: {"write", -1}, unix.SYS_PWRITE64: {"pwrite64", -1},
	unix.SYS_WRITEV: {"writev", -1}, unix.SYS_RENAME: {"rename", 0}, unix.SYS_RENAMEAT: {"renameat", 1}, unix.SYS_RENAMEAT2: {"renameat2", 1},
	unix.SYS_UNLINK: {"unlink", 0}, unix.SYS_UNLINKAT: {"unlinkat", 1}, unix.SYS_RMDIR: {"rmdir", 0}, unix.SYS_FSYNC: {"fsync", -1}, unix.SYS_FDATASYNC: {"fdatasync", -1},
	unix.SYS_FTRUNCATE: {"ftruncate", -1}, unix.SYS_TRUNCATE: {"truncate", 0}, unix.SYS_CLOSE: {"close", -1}, unix.SYS_LSEEK: {"lseek", -1},
	unix.SYS_MKDIR: {"mkdir", 0}, unix.SYS_MKDIRAT: {"mkdirat", 1}, unix.SYS_CHMOD: {"chmod", 0}, unix.SYS_FCHMOD: {"fchmod", -1}, unix.SYS_FCHMODAT: {"fchmodat", 1},
	unix.SYS_FCNTL: {"fcntl", -1}, unix.SYS_ACCESS: {"access", 0}, unix.SYS_FACCESSAT: {"faccessat", 1}, unix.SYS_FACCESSAT2: {"faccessat2", 1},
	unix.SYS_GETCWD: {"getcwd", -1}, unix.SYS_IOCTL: {"ioctl", -1}, unix.SYS_FADVISE64: {"fadvise64", -1}, unix.SYS_STATFS: {"statfs", 0}, unix.SYS_FSTATFS: {"fstatfs", -1},
	unix.SYS_COPY_FILE_RANGE: {"copy_file_range", -1}, unix.SYS_SENDFILE: {"sendfile", -1}, unix.SYS_FLOCK: {"flock", -1}, unix.SYS_CHDIR: {"chdir", 0}, unix.SYS_SYNC_FILE_RANGE: {"sync_file_range", -1},
}

// idle are the calls of a run that touch no file: those of Go's runtime for its threads,
// timers, signals and memory, and for who and where it is.
var idle = map[uint64]bool{
	unix.SYS_FUTEX: true, unix.SYS_RT_SIGACTION: true, unix.SYS_RT_SIGPROCMASK: true, unix.SYS_RT_SIGRETURN: true, unix.SYS_SIGALTSTACK: true,
	unix.SYS_CLONE: true, unix.SYS_CLONE3: true, unix.SYS_GETTID: true, unix.SYS_GETPID: true, unix.SYS_TGKILL: true, unix.SYS_TKILL: true, unix.SYS_MADVISE: true,
	unix.SYS_MUNMAP: true, unix.SYS_MPROTECT: true, unix.SYS_BRK: true, unix.SYS_ARCH_PRCTL: true, unix.SYS_SCHED_GETAFFINITY: true, unix.SYS_SCHED_YIELD: true,
	unix.SYS_NANOSLEEP: true, unix.SYS_CLOCK_GETTIME: true, unix.SYS_EPOLL_CREATE1: true, unix.SYS_EPOLL_CTL: true, unix.SYS_EPOLL_PWAIT: true, unix.SYS_EPOLL_PWAIT2: true,
	unix.SYS_EVENTFD2: true, unix.SYS_PRLIMIT64: true, unix.SYS_EXIT: true, unix.SYS_EXIT_GROUP: true, unix.SYS_GETRANDOM: true, unix.SYS_UNAME: true, unix.SYS_PRCTL: true,
	unix.SYS_TIMER_CREATE: true, unix.SYS_TIMER_SETTIME: true, unix.SYS_TIMER_DELETE: true, unix.SYS_SETITIMER: true, unix.SYS_GETUID: true, unix.SYS_GETEUID: true,
	unix.SYS_RSEQ: true, unix.SYS_SET_ROBUST_LIST: true, unix.SYS_SET_TID_ADDRESS: true, unix.SYS_RESTART_SYSCALL: true, unix.SYS_EXECVE: true,
}

// A call is one that a run made, before it was made.
type call struct {
	name   string
	path   string // "" if it has none
	listed bool   // a directory's listing had named the file before
}

func (c call) String() string {
	if c.path == "" {
		return c.name
	}
	return c.name + " " + c.path
}

// A deed is what is done to a run, at one of its calls.
type deed struct {
	at     int // 1-based, of the calls that touch files; 0: nothing is done
	errno  syscall.Errno
	signal syscall.Signal // sent before the call is made
	listed bool           // only if a listing had named the file
}

// A trace is what the tracer saw of a run.
type trace struct {
	ending
	calls   []call // up to the one at which the deed was done
	hit     bool   // it was done
	strange []uint64
}

// A tracee is a thread of the run.
type tracee struct {
	nr    uint64
	args  [6]uint64
	errno syscall.Errno // of the call that it is in, to be failed
}

// info is struct ptrace_syscall_info, the used part.
type info struct {
	op     uint8
	_      [3]uint8
	arch   uint32
	ip, sp uint64
	nr     uint64
	args   [6]uint64
}

const (
	ptraceSyscallInfo = 0x420e     // PTRACE_GET_SYSCALL_INFO
	entry, exit       = 1, 2       // its op
	onlyMine          = 0x20000000 // __WNOTHREAD: of the children of this thread
)

// traced does a run under the tracer, and a deed to it. The calling goroutine keeps its
// thread, of which the run is the child.
func (s *scene) traced(root string, d deed) (tr trace, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	in, err := os.CreateTemp(filepath.Dir(root), "stdin")
	if err != nil {
		return tr, err
	}
	defer os.Remove(in.Name())
	defer in.Close()
	if _, err := in.WriteAt([]byte(s.stdin), 0); err != nil {
		return tr, err
	}
	var outs [2]*os.File
	for i := range outs {
		if outs[i], err = os.CreateTemp(filepath.Dir(root), "out"); err != nil {
			return tr, err
		}
		defer os.Remove(outs[i].Name())
		defer outs[i].Close()
	}
	p, err := os.StartProcess(program, append([]string{"policyscan"}, s.words()...), &os.ProcAttr{
		Dir: s.at(root), Env: environment(root), Files: []*os.File{in, outs[0], outs[1]}, Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		return tr, err
	}
	pid := p.Pid
	ended := watch(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	tr.ending, err = tr.follow(pid, d)
	hung := ended()
	_ = p.Release() // it was waited for
	if err != nil {
		return tr, err
	}
	for i, into := range []*string{&tr.out, &tr.err} {
		text, err := os.ReadFile(outs[i].Name())
		if err != nil {
			return tr, err
		}
		*into = string(text)
	}
	if hung {
		return tr, fmt.Errorf("it did not end within %s", limit)
	}
	return tr, s.look(root, &tr.ending)
}

// follow takes a run from its first instruction to its end.
func (tr *trace) follow(pid int, d deed) (e ending, err error) {
	var ws syscall.WaitStatus
	if _, err := wait(pid, &ws); err != nil {
		return e, err
	}
	const options = syscall.PTRACE_O_TRACESYSGOOD | syscall.PTRACE_O_TRACECLONE | unix.PTRACE_O_EXITKILL
	if err := syscall.PtraceSetOptions(pid, options); err != nil {
		return e, err
	}
	threads := map[int]*tracee{pid: {}}
	names := map[string]bool{} // that were listed
	if err := resume(pid, 0, false); err != nil {
		return e, err
	}
	for {
		tid, err := wait(-1, &ws)
		if err != nil {
			return e, err
		}
		if threads[tid] == nil {
			threads[tid] = &tracee{}
		}
		deliver := 0
		switch {
		case ws.Exited() && tid == pid:
			e.status = ws.ExitStatus()
			return e, nil
		case ws.Signaled() && tid == pid:
			e.status, e.signaled = 128+int(ws.Signal()), true
			return e, nil
		case ws.Exited(), ws.Signaled():
			delete(threads, tid)
			continue
		case ws.StopSignal() == syscall.SIGTRAP|0x80:
			if err := tr.stopped(pid, tid, threads[tid], d, names); err != nil && !errors.Is(err, syscall.ESRCH) {
				return e, err
			}
		case ws.StopSignal() == syscall.SIGTRAP, ws.StopSignal() == syscall.SIGSTOP: // a new thread
		default:
			deliver = int(ws.StopSignal())
		}
		if err := resume(tid, deliver, tr.hit && threads[tid].errno == 0); err != nil {
			return e, err
		}
	}
}

func wait(pid int, ws *syscall.WaitStatus) (int, error) {
	for {
		tid, err := syscall.Wait4(pid, ws, syscall.WALL|onlyMine, nil)
		if !errors.Is(err, syscall.EINTR) {
			return tid, err
		}
	}
}

// resume lets a thread go on: to its next call or, when all is done that is to be, to its
// end. One that was killed meanwhile is gone.
func resume(tid, signal int, freely bool) error {
	on := syscall.PtraceSyscall
	if freely {
		on = syscall.PtraceCont
	}
	err := on(tid, signal)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// stopped is called where a thread is about to make a call, or has made it.
func (tr *trace) stopped(pid, tid int, th *tracee, d deed, names map[string]bool) error {
	var i info
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, ptraceSyscallInfo, uintptr(tid), unsafe.Sizeof(i), uintptr(unsafe.Pointer(&i)), 0, 0); errno != 0 {
		return errno
	}
	if i.op == exit {
		return th.left(tid, names)
	}
	if i.op != entry {
		return fmt.Errorf("a stop that is neither before nor after a call: %d", i.op)
	}
	*th = tracee{nr: i.nr, args: i.args}
	kind, touches := touching[i.nr]
	if i.nr == unix.SYS_MMAP && int32(i.args[4]) < 0 {
		return nil // memory for Go's runtime, of no file
	}
	if !touches {
		if !idle[i.nr] {
			tr.strange = append(tr.strange, i.nr)
		}
		return nil
	}
	c := call{name: kind.name}
	if kind.path >= 0 && (d.errno == 0 || d.listed || len(tr.calls)+1 == d.at) {
		text, err := peek(tid, i.args[kind.path])
		if err != nil {
			return err
		}
		c.path, c.listed = text, names[path.Base(text)]
	}
	tr.calls = append(tr.calls, c)
	if len(tr.calls) != d.at || d.listed && !c.listed {
		return nil
	}
	tr.hit = true
	if d.signal != 0 {
		return syscall.Kill(pid, d.signal)
	}
	th.errno = d.errno
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &regs); err != nil {
		return err
	}
	regs.Orig_rax = ^uint64(0)
	return syscall.PtraceSetRegs(tid, &regs)
}

// left is called where a thread has made a call.
func (th *tracee) left(tid int, names map[string]bool) error {
	if th.errno == 0 && th.nr != unix.SYS_GETDENTS64 {
		return nil
	}
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &regs); err != nil {
		return err
	}
	if th.errno != 0 {
		errno := th.errno
		th.errno = 0
		regs.Rax = uint64(-int64(errno))
		return syscall.PtraceSetRegs(tid, &regs)
	}
	if n := int64(regs.Rax); th.nr == unix.SYS_GETDENTS64 && n > 0 {
		records := make([]byte, n)
		if _, err := syscall.PtracePeekData(tid, uintptr(th.args[1]), records); err != nil {
			return err
		}
		for len(records) > 19 {
			size := int(records[16]) | int(records[17])<<8
			if size < 20 || size > len(records) {
				return errors.New("a listing that is torn")
			}
			name, _, _ := bytes.Cut(records[19:size], []byte{0})
			names[string(name)] = true
			records = records[size:]
		}
		delete(names, ".")
		delete(names, "..")
	}
	return nil
}

// peek reads a string of a thread's memory.
func peek(tid int, at uint64) (string, error) {
	var text []byte
	for len(text) < 4096 {
		part := make([]byte, 256-at%256) // never into a page that may be missing
		local := []unix.Iovec{{Base: &part[0], Len: uint64(len(part))}}
		if _, err := unix.ProcessVMReadv(tid, local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(part)}}, 0); err != nil {
			return "", err
		}
		if end := bytes.IndexByte(part, 0); end >= 0 {
			return string(append(text, part[:end]...)), nil
		}
		text = append(text, part...)
		at += uint64(len(part))
	}
	return string(text), nil
}
