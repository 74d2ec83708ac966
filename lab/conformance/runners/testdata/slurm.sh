#!/usr/bin/env bash
# slurm.sh SCRATCH DIR COMMAND...: runs a command in a directory below /tmp, with a Slurm of one node. Debian's packages
# are installed in an overlay of /, in namespaces that end with the command: nothing of the machine changes.
set -euo pipefail
if [[ $1 != inside ]]; then
  exec unshare --mount --pid --uts --ipc --fork --kill-child bash "$0" inside "$@"
fi
scratch=$2
shift 2
mount --make-rprivate /
mount --types tmpfs tmpfs "$scratch"
mkdir "$scratch"/{upper,work,root}
mount --types overlay overlay --options "lowerdir=/,upperdir=$scratch/upper,workdir=$scratch/work" "$scratch/root"
mount --types proc proc "$scratch/root/proc"
for dir in dev sys tmp; do mount --rbind /$dir "$scratch/root/$dir"; done
hostname node-1
cat >"$scratch/root/begin" <<'END'
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get install --quiet --yes --no-install-recommends slurmctld slurmd slurm-client munge >/var/log/install 2>&1 ||
  { tail /var/log/install; exit 3; }
# Slurm wants an address that is not loopback, if there is one.
address=$(ip -4 -o addr show scope global | awk '{sub("/.*", "", $4); print $4; exit}')
echo "${address:-127.0.0.1} node-1" >>/etc/hosts
mkdir -p /etc/slurm /var/spool/slurm /run/munge /run/slurm
cat >/etc/slurm/slurm.conf <<CONF
ClusterName=one
SlurmctldHost=node-1
SlurmUser=root
AuthType=auth/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
StateSaveLocation=/var/spool/slurm
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurm/ctld.pid
SlurmdPidFile=/run/slurm/d.pid
ReturnToService=2
NodeName=node-1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=node-1 Default=YES State=UP
CONF
chown munge: /run/munge
runuser --user munge -- munged --force
slurmctld
slurmd
for try in {1..150}; do
  ! sinfo --noheader --format %T | grep --quiet idle || break
  sleep 0.2
done
cd "$1"
shift
"$@"
END
chroot "$scratch/root" bash /begin "$@"
