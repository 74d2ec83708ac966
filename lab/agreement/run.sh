#!/bin/sh
# Runs the tools over the files that "agreement draw" wrote to DIR/files: each with its defaults, and kube-linter with
# all of its checks. They have to be on PATH. An exit status says what was found and is ignored.
set -u
cd "${1:?a directory}"
rm -rf files/.policyscan repo
policyscan init files >init.txt || exit
policyscan scan files --policy files/.policyscan --output policyscan.json -q
cp -r files repo && git -C repo init -q && git -C repo add .github &&
	git -C repo -c user.name=a -c user.email=a@example.com commit -qm a # poutine reads a repository
poutine analyze_local repo -f json -q >poutine.json
(cd files && actionlint -shellcheck= -pyflakes= -format '{{json .}}' .github/workflows/*) >actionlint.json
trivy config --skip-check-update --skip-version-check --quiet --format json files >trivy.json
ls -d files/kubernetes/*/* | grep -vi kustomization | xargs kube-linter lint --add-all-built-in --exclude schema-validation --format json >kube-linter.json
for f in files/docker/*/*; do
	dockerfilelint -j "$f" | jq -c --arg file "${f#files/}" '{issues: [.files[] | {file: $file, issues}]}'
done | jq -s . >dockerfilelint.json
(cd files && cfn-lint --format json 'cloudformation/**/*.y*ml' 'cloudformation/**/*.json') >cfn-lint.json
rm -rf repo
