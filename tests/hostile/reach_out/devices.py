# Opens and makes device files: memory, disks, kernel log, KVM, FUSE, loop.
import os
import stat


def probe(name, attempt):
    try:
        attempt()
    except BaseException as error:
        print(f"probe {name}: {type(error).__name__}")
    else:
        print(f"probe {name}: ok")


for name in ("mem", "kmem", "port", "kmsg", "sda", "vda", "nvme0n1", "kvm", "fuse", "loop-control", "loop0", "net/tun", "vsock", "vhost-vsock", "shm/x", "mqueue/x"):
    probe(name, lambda: os.open(f"/dev/{name}", os.O_RDONLY))
probe("mknod disk", lambda: os.mknod("/tmp/autograder_left_disk", stat.S_IFBLK | 0o666, os.makedev(8, 0)))
probe("mknod memory", lambda: os.mknod("/tmp/autograder_left_memory", stat.S_IFCHR | 0o666, os.makedev(1, 1)))
probe("sysrq", lambda: open("/proc/sysrq-trigger", "w"))
probe("sysfs", lambda: open("/sys/kernel/uevent_helper", "w"))
