#!/bin/bash
# usage: unshare --pid --fork --kill-child --mount --cgroup --net --uts --ipc systemd_namespace.sh FOLDER PYTHON SITE SRC
# Starts systemd as process 1 of these namespaces. The machine stays as it is: the root is an overlay whose changes are in memory, the
# kernel's settings are read-only, and SYSTEMD_UNIT_PATH has the units of FOLDER alone (Debian's would clean /tmp, for example).
set -eu
folder=$1 python=$2 site=$3 src=$4
mount --make-rprivate /
mount -t tmpfs tmpfs "$folder/memory"
mkdir "$folder"/memory/{changed,work,root}
root=$folder/memory/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$folder/memory/changed,workdir=$folder/memory/work" "$root"
for each in run dev opt etc/kwire; do mkdir -p "$root/$each"; mount -t tmpfs -o mode=755 tmpfs "$root/$each"; done
for each in null zero full random urandom tty; do touch "$root/dev/$each"; mount --bind "/dev/$each" "$root/dev/$each"; done
mkdir "$root"/dev/{shm,pts} "$root"/opt/{python,site,src}
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx" # PrivateDevices= copies it
mount -t proc proc "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
# outside of /root and /home, which the unit hides
for each in python site src; do
    mount --bind "${!each}" "$root/opt/$each"
    mount -o remount,bind,ro "$root/opt/$each"
done
cp -r "$folder/kwire" "$root/opt/"
cp -r "$folder/units" "$root/run/"
install -d -m 0700 "$root/etc/kwire/tls"
install -m 0644 "$folder/proxy.toml" "$root/etc/kwire/"
install -m 0600 "$folder"/proxy.{pem,key} "$root/etc/kwire/tls/"
ip link set lo up
cd "$root"
mkdir -p mnt/before
pivot_root . mnt/before
umount -l /mnt/before
mount --make-rshared / # systemd expects this of what starts it in a container, and moves credentials to their folder by it
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin SYSTEMD_UNIT_PATH=/run/units SYSTEMD_LOG_TARGET=null \
    /lib/systemd/systemd --system --unit=multi-user.target </dev/null
