"""Runs the command of a unit in a system without systemd, as its user, and with those of its restrictions that matter to a program:
what can be read and written, system calls, families of addresses, memory, limits, and no privileges.

    unshare --mount /usr/bin/python3 as_unit.py ROOT UNIT [VARIABLE=VALUE ...]

Settings that have no meaning without systemd, or that restrict devices and the kernel of which the root has none, are left out.
"""
import errno
import os
import pathlib
import pwd
import resource
import shlex
import socket
import subprocess
import sys

import seccomp

# What systemd always allows (systemd.exec(5), SystemCallFilter).
ALWAYS = {"execve", "exit", "exit_group", "getrlimit", "rt_sigreturn", "sigreturn"}
NAMESPACES = 0x7E020080
PROT_WRITE, PROT_EXEC, SHM_EXEC = 2, 4, 0o100000


def settings(path):
    """Returns the values of each setting of the section Service, in their order."""
    values, section = {}, ""
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line
        elif section == "[Service]" and "=" in line and not line.startswith("#"):
            name, value = line.split("=", 1)
            values.setdefault(name, []).append(value)
    return values


def system_calls(name):
    """Returns the system calls of a group such as @system-service."""
    if not name.startswith("@"):
        return {name}
    command = ["systemd-analyze", "syscall-filter", "--no-pager", name]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    entries = [line.strip() for line in lines if line.startswith("    ") and not line.strip().startswith("#")]
    return set().union(*map(system_calls, entries))


def allowed_calls(filters):
    allowed = set(ALWAYS)
    for value in filters:
        names = set().union(*map(system_calls, value.removeprefix("~").split()))
        allowed = allowed - (names - ALWAYS) if value.startswith("~") else allowed | names
    return allowed


def prepare_folders(root, state):
    """Makes everything read-only but the state, with empty temporary folders and no homes."""

    def mount(*arguments):
        subprocess.run(["mount", *arguments], check=True)

    mount("--rbind", root, root)
    mount("--bind", "--options", "remount,ro", root)
    mount("--bind", f"{root}{state}", f"{root}{state}")
    mount("--bind", "--options", "remount,rw", f"{root}{state}")
    for folder in ("tmp", "var/tmp"):
        mount("-t", "tmpfs", "tmpfs", f"{root}/{folder}")
    for folder in ("home", "root"):
        mount("-t", "tmpfs", "--options", "mode=000,ro", "tmpfs", f"{root}/{folder}")
    mount("-t", "proc", "--options", "subset=pid,hidepid=invisible", "proc", f"{root}/proc")


def refuse(unit):
    """Refuses what the unit names, on top of which come the allowed calls."""
    refused = seccomp.SyscallFilter(seccomp.ALLOW)
    families = {int(getattr(socket, name)) for name in unit["RestrictAddressFamilies"][-1].split()}
    for family in set(range(46)) - families:
        refused.add_rule(seccomp.ERRNO(errno.EAFNOSUPPORT), "socket", seccomp.Arg(0, seccomp.EQ, family))
    if unit["MemoryDenyWriteExecute"][-1] == "yes":
        both = PROT_WRITE | PROT_EXEC
        refused.add_rule(seccomp.ERRNO(errno.EPERM), "mmap", seccomp.Arg(2, seccomp.MASKED_EQ, both, both))
        for call in ("mprotect", "pkey_mprotect"):
            refused.add_rule(seccomp.ERRNO(errno.EPERM), call, seccomp.Arg(2, seccomp.MASKED_EQ, PROT_EXEC, PROT_EXEC))
        refused.add_rule(seccomp.ERRNO(errno.EPERM), "shmat", seccomp.Arg(2, seccomp.MASKED_EQ, SHM_EXEC, SHM_EXEC))
    refused.load()


def allow(calls, number):
    allowed = seccomp.SyscallFilter(seccomp.ERRNO(number))
    for call in calls:
        try:
            allowed.add_rule(seccomp.ALLOW, call)
        except (OSError, RuntimeError, ValueError):
            pass  # A call of another architecture, or one that is newer than this library.
    allowed.load()


def main():
    root, path, variables = sys.argv[1], sys.argv[2], sys.argv[3:]
    unit = settings(path)
    number = getattr(errno, unit["SystemCallErrorNumber"][-1])
    calls = allowed_calls(unit["SystemCallFilter"])
    state = f"/var/lib/{unit['StateDirectory'][-1]}"
    prepare_folders(root, state)
    os.chroot(root)
    os.chdir("/")
    user = pwd.getpwnam(unit["User"][-1])
    # Not above the limit of this process.
    limits = (int(unit["LimitNOFILE"][-1]), resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    limit = min(limit for limit in limits if limit != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    os.umask(int(unit["UMask"][-1], 8))
    os.setgroups([])
    os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
    os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
    environment = dict(variable.split("=", 1) for variable in variables)
    environment |= {"PATH": "/usr/bin:/bin", "HOME": user.pw_dir, "USER": user.pw_name, "STATE_DIRECTORY": state}
    command = shlex.split(unit["ExecStart"][-1])
    # Each filter also forbids new privileges.
    refuse(unit)
    allow(calls, number)
    os.execve(command[0], command, environment)


main()
