"""Attacks on the protocol: closing, flooding and forging it, in a tool's process and in a script's."""

from __future__ import annotations

from hostile.attack import Attack, either

_FIND = """
import json, os, struct, sys, time
frame = sys._getframe()
while "sock" not in frame.f_locals:
    frame = frame.f_back
sock, names, wire = frame.f_locals["sock"], frame.f_locals, frame.f_globals["wire"]
"""


def _raw(code: str) -> str:
    return _FIND + code


_SPIN = "while True: pass"

ATTACKS = (
    Attack("close all descriptors", "protocol", "import os\nos.closerange(0, 1024)", either("killed")),
    Attack(
        "close all descriptors and compute", "protocol", f"import os\nos.closerange(0, 1024)\n{_SPIN}", either("killed")
    ),
    Attack(
        "shut the socket down and compute", "protocol", _raw(f"sock.shutdown(2)\n{_SPIN}"), either("killed", "refused")
    ),
    Attack(
        "flood the socket", "protocol", _raw("while True: sock.sendall(b'x' * 65536)"), either("output", "protocol")
    ),
    Attack(
        "flood the socket with empty frames",
        "protocol",
        _raw("while True: sock.sendall(bytes(65536))"),
        either("protocol"),
    ),
    Attack("announce four gigabytes", "protocol", _raw(f"sock.sendall(b'\\xff' * 8)\n{_SPIN}"), either("output")),
    Attack(
        "half a frame",
        "protocol",
        _raw("sock.sendall(b'\\x09\\0\\0\\0\\0\\0\\0\\0[')\ntime.sleep(100)"),
        either("timeout"),
    ),
    Attack(
        "a frame that drips",
        "protocol",
        _raw("sock.sendall(struct.pack('<II', 10**4, 0))\nwhile True:\n    sock.sendall(b' ')\n    time.sleep(0.01)"),
        either("timeout"),
    ),
    Attack("no JSON", "protocol", _raw("wire.send(sock, b'[[[' * 9)\ntime.sleep(100)"), either("protocol")),
    Attack(
        "JSON of a million brackets",
        "protocol",
        _raw("wire.send(sock, b'[' * 10**5)\ntime.sleep(100)"),
        either("protocol"),
    ),
    Attack(
        "answer without having been asked",
        "protocol",
        _raw("""wire.send(sock, b'["000000000000","ok",{"forged":true}]')"""),
        either("protocol"),
        script=_raw("""wire.send(sock, b'["observation",{"forged":true}]')"""),
    ),
    Attack(
        "answer in the protocol's place",
        "protocol",
        _raw("""wire.send(sock, b'["' + names["identity"].encode() + b'","ok",{"forged":true}]')"""),
        either("harmless", "protocol"),
        script=_raw("""wire.send(sock, b'["answer",{"forged":true}]')"""),
        script_ends=either("harmless", "protocol"),
    ),
    Attack(
        "take over the protocol and stay",
        "leftovers",
        _raw(
            """
identity = names["identity"]
while True:
    wire.send(sock, b'["' + identity.encode() + b'","ok",{"lie":true}]')
    try:
        identity = json.loads(wire.receive(sock, 1 << 30)[0])[0]
    except BaseException:
        break
while True: pass
"""
        ),
        either("harmless", "state"),
        script=_raw(
            """
for _ in range(3):
    wire.send(sock, json.dumps(["call", "check", {}]).encode())
    wire.receive(sock, 1 << 30)
wire.send(sock, json.dumps(["answer", {"lie": True}]).encode())
while True: pass
"""
        ),
    ),
    Attack(
        "fail without a word",
        "protocol",
        _raw("""wire.send(sock, b'["' + names["identity"].encode() + b'","fail",["closed",""]]')"""),
        either("protocol"),
        script=_raw("""wire.send(sock, b'["failed",""]')"""),
        script_ends=either("refused", "protocol"),
    ),
    Attack("malformed calls", "protocol", "", script="return call(3)", script_ends=either("protocol")),
    Attack("calls without an end", "protocol", "", script="while True: call('check')", script_ends=either("output")),
    Attack(
        "calls whose answers it does not read",
        "protocol",
        "",
        script=_raw('while True: wire.send(sock, b\'["call","products",{}]\')'),
        script_ends=either("output", "protocol", "timeout"),
    ),
    Attack(
        "a call of a megabyte",
        "protocol",
        "",
        script="return call('check', x='y' * 10**7)",
        script_ends=either("output"),
    ),
    Attack(
        "a tool that attacks, called by a script",
        "protocol",
        "",
        script="return call('attack_exit', aim={})",
        script_ends=either("killed"),
    ),
)
