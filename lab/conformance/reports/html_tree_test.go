package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/verdict"
)

// infrastructure is the tree of a small shop that breaks most of its rules, some in many
// places.
func infrastructure() map[string]string {
	files := map[string]string{
		"policy/rules/boundaries.yml": `rules:
  - id: TF-NET-001
    title: No network range that means everyone
    enforcement: {mode: fail}
    match: {files: ["**/*.tf", "**/*.tfvars"], forbidden_patterns: ["0.0.0.0/0", "::/0"]}
    message: This range is the whole internet.
    remediation: |
      Name the ranges that need access, or refer to another security group:

        cidr_blocks = var.office_ranges

      Public traffic enters through the edge account only.
    docs_url: https://docs.example.com/policy/network#ingress
    owner: network-team
    severity: high
    tags: [terraform, network]
  - id: TF-IAM-001
    title: No policy that allows every action
    enforcement: {mode: fail}
    match: {files: ["**/*.tf"], forbidden_patterns: ['"Action": "*"', 'actions = ["*"]']}
    message: A role that may do everything is an owner of the account.
    remediation: List the actions that the role needs.
    owner: identity
    severity: critical
    tags: [terraform, iam]
  - id: K8S-POD-001
    title: No privileged container
    enforcement: {mode: fail}
    match: {files: ["k8s/**/*.yaml"], forbidden_patterns: ["privileged: true", "hostNetwork: true"]}
    message: A privileged container is root on its node.
    docs_url: https://kubernetes.io/docs/concepts/security/pod-security-standards/
    owner: platform
    severity: critical
    tags: [kubernetes]
  - id: K8S-IMG-002
    title: Images have a version
    enforcement: {mode: fail}
    match: {files: ["k8s/**/*.yaml"], forbidden_patterns: [":latest"]}
    remediation: Name a digest, or a tag that never moves.
    owner: platform
    severity: medium
  - id: CI-001
    title: No secret in a workflow's log
    enforcement: {mode: fail}
    match: {files: [".github/workflows/*.yml"], forbidden_patterns: ["echo ${{ secrets."]}
    message: What a step prints is read by everyone who can read the repository.
    owner: identity
    severity: high
    redact: true
  - id: DOCKER-001
    title: No image that runs as root
    enforcement: {mode: fail}
    match: {files: ["**/Dockerfile"], forbidden_patterns: ["USER root"]}
    owner: platform
    severity: low
`,
		"policy/rules/invariants.yml": `rules:
  - id: TF-ENC-001
    title: Data at rest is encrypted
    enforcement: {mode: fail}
    match: {files: ["**/*.tf"], required_absent: ["encrypted = false", "storage_encrypted       = false"]}
    message: Storage without encryption breaks the promise of section 4 of the data policy.
    remediation: Take the line out; the default is right.
    docs_url: https://docs.example.com/policy/encryption
    owner: data-platform
    severity: high
    tags: [terraform, storage]
  - id: ALL-KEY-001
    title: No key of a cloud account
    enforcement: {mode: fail}
    match: {files: ["**"], required_absent: ["AKIAIOSFODNN7EXAMPLE"]}
    message: A key that was committed has leaked.
    remediation: Revoke it first, then take it out.
    severity: critical
  - id: PY-001
    title: No debugger in the lambdas
    enforcement: {mode: fail}
    match: {files: ["lambda/**/*.py"], required_absent: ["breakpoint()"]}
    owner: data-platform
  - id: HELM-009
    title: Charts name their maintainers
    enforcement: {mode: fail}
    match: {files: ["charts/**/Chart.yaml"], required_absent: ["maintainers: []"]}
    owner: platform
    severity: low
`,
		"README.md":                   "# The shop\n",
		"scripts/deploy.sh":           "export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE\n",
		".github/workflows/build.yml": "jobs:\n  build:\n    steps:\n      - run: echo ${{ secrets.DEPLOY_TOKEN }} | base64\n",
		"lambda/resize/main.py":       "def handler(event, context):\n    return 1\n",
		"terraform/iam/admin.tf":      "data \"aws_iam_policy_document\" \"admin\" {\n  statement {\n    actions = [\"*\"]\n    resources = [\"*\"]\n  }\n}\n",
		"terraform/iam/break-glass.tf": `policy = jsonencode({ "Version": "2012-10-17", "Statement": [{ "Sid": "BreakGlass", "Effect": "Allow", "Action": "*", "Resource": "*", "Condition": { "Bool": { "aws:MultiFactorAuthPresent": "true" } } }] })
`,
	}
	for i, name := range strings.Fields("cart catalog checkout images mailer orders payments search") {
		file := "k8s/" + name + "/deployment.yaml"
		files[file] = fmt.Sprintf("kind: Deployment\nmetadata:\n  name: %s\nspec:\n  template:\n    spec:\n      containers:\n        - name: %s\n          image: registry.example.com/shop/%s:latest\n", name, name, name)
		if i%3 == 0 {
			files[file] += "          securityContext:\n            privileged: true\n"
		}
		if i%4 == 1 {
			files[file] += "      hostNetwork: true\n"
		}
		user := "app"
		if i%3 == 1 {
			user = "root"
		}
		files["services/"+name+"/Dockerfile"] = "FROM debian:12\nUSER " + user + "\n"
	}
	for i, name := range strings.Fields("bastion edge database cache queue storefront") {
		file := "terraform/modules/" + name + "/main.tf"
		files[file] = fmt.Sprintf("resource \"aws_security_group\" %q {\n  name = %q\n\n  ingress {\n    from_port   = 443\n    to_port     = 443\n    protocol    = \"tcp\"\n    cidr_blocks = [\"0.0.0.0/0\"] # %s\n  }\n}\n", name, name, "temporary, see the ticket of the migration")
		if i%2 == 0 {
			files[file] += "\nresource \"aws_security_group_rule\" \"v6\" {\n  ipv6_cidr_blocks = [\"::/0\"]\n  cidr_blocks      = [\"0.0.0.0/0\"]\n}\n"
		}
		if i%2 == 1 {
			files[file] += "\nresource \"aws_ebs_volume\" \"data\" {\n  encrypted = false\n}\n"
		}
		files["terraform/environments/"+name+"-staging.tfvars"] = "admin_ranges = [\"10.0.0.0/8\"]\n"
		files["terraform/environments/"+name+"-prod.tfvars"] = "public_ranges = [\"0.0.0.0/0\"]\n"
	}
	files["terraform/environments/edge-staging.tfvars"] += "public_ranges = [\"0.0.0.0/0\"]\n"
	return files
}

// many is a verdict of n violations, made from one of a real run.
func many(t *testing.T, like *verdict.Verdict, n int) *verdict.Verdict {
	t.Helper()
	v := *like
	v.Violations = nil
	for i := range n {
		x := like.Violations[i*len(like.Violations)/n]
		x.File = fmt.Sprintf("region-%02d/stack-%02d/%s", i%17, i%5, x.File)
		x.Evidence.Line = int64(i%900 + 1)
		x.Fingerprint = verdict.Fingerprint(x.RuleID, x.File, x.Evidence.Pattern, []byte(fmt.Sprint(i)))
		v.Violations = append(v.Violations, x)
	}
	v.Coverage.Files, v.Coverage.Governed, v.Coverage.Scanned = 4*n, 2*n, 2*n
	v.Decide()
	return &v
}
