#!/usr/bin/env bash
# A Kubernetes of one node on a machine without a container daemon, a registry or systemd.
#
#   cluster.sh tools   fetch Debian's packages and build Kubernetes from Go modules, into $KUBERNETES_TOOLS
#   cluster.sh run     start the cluster in $KUBERNETES_STATE, an empty directory with the image pause.tar; it ends with
#                      this process. The file "ready" says that the node takes pods.
#
# etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubelet and kubectl are one program (node/main.go).
# containerd, runc and the network plugins are Debian's, unpacked and not installed. All of it runs in namespaces, so
# that it ends when its first process ends, and the machine's network, mounts, /run and sysctls stay as they are.
# Needs root, apt-get, util-linux, iproute2 and openssl.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tools=${KUBERNETES_TOOLS:?names a directory to keep the programs in}
state=${KUBERNETES_STATE:-}
version=1.35.4 # of Kubernetes; go.mod has the same. Later ones are untested with Debian 12's containerd 1.6.
node=node-1
address=10.99.0.1
controllers='cpu cpuacct cpuset memory devices freezer blkio pids'

tools() {
  local packages='containerd runc containernetworking-plugins iptables libxtables12 libip4tc2 libip6tc2 libnftnl11' deb
  if [[ ! -x $tools/root/usr/bin/containerd ]]; then
    mkdir -p "$tools/packages" "$tools/root"
    # shellcheck disable=SC2086
    (cd "$tools/packages" && apt-get --quiet download $packages)
    for deb in "$tools"/packages/*.deb; do dpkg --extract "$deb" "$tools/root"; done
  fi
  mkdir -p "$tools/bin"
  local of=k8s.io/component-base/version
  local set="-X $of.gitVersion=v$version -X $of.gitMajor=1 -X $of.gitMinor=$(cut -d. -f2 <<<"$version")"
  cd "$here"
  # Cold, this takes 14 minutes of a processor and 2.4 GB of memory.
  CGO_ENABLED=0 nice go build -p 2 -trimpath -buildvcs=false -ldflags "-s -w $set" -o "$tools/bin/node" ./node
  CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w' -o "$tools/bin/pause" ./pause
}

# With version 1 the cluster's cgroups are below the caller's, and share its limits; with version 2, which could not be
# tried, below the root's. Their directories are listed in the file "cgroups", for whoever removes them.
join_cgroups() {
  local controller dir own
  if [[ -f /sys/fs/cgroup/cgroup.controllers ]]; then
    dir=/sys/fs/cgroup/policyscan-$$
    own=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
    mkdir "$dir" && echo "$dir" >"$state/cgroups"
    # A group with a process has no groups below it: what stays outside of the namespaces goes back.
    (sleep 2 && echo $$ >"$own/cgroup.procs") &
    echo $$ >"$dir/cgroup.procs"
    return
  fi
  for controller in $controllers; do
    dir=/sys/fs/cgroup/$controller$(awk -F: -v c="$controller" '{n = split($2, a, ","); for (i = 1; i <= n; i++) if (a[i] == c) print $3}' /proc/self/cgroup)
    dir=${dir%/}/policyscan-$$
    mkdir "$dir" && echo "$dir" >>"$state/cgroups"
    if [[ $controller == cpuset ]]; then
      cat "$dir/../cpuset.cpus" >"$dir/cpuset.cpus"
      cat "$dir/../cpuset.mems" >"$dir/cpuset.mems"
    fi
    echo $$ >"$dir/cgroup.procs"
  done
}

# What kubelet wants of the kernel: only it sees these files. It would set the machine's.
sysctls='vm.overcommit_memory=1 vm.panic_on_oom=0 kernel.panic=10 kernel.panic_on_oops=1 kernel.keys.root_maxkeys=1000000 kernel.keys.root_maxbytes=25000000'

write_settings() {
  local token setting user
  mkdir -p "$state"/{keys,log,etcd,containerd,kubelet,net.d,varlog/pods,sysctl}
  for setting in $sysctls; do echo "${setting#*=}" >"$state/sysctl/${setting%=*}"; done
  openssl genrsa -out "$state/keys/accounts.key" 2048 2>/dev/null
  token=$(openssl rand -hex 16)
  printf '%s\n' "$token-admin,admin,admin,system:masters" "$token-node,system:node:$node,node,system:nodes" >"$state/keys/tokens.csv"
  for user in admin node; do
    cat >"$state/keys/$user.kubeconfig" <<END
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:6443", certificate-authority: $state/keys/apiserver.crt}}]
users: [{name: u, user: {token: $token-$user}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
END
  done
  cat >"$state/net.d/10-pods.conflist" <<END
{"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "ptp", "ipMasq": false,
 "ipam": {"type": "host-local", "dataDir": "/run/cni", "ranges": [[{"subnet": "10.244.0.0/16"}]]}}]}
END
  cat >"$state/containerd.toml" <<END
version = 2
root = "$state/containerd/root"
state = "/run/containerd"
disabled_plugins = ["io.containerd.internal.v1.tracing", "io.containerd.tracing.processor.v1.otlp"]
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "policyscan.test/pause:1"
  restrict_oom_score_adj = true # or it needs CAP_SYS_RESOURCE
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "$tools/root/usr/sbin/runc"
        SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$tools/root/usr/lib/cni"
    conf_dir = "$state/net.d"
END
  cat >"$state/kubelet.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
failCgroupV1: false
protectKernelDefaults: true
failSwapOn: false
oomScoreAdj: 0
makeIPTablesUtilChains: false
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
podLogsDir: $state/varlog/pods
resolvConf: ""
clusterDNS: [10.0.0.10] # there is none, but without it every pod has a warning
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}
nodeStatusUpdateFrequency: 5s
syncFrequency: 10s
END
}

run() {
  ((EUID == 0)) || { echo 'cluster.sh: run it as root' >&2; exit 2; }
  write_settings
  join_cgroups
  # A cgroup namespace begins at the groups that its first process is in.
  exec unshare --fork --kill-child --mount --pid --net --uts --ipc --cgroup --mount-proc bash "$here/cluster.sh" first
}

enable_controllers() {
  sed 's/[a-z]\+/+&/g' /sys/fs/cgroup/cgroup.controllers >/sys/fs/cgroup/cgroup.subtree_control
}

mount_cgroups() {
  umount --recursive /sys/fs/cgroup || umount --lazy /sys/fs/cgroup
  if [[ $(cat /proc/self/cgroup) == 0::* ]]; then # version 2
    mount --types cgroup2 cgroup /sys/fs/cgroup
    mkdir /sys/fs/cgroup/init
    echo $$ >/sys/fs/cgroup/init/cgroup.procs
    wait_for 20 enable_controllers
    return
  fi
  mount --types tmpfs --options mode=755 tmpfs /sys/fs/cgroup
  local controller
  for controller in $controllers; do
    mkdir "/sys/fs/cgroup/$controller"
    mount --types cgroup --options "$controller" cgroup "/sys/fs/cgroup/$controller"
  done
  mkdir /sys/fs/cgroup/systemd
  mount --types cgroup --options none,name=systemd cgroup /sys/fs/cgroup/systemd
}

# wait_for SECONDS COMMAND...
wait_for() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || { echo "cluster.sh: not in time: $*" >&2; exit 1; }
    sleep 0.2
  done
}

node_ready() { "$tools/bin/node" kubectl get node $node -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}' | grep -q True; }

# first is the first process in the namespaces.
first() {
  local setting
  mount --make-rprivate /
  : >"$state/resolv.conf" && mount --bind "$state/resolv.conf" /etc/resolv.conf
  hostname $node
  ip link set lo up
  # kubelet refuses a loopback address: a pair of links whose two ends are here.
  ip link add node0 type veth peer name node1
  ip link set node0 up && ip link set node1 up && ip addr add $address/24 dev node0 && ip route add default dev node0
  echo 1 >/proc/sys/net/ipv4/ip_forward
  mount_cgroups
  mount --types tmpfs --options mode=755 tmpfs /run
  mount --bind "$state/varlog" /var/log
  for setting in $sysctls; do
    setting=${setting%=*}
    mount --bind "$state/sysctl/$setting" "/proc/sys/${setting//.//}"
  done
  export PATH=$tools/root/usr/bin:$tools/root/usr/sbin:$PATH LD_LIBRARY_PATH=$tools/root/usr/lib/x86_64-linux-gnu
  export KUBECONFIG=$state/keys/admin.kubeconfig
  local program=$tools/bin/node log=$state/log keys=$state/keys

  containerd --config "$state/containerd.toml" >"$log/containerd" 2>&1 &
  "$program" etcd --data-dir "$state/etcd" --unsafe-no-fsync --listen-client-urls http://127.0.0.1:2379 \
    --advertise-client-urls http://127.0.0.1:2379 --listen-peer-urls http://127.0.0.1:2380 >"$log/etcd" 2>&1 &
  # Without --kubelet-preferred-address-types, logs wait for a name server.
  "$program" kube-apiserver --etcd-servers http://127.0.0.1:2379 --bind-address 127.0.0.1 --secure-port 6443 \
    --advertise-address 127.0.0.1 --cert-dir "$keys" --token-auth-file "$keys/tokens.csv" \
    --service-account-key-file "$keys/accounts.key" --service-account-signing-key-file "$keys/accounts.key" \
    --service-account-issuer https://kubernetes.default.svc --service-cluster-ip-range 10.0.0.0/24 \
    --authorization-mode Node,RBAC --kubelet-preferred-address-types InternalIP --endpoint-reconciler-type none \
    --profiling=false >"$log/apiserver" 2>&1 &
  wait_for 120 "$program" kubectl get --raw /readyz
  "$program" kube-controller-manager --kubeconfig "$KUBECONFIG" --leader-elect=false --bind-address 127.0.0.1 \
    --service-account-private-key-file "$keys/accounts.key" --root-ca-file "$keys/apiserver.crt" \
    --cert-dir "$keys/controllers" >"$log/controllers" 2>&1 &
  "$program" kube-scheduler --kubeconfig "$KUBECONFIG" --leader-elect=false --bind-address 127.0.0.1 \
    --cert-dir "$keys/scheduler" >"$log/scheduler" 2>&1 &
  wait_for 60 test -S /run/containerd/containerd.sock
  wait_for 60 ctr --address /run/containerd/containerd.sock --namespace k8s.io images import "$state/pause.tar"
  "$program" kubelet --config "$state/kubelet.yaml" --kubeconfig "$keys/node.kubeconfig" --root-dir "$state/kubelet" \
    --cert-dir "$keys/kubelet" --hostname-override $node --node-ip $address >"$log/kubelet" 2>&1 &
  wait_for 120 node_ready
  wait_for 60 "$program" kubectl get serviceaccount default
  touch "$state/ready"
  wait
}

case ${1:-} in
tools | run | first) "$1" ;;
*) sed -n '2,14p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
