"""Hosts of a network of their own: network namespaces around a hub, with links that can be cut."""

import shutil
import subprocess
import time
from pathlib import Path

from gateway.processes import end, spawn

START_SECONDS = 10.0


class HostsNotAllowed(Exception):
    """This machine does not let the caller make network namespaces; the text is its reason."""


class Hosts:
    """A hub, and hosts that each have one link to it. They are gone when their holders are.

    Raises:
        HostsNotAllowed: they cannot be made here.
    """

    def __init__(self, *names: str) -> None:
        self._holders: dict[str, subprocess.Popen[bytes]] = {}
        self.addresses: dict[str, str] = {}
        """The hub's address at the link of each host."""
        try:
            self._hold("hub")
            self._configure("hub", "link", "set", "lo", "up")
            for number, name in enumerate(names, 1):
                self._hold(name)
                self._connect(name, f"10.77.{number}")
        except HostsNotAllowed:
            self.close()
            raise

    def within(self, name: str) -> list[str]:
        """Return the words before a command that let it run on a host."""
        return [_find("nsenter"), f"--net=/proc/{self._holders[name].pid}/ns/net"]

    def cut(self, name: str) -> None:
        """Take a host's link down: whatever is sent is lost, without a word."""
        self._configure("hub", "link", "set", name, "down")

    def join(self, name: str) -> None:
        """Take a host's link up again."""
        self._configure("hub", "link", "set", name, "up")

    def close(self) -> None:
        """End what holds the hosts; whatever still runs on them runs on."""
        for holder in self._holders.values():
            end(holder, 1)

    def _hold(self, name: str) -> None:
        command = [_find("unshare"), "--net", _find("sleep"), "3600"]
        holder = self._holders[name] = spawn(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        deadline = time.monotonic() + START_SECONDS
        while not self._is_apart(holder):
            if holder.poll() is not None or time.monotonic() > deadline:
                assert holder.stdout is not None
                raise HostsNotAllowed(holder.stdout.read().decode().strip())
            time.sleep(0.01)

    def _is_apart(self, holder: "subprocess.Popen[bytes]") -> bool:
        try:
            return (
                Path(f"/proc/{holder.pid}/ns/net").readlink()
                != Path("/proc/self/ns/net").readlink()
            )
        except FileNotFoundError:
            return False

    def _connect(self, name: str, network: str) -> None:
        pid = str(self._holders[name].pid)
        link = ["link", "add", name, "type", "veth", "peer", "name", "hub", "netns", pid]
        self._configure("hub", *link)
        for host, interface, number in (("hub", name, 1), (name, "hub", 2)):
            self._configure(host, "address", "add", f"{network}.{number}/24", "dev", interface)
            self._configure(host, "link", "set", interface, "up")
        self.addresses[name] = f"{network}.1"

    def _configure(self, host: str, *arguments: str) -> None:
        command = [*self.within(host), _find("ip"), *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if ended.returncode:
            raise HostsNotAllowed(f"ip {' '.join(arguments)}: {ended.stderr.strip()}")


def _find(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise HostsNotAllowed(f"there is no program {program}")
    return found
