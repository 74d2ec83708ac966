package shard

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// MaxCount is the maximum number of shards.
const MaxCount = 10_000

// A Split is one of Count parts of some work. The zero Split is invalid.
type Split struct {
	Index int `json:"index"` // from 0 to Count-1
	Count int `json:"count"` // 1 to [MaxCount]
}

// String returns the split in the syntax of --shard: "3/8".
func (s Split) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// Of returns the index of a name's shard: the first 8 bytes of its SHA-256, as a big-endian number, modulo count. So a
// new name moves no other.
func Of(name string, count int) int {
	sum := sha256.Sum256([]byte(name))
	return int(binary.BigEndian.Uint64(sum[:8]) % uint64(count))
}

// Owns reports whether a name belongs to this shard. A name is the raw path of a file, or the name of a repository.
func (s Split) Owns(name string) bool { return s.Count == 1 || Of(name, s.Count) == s.Index }

// Parse returns the split for a value of --shard: "I/N", or "auto" for that in the CI system's variables, which getenv
// reads.
func Parse(value string, getenv func(string) string) (Split, error) {
	if value == "auto" {
		return auto(getenv)
	}
	index, count, cut := strings.Cut(value, "/")
	i, okI := number(index)
	n, okN := number(count)
	if !cut || !okI || !okN {
		return Split{}, fmt.Errorf("--shard is %q; write I/N, such as 0/8 for the first of eight shards, or auto",
			value)
	}
	s := Split{i, n}
	if wrong := s.wrong(); wrong != "" {
		return Split{}, fmt.Errorf("--shard is %q, and %s", value, wrong)
	}
	return s, nil
}

// wrong describes the mistake in a split; "" without one.
func (s Split) wrong() string {
	switch {
	case s.Count < 1 || s.Count > MaxCount:
		return fmt.Sprintf("there can be 1 to %d shards", MaxCount)
	case s.Index < 0 || s.Index >= s.Count:
		return fmt.Sprintf("the index is from 0 to %d, one less than the count", s.Count-1)
	}
	return ""
}

// number reads a number in an engine's syntax: digits only, without a sign or a leading zero.
func number(text string) (n int, ok bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && strconv.Itoa(n) == text
}

// An engine is a program that starts tasks, with their index and count in variables.
type engine struct {
	name         string
	index, count string // the variables
	first        int    // the index of the first task
	check        func(getenv func(string) string, s Split) error
}

// CountVariable is policyscan's own variable, for engines without one.
const CountVariable = "POLICYSCAN_SHARDS"

// checkArray refuses an array of Slurm's whose indices are not 0 to N-1.
func checkArray(getenv func(string) string, s Split) error {
	for _, v := range []struct {
		name string
		want int
	}{
		{"SLURM_ARRAY_TASK_MIN", 0}, {"SLURM_ARRAY_TASK_MAX", s.Count - 1}, {"SLURM_ARRAY_TASK_STEP", 1},
	} {
		if got := getenv(v.name); got != "" && got != strconv.Itoa(v.want) {
			return fmt.Errorf("--shard auto: %s is %q, and with SLURM_ARRAY_TASK_COUNT %d it must be %d: "+
				"the indices must be 0 to %d; start the tasks with --array=0-%d",
				v.name, got, s.Count, v.want, s.Count-1, s.Count-1)
		}
	}
	if getenv("SLURM_ARRAY_TASK_MIN") == "" {
		return errors.New("--shard auto: SLURM_ARRAY_TASK_MIN is not set, so it is unknown where the indices begin; " +
			"give --shard I/N")
	}
	return nil
}

// auto returns the split in the environment. Exactly one engine must set it, completely: a task with a default would
// silently repeat another's work.
func auto(getenv func(string) string) (Split, error) {
	var found []engine
	var names []string
	for _, e := range []engine{
		{"Kubernetes", "JOB_COMPLETION_INDEX", CountVariable, 0, nil},
		{"GitLab", "CI_NODE_INDEX", "CI_NODE_TOTAL", 1, nil},
		{"Buildkite", "BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT", 0, nil},
		{"Slurm", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", 0, checkArray},
	} {
		if getenv(e.index) != "" || getenv(e.count) != "" {
			found = append(found, e)
		}
		names = append(names, e.index+" and "+e.count)
	}
	if len(found) == 0 {
		return Split{}, fmt.Errorf("--shard auto: no index and count are set; it reads %s; "+
			"set both of a pair, or give --shard I/N", strings.Join(names, ", or "))
	}
	if len(found) > 1 {
		return Split{}, fmt.Errorf("--shard auto: the variables of %s and of %s are set (%s, %s), "+
			"so it is unknown which of them counts; give --shard I/N",
			found[0].name, found[1].name, found[0].set(getenv), found[1].set(getenv))
	}
	return found[0].split(getenv)
}

// set returns the first of the engine's variables that is set.
func (e *engine) set(getenv func(string) string) string {
	if getenv(e.index) != "" {
		return e.index
	}
	return e.count
}

func (e *engine) split(getenv func(string) string) (Split, error) {
	var read [2]int
	for k, name := range []string{e.index, e.count} {
		value := getenv(name)
		if value == "" {
			return Split{}, fmt.Errorf("--shard auto: %s is set, and %s is not; set both, or give --shard I/N",
				e.set(getenv), name)
		}
		n, ok := number(value)
		if !ok {
			return Split{}, fmt.Errorf("--shard auto: %s is %q, which is not a number; give --shard I/N", name, value)
		}
		read[k] = n
	}
	s := Split{Index: read[0] - e.first, Count: read[1]}
	switch {
	case s.Count < 1 || s.Count > MaxCount:
		return Split{}, fmt.Errorf("--shard auto: %s is %d, and there can be 1 to %d shards",
			e.count, s.Count, MaxCount)
	case s.wrong() != "":
		return Split{}, fmt.Errorf("--shard auto: %s is %d, and with %s %d it must be from %d to %d",
			e.index, read[0], e.count, s.Count, e.first, e.first+s.Count-1)
	case e.check != nil:
		return s, e.check(getenv, s)
	}
	return s, nil
}
