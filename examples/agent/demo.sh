#!/bin/sh
# Plays calls of five coding agents to policyscan, and shows what each agent is told.
# Run it anywhere:  sh examples/agent/demo.sh
# It takes the policyscan that POLICYSCAN names, or else that of the PATH, or else builds one with go. It works on a
# copy of examples/infra-target and leaves nothing behind.
set -eu
unset CDPATH
here=$(cd "$(dirname "$0")" && pwd -P)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
scratch=$(cd "$scratch" && pwd -P)

policyscan=${POLICYSCAN:-$(command -v policyscan || true)}
if [ -z "$policyscan" ]; then
  policyscan=$scratch/policyscan
  (cd "$here/../.." && go build -o "$policyscan" ./cmd/policyscan)
fi
case $policyscan in
/*) ;;
*/*) policyscan=$(cd "$(dirname "$policyscan")" && pwd -P)/$(basename "$policyscan") ;;
esac

# The project that the agents work in, with its bundle and call rules where a team would have them.
mkdir "$scratch/shop"
cp -R "$here/../infra-target/." "$scratch/shop"
cp -R "$here/../policy" "$scratch/shop/.policyscan"
cp "$here/calls.yml" "$scratch/shop/.policyscan/calls.yml"

# member NAME is the text that the JSON on standard input has under a name; nothing if it has none.
member() {
  sed -nE 's/.*"('"$1"')":"(([^"\\]|\\.)*)".*/\2/p'
}

# show ANSWER prints what an agent is told.
show() {
  decision=$(printf '%s\n' "$1" | member 'permissionDecision|permission|decision')
  case $decision in
  deny) echo '   denied' ;;
  ask) echo '   asks the person' ;;
  '') echo '   goes on: policyscan has no opinion, the agent decides as it would without' ;;
  *) echo "   $decision" ;;
  esac
  printf '%s\n' "$1" | member 'permissionDecisionReason|reason|agent_message|systemMessage' |
    awk '{ gsub(/\\n/, "\n"); gsub(/\\"/, "\""); gsub(/\\\\/, "\\"); print }' |
    sed "s|$scratch/shop|/work/shop|g" | fold -s -w 100 | sed 's/ *$//; s/^/   | /'
  echo
}

# hook AGENT is the hook as hook install writes it, but for the root, which is said here. It reads a call.
hook() {
  "$policyscan" hook "$1" --root "$scratch/shop" --calls .policyscan/calls.yml
}

# play AGENT N WHAT gives the Nth call in calls/AGENT.jsonl to the hook, as the agent would. They were made in /work/shop.
play() {
  echo "$1: $3"
  sed -n "$2{s|/work/shop|$scratch/shop|g;p;}" "$here/calls/$1.jsonl" >"$scratch/call"
  answer=$(hook "$1" <"$scratch/call")
  show "$answer"
}

echo '== 1. What each agent is told, by the bundle examples/policy and the call rules calls.yml'
echo
play claude-code 1 'runs "terraform plan"'
play claude-code 2 'runs "cd terraform && terraform apply"'
play claude-code 3 'edits terraform/bastion.tf: SSH from everywhere'
play claude-code 4 'edits another line of a file that breaks the policy already'
play codex 1 'runs "git push --force"'
play codex 2 'patches: a new k8s/debug.yaml with a privileged container'
play gemini 1 'writes terraform/site.tf: a public bucket'
play gemini 2 'reads .env'
play copilot 1 'runs "terraform destroy"'
play copilot 2 'creates k8s/ops.yaml: a group becomes cluster-admin'
play cursor 1 'runs "terraform apply" (an ask is a deny there)'
play cursor 2 'writes .cursor/hooks.json, where its hooks are set'

echo 'claude-code: a call that is cut off; whatever goes wrong is a deny'
answer=$(printf '{"hook_event_name":"PreToolUse","tool_na' | hook claude-code 2>/dev/null)
show "$answer"

cd "$here"
echo '== 2. The same rules in five dialects, each in its own words'
echo
row='%-32s%-9s%-12s%-11s%-12s%s\n'
# shellcheck disable=SC2059
printf "$row" '' native sigmashake evaluator claudecube clash
sed 's/, "expected_decision".*/}/' scenarios.jsonl >"$scratch/tools"
i=0
for rules in calls.yml dialects/calls.rules dialects/calls.json dialects/calls.yaml dialects/calls.sexpr; do
  i=$((i + 1))
  status=0
  "$policyscan" eval --calls "$rules" <"$scratch/tools" >"$scratch/outcomes" || status=$?
  [ "$status" = 1 ] || exit 2 # 1: a call is not allowed
  member decision <"$scratch/outcomes" >"$scratch/column$i"
done
sed -E 's/.*"description": "([^"]*)".*/\1/' scenarios.jsonl | paste -d '|' - "$scratch"/column[1-5] |
  while IFS='|' read -r what a b c d e; do
    # shellcheck disable=SC2059
    printf "$row" "$what" "$a" "$b" "$c" "$d" "$e"
  done
echo
echo '== 3. Call rules have tests, too: policyscan test --calls calls.yml --scenarios scenarios.jsonl'
echo
"$policyscan" test --calls calls.yml --scenarios scenarios.jsonl
