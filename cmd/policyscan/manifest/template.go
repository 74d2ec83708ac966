package manifest

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"
	"text/template"
	"unicode"
	"unicode/utf8"
)

// templates parses the objects when they are first written: at the start of the program, this and the expressions of
// Check took a fifth of what `policyscan --version` takes.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"quote": quote, "indent": indent, "literal": literal, "base64": base64.StdEncoding.EncodeToString,
		"pod": func() string { return podText }, "run": func() string { return runText },
		"confined": func() string { return confinedText },
	}).Parse(objectsText + scanText + mergeText))
})

// quote writes a text in double quotes, as JSON does, which YAML reads alike.
func quote(text string) (string, error) {
	quoted, err := json.Marshal(text)
	return string(quoted), err
}

// indent puts spaces before every line of a text that has one.
func indent(spaces int, text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = strings.Repeat(" ", spaces) + line
		}
	}
	return strings.Join(lines, "\n")
}

// plain reports whether YAML gives a text back from a literal block as it was: printable text, LF only, one LF at its
// end, and no space at the beginning, which would count as indentation.
func plain(content []byte) bool {
	text := string(content)
	return utf8.Valid(content) && strings.HasSuffix(text, "\n") && !strings.HasSuffix(text, "\n\n") &&
		!strings.ContainsAny(text[:1], " \n\t") && !strings.ContainsFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && !unicode.IsPrint(r)
	})
}

// literal is a text as the lines of a literal block.
func literal(spaces int, content []byte) string { return indent(spaces, string(content)) }

// Meta returns the metadata of an object.
func (o objects) Meta(name string) string {
	text := "name: " + name + "\n"
	if o.Namespace != "" {
		text += "namespace: " + o.Namespace + "\n"
	}
	return text + "labels:\n  app.kubernetes.io/name: policyscan\n  app.kubernetes.io/instance: " + o.Name
}

// Scan returns the spec of the scan's Job.
func (o objects) Scan() (string, error) { return o.part("scan") }

// Merge returns the spec of the merge's Job.
func (o objects) Merge() (string, error) { return o.part("merge") }

// part writes a template by its name.
func (o objects) part(name string) (string, error) {
	var text strings.Builder
	err := templates().ExecuteTemplate(&text, name, o)
	return text.String(), err
}

// Texts returns the files that a literal block gives back as they are.
func (m configMap) Texts() []entry { return m.some(true) }

// Bytes returns the others, which are written in base64.
func (m configMap) Bytes() []entry { return m.some(false) }

func (m configMap) some(text bool) []entry {
	var some []entry
	for _, e := range m.Entries {
		if plain(e.Content) == text {
			some = append(some, e)
		}
	}
	return some
}

// objectsText is the whole: the comments, the ConfigMaps, and the scan and the merge as Jobs or CronJobs.
const objectsText = `
{{- define "objects" -}}
# The fleet {{.Name}}: {{.Shards}} shard{{if gt .Shards 1}}s{{end}} and the merge, which has the last word.
#
#   kubectl apply --server-side --filename FILE
#
# Without --server-side, kubectl refuses a ConfigMap of more than 256 KiB.
{{- if .Schedule}}
# The two CronJobs must keep the same schedule: from its own name, the merge knows the folder of the scan.
# The night's result is in the folder {{.Name}}-NUMBER of the results, its shards are in scan-{{.Name}}-NUMBER.
# NUMBER is the time that the run was scheduled for, in minutes since 1970.
{{- else}}
# Use another name for each run: the merge would take the shards of an earlier run with this name for those of this one.
# The result is in the folder {{.Name}} of the results, its shards are in scan-{{.Name}}.
{{- end}}
{{- range .OnVolume}}
#
# First: {{.}}.
{{- end}}
{{range .Maps -}}
---
apiVersion: v1
kind: ConfigMap
metadata:
{{indent 2 ($.Meta .Name)}}
immutable: true
{{- if .Texts}}
data:
{{- range .Texts}}
  {{quote .Key}}: |
{{literal 4 .Content}}
{{- end}}
{{- end}}
{{- if .Bytes}}
binaryData:
{{- range .Bytes}}
  {{quote .Key}}: {{base64 .Content}}
{{- end}}
{{- end}}
{{end -}}
{{- if .Schedule -}}
---
apiVersion: batch/v1
kind: CronJob
metadata:
{{indent 2 (.Meta (print "scan-" .Name))}}
spec:
  schedule: {{quote .Schedule}}
  timeZone: Etc/UTC
  # A night that would begin before the last one has ended is not scanned. Its merge says so.
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
{{indent 6 .Scan}}
---
apiVersion: batch/v1
kind: CronJob
metadata:
{{indent 2 (.Meta .Name)}}
spec:
  schedule: {{quote .Schedule}}
  timeZone: Etc/UTC
  concurrencyPolicy: Allow
  jobTemplate:
    spec:
{{indent 6 .Merge}}
{{else -}}
---
apiVersion: batch/v1
kind: Job
metadata:
{{indent 2 (.Meta (print "scan-" .Name))}}
spec:
{{indent 2 .Scan}}
---
apiVersion: batch/v1
kind: Job
metadata:
{{indent 2 (.Meta .Name)}}
spec:
{{indent 2 .Merge}}
{{end -}}
{{end}}`

// scanText is the spec of the scan's Job.
const scanText = `
{{define "scan" -}}
completionMode: Indexed
completions: {{.Shards}}
parallelism: {{.Parallelism}}
# A pod that was killed or ran out of memory is tried again, twice. An index that fails does not stop the others.
backoffLimitPerIndex: 2
maxFailedIndexes: {{.Shards}}
podReplacementPolicy: Failed
podFailurePolicy:
  rules:
  # A node that was lost or drained says nothing about the shard: try again, and do not count it.
  - action: Ignore
    onPodConditions:
    - type: DisruptionTarget
      status: "True"
  # 2: something could not be decided. The shard says what, and trying again would say the same.
  - action: FailIndex
    onExitCodes:
      containerName: scan
      operator: In
      values: [2]
activeDeadlineSeconds: 43200
template:
  metadata:
    labels:
      app.kubernetes.io/name: policyscan
      app.kubernetes.io/instance: {{.Name}}
      app.kubernetes.io/component: scan
  spec:
{{indent 4 pod}}
    containers:
    - name: scan
      image: {{quote .Image}}
      args:
      {{- range .Args}}
      - {{quote .}}
      {{- end}}
      env:
{{indent 6 run}}
      - name: POD
        valueFrom:
          fieldRef: {fieldPath: metadata.name}
      - name: POLICYSCAN_SHARDS
        value: "{{.Shards}}"
      resources:
        requests: {cpu: 500m, memory: 256Mi}
        limits: {cpu: "2", memory: 1Gi}
{{indent 6 confined}}
      volumeMounts:
      - {name: mirrors, mountPath: /mirrors, readOnly: true}
      - {name: results, mountPath: /results}
      {{- range .Maps}}
      {{- if .Mount}}
      - {name: {{.Volume}}, mountPath: {{.Mount}}, subPath: rules, readOnly: true}
      {{- else}}
      - {name: list, mountPath: /work/repositories.txt, subPath: repositories.txt, readOnly: true}
      {{- end}}
      {{- end}}
    volumes:
    - name: mirrors
      persistentVolumeClaim: {claimName: {{quote .Mirrors}}, readOnly: true}
    - name: results
      persistentVolumeClaim: {claimName: {{quote .Results}}}
    {{- range .Maps}}
    - name: {{.Volume}}
      configMap:
        name: {{.Name}}
        items:
        {{- range .Entries}}
        - {key: {{quote .Key}}, path: {{quote .Path}}}
        {{- end}}
    {{- end}}
{{end}}`

// mergeText is the spec of the merge's Job, and what the pods of both have in common.
const mergeText = `
{{define "merge" -}}
backoffLimit: 3
podReplacementPolicy: Failed
podFailurePolicy:
  rules:
  - action: Ignore
    onPodConditions:
    - type: DisruptionTarget
      status: "True"
  # 1: a violation. 2: a shard is missing, or something could not be decided. Both are the answer.
  - action: FailJob
    onExitCodes:
      containerName: merge
      operator: In
      values: [1, 2]
template:
  metadata:
    labels:
      app.kubernetes.io/name: policyscan
      app.kubernetes.io/instance: {{.Name}}
      app.kubernetes.io/component: merge
  spec:
{{indent 4 pod}}
    containers:
    - name: merge
      image: {{quote .Image}}
      args:
      {{- range .MergeArgs}}
      - {{quote .}}
      {{- end}}
      env:
{{indent 6 run}}
      resources:
        requests: {cpu: 50m, memory: 64Mi}
        limits: {cpu: "1", memory: 1Gi}
{{indent 6 confined}}
      volumeMounts:
      - {name: results, mountPath: /results}
    volumes:
    - name: results
      persistentVolumeClaim: {claimName: {{quote .Results}}}
{{end}}`

// podText is what the pods of both Jobs have in common. A Service called policyscan would set POLICYSCAN_PORT, which
// the program refuses as an unknown variable: hence enableServiceLinks.
const podText = `
restartPolicy: Never
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
`

// runText is the name of the Job, which names the folder of the run.
const runText = `
- name: RUN
  valueFrom:
    fieldRef: {fieldPath: "metadata.labels['batch.kubernetes.io/job-name']"}
`

// confinedText takes from a container what policyscan does not need.
const confinedText = `
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
`
