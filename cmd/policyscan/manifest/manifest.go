// Package manifest writes the Kubernetes objects that scan a fleet of repositories: values -> YAML. It opens no file,
// and it talks to no cluster.
//
// [Values.YAML] gives, in this order, the ConfigMaps with the list and the bundles, the scan, and the merge:
//
//   - The scan is an Indexed Job with one index for each shard. Each pod writes what it found to the shard's folder, in
//     the run's folder on the results volume. A violation does not fail an index (--defer), since Kubernetes would then
//     try it again.
//   - The merge is a Job with one pod. It waits until every shard has been written, and has the last word.
//   - With a schedule both are CronJobs, with the same schedule.
//
// Nothing in a cluster tells the merge which run it belongs to, and a folder that every night shares would let last
// night's shard stand for one that is missing tonight. So the folder is named by the Job, in which a CronJob writes the
// time that the run was scheduled for. The two Jobs are named so that the merge can write the name of the scan's
// folder: Kubernetes replaces $(RUN) in an argument, and does nothing else with text. The CronJob "scan-nightly" makes
// the Job "scan-nightly-29012345", and "nightly" makes "nightly-29012345" at the same time; the merge therefore reads
// "scan-$(RUN)".
//
// Limits: the volumes must be there and can be mounted by several nodes; the two schedules must stay the same.
package manifest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/internal/late"
)

const (
	// MaxConfigMap is how many bytes Kubernetes takes in a ConfigMap. A longer list, or a larger bundle, must be on the
	// volume of the mirrors.
	MaxConfigMap = 1 << 20
	// MaxShards is how many indexes a Job may have here. Kubernetes itself takes ten times as many.
	MaxShards = 10_000
	// MaxName is how long a fleet's name may be, so that the name of each pod, with the night's number and the index,
	// is a valid host name (63 bytes).
	MaxName = 40
)

// Where the containers find their files. The paths in a list must be right in the container.
const (
	MirrorsDir = "/mirrors" // the mirrors' volume, read-only
	ResultsDir = "/results" // the results' volume
	listFile   = "/work/repositories.txt"
	policyDir  = "/policy" // with a number behind it if there are several
)

// Values are what the objects depend on.
type Values struct {
	Name        string   // of the merge's Job or CronJob, and with a prefix of the scan's: a DNS label
	Namespace   string   // "" writes none, and kubectl uses its own
	Image       string   // with policyscan as its entry point
	Shards      int      // indexes of the Job, from 1
	Parallelism int      // pods that run at the same time, from 1
	Mirrors     string   // the claim of the volume with the repositories
	Results     string   // the claim of the volume for the results
	Schedule    string   // five fields of cron in UTC, or @daily and the like; "" writes Jobs that run at once
	List        []byte   // the list of repositories
	Policies    []Policy // in the order of --policy
	Flags       []string // further arguments of the scan, as they are
}

// A Policy is one --policy of the scan.
type Policy struct {
	Builtin string // such as builtin:infra; then there are no files
	Files   []File // the rule files of a bundle
}

// A File is one file of a bundle.
type File struct {
	Path    string // slash-separated, from the bundle's folder: rules/boundaries.yml
	Content []byte
}

var (
	labels    = late.Regexp(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	claims    = late.Regexp(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)
	images    = late.Regexp(`^[a-zA-Z0-9][-a-zA-Z0-9._/:@]*$`)
	cronField = late.Regexp(`^[-0-9A-Za-z*/,?]+$`)
	mapKeys   = late.Regexp(`^[-_a-zA-Z0-9][-._a-zA-Z0-9]{0,200}$`)
)

// Check returns an error that names every value with which the objects would be wrong, or nil.
func (v Values) Check() error {
	var errs []error
	wrong := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	wrong(labels().MatchString(v.Name) && len(v.Name) <= MaxName,
		"the name %q is not valid; use at most %d lower-case letters, digits and hyphens, and begin with a letter",
		v.Name, MaxName)
	wrong(v.Namespace == "" || labels().MatchString(v.Namespace) && len(v.Namespace) <= 63,
		"the namespace %q is not valid; use lower-case letters, digits and hyphens", v.Namespace)
	wrong(images().MatchString(v.Image), "the image %q is not valid; write it as NAME:TAG or NAME@sha256:HASH", v.Image)
	wrong(v.Shards >= 1 && v.Shards <= MaxShards, "%d shards; use 1 to %d", v.Shards, MaxShards)
	wrong(v.Parallelism >= 1, "a parallelism of %d; use 1 or more", v.Parallelism)
	for _, claim := range []struct{ of, name string }{{"mirrors", v.Mirrors}, {"results", v.Results}} {
		wrong(claims().MatchString(claim.name) && len(claim.name) <= 253,
			"the claim of the %s, %q, is not the name of a PersistentVolumeClaim", claim.of, claim.name)
	}
	wrong(validSchedule(v.Schedule),
		"the schedule %q is not valid; write five fields, such as \"0 2 * * *\"", v.Schedule)
	wrong(len(v.List) > 0, "the list of repositories is empty")
	for i, p := range v.Policies {
		wrong((p.Builtin == "") != (len(p.Files) == 0), "policy %d has no rule file", i+1)
		for _, f := range p.Files {
			wrong(strings.HasPrefix(f.Path, "rules/"), "policy %d: the rule file %q is not below rules/", i+1, f.Path)
		}
	}
	return errors.Join(errs...)
}

// validSchedule reports whether a schedule looks like one of cron. Kubernetes has the last word.
func validSchedule(s string) bool {
	switch s {
	case "", "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly":
		return true
	}
	fields := strings.Fields(s)
	for _, f := range fields {
		if !cronField().MatchString(f) {
			return false
		}
	}
	return len(fields) == 5
}

// OnVolume says what is too large for a ConfigMap: a sentence for each list or bundle that somebody must copy to the
// volume of the mirrors. It is empty if there is nothing to copy.
func (v Values) OnVolume() []string {
	var all []string
	say := func(what string, size int, where string) {
		all = append(all, fmt.Sprintf(
			"%s has %d bytes, and a ConfigMap takes %d: copy it to %s on the volume of the claim %s",
			what, size, MaxConfigMap, where, v.Mirrors))
	}
	if len(v.List) > MaxConfigMap {
		say("the list", len(v.List), strings.TrimPrefix(v.listPath(), MirrorsDir+"/"))
	}
	for i, p := range v.Policies {
		if p.size() > MaxConfigMap {
			say("the bundle", p.size(), strings.TrimPrefix(v.policyPath(i), MirrorsDir+"/"))
		}
	}
	return all
}

func (p Policy) size() int {
	size := 0
	for _, f := range p.Files {
		size += len(f.Content)
	}
	return size
}

// listPath returns where the scan reads the list.
func (v Values) listPath() string {
	if len(v.List) > MaxConfigMap {
		return MirrorsDir + "/repositories.txt"
	}
	return listFile
}

// policyPath returns what the scan's --policy names.
func (v Values) policyPath(i int) string {
	dir := policyDir
	if len(v.Policies) > 1 {
		dir += fmt.Sprint("-", i+1)
	}
	switch p := v.Policies[i]; {
	case p.Builtin != "":
		return p.Builtin
	case p.size() > MaxConfigMap:
		return MirrorsDir + dir
	}
	return dir
}

// YAML returns the objects, or the error of [Values.Check]. Same values, same bytes.
func (v Values) YAML() ([]byte, error) {
	if err := v.Check(); err != nil {
		return nil, err
	}
	objects := objects{Values: v}
	if v.listPath() == listFile {
		objects.Maps = append(objects.Maps, v.configMap("list", "", []File{{"repositories.txt", v.List}}))
	}
	for i, p := range v.Policies {
		if at := v.policyPath(i); len(p.Files) > 0 && !strings.HasPrefix(at, MirrorsDir) {
			objects.Maps = append(objects.Maps, v.configMap(strings.TrimPrefix(at, "/"), at+"/rules", p.Files))
		}
	}
	var text bytes.Buffer
	if err := templates().ExecuteTemplate(&text, "objects", objects); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// objects are the values of the template.
type objects struct {
	Values
	Maps []configMap
}

// A configMap holds a list or a bundle. Its name ends in a hash of what it holds: a change makes another ConfigMap, and
// the pods of a run that has begun still get the one that it began with.
type configMap struct {
	Name    string
	Volume  string // the volume's name in a pod
	Mount   string // the folder of a bundle's rules; "": it is the list
	Entries []entry
}

type entry struct {
	Key  string // of the ConfigMap
	Path string // in the volume
	File
}

func (v Values) configMap(volume, mount string, files []File) configMap {
	m := configMap{Volume: volume, Mount: mount}
	sum, used := sha256.New(), map[string]bool{}
	for i, f := range files {
		key := strings.ReplaceAll(strings.TrimPrefix(f.Path, "rules/"), "/", ".")
		if !mapKeys().MatchString(key) || used[key] {
			key = fmt.Sprint("file-", i+1)
		}
		used[key] = true
		m.Entries = append(m.Entries, entry{key, f.Path, f})
		fmt.Fprintf(sum, "%d %s %d\n", len(f.Path), f.Path, len(f.Content))
		sum.Write(f.Content)
	}
	m.Name = v.Name + "-" + volume + "-" + hex.EncodeToString(sum.Sum(nil))[:8]
	return m
}

// Args returns the arguments of the scan's container. The text that a user gave is kept as it is: Kubernetes replaces
// $(NAME), and takes $$(NAME) for $(NAME).
func (o objects) Args() []string {
	args := []string{"fleet", "--repos", o.listPath()}
	for i := range o.Policies {
		args = append(args, "--policy", o.policyPath(i))
	}
	for _, flag := range o.Flags {
		args = append(args, strings.ReplaceAll(flag, "$", "$$"))
	}
	// JOB_COMPLETION_INDEX is set by Kubernetes. Pods of one run write at the same time, and so may two of one shard,
	// if a node is cut off: each has a folder, and the merge takes one that is done.
	return append(args, "--output", ResultsDir+"/$(RUN)/$(JOB_COMPLETION_INDEX)/$(POD)", "--shard", "auto", "--defer")
}

// MergeArgs returns the arguments of the merge's container.
func (o objects) MergeArgs() []string {
	return []string{"merge", "--wait", "12h", "--output", ResultsDir + "/$(RUN)", ResultsDir + "/scan-$(RUN)"}
}
