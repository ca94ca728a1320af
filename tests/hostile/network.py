"""Attacks on the network: every address family, names, the metadata service, local sockets, the protocol's socket."""

from __future__ import annotations

from hostile.attack import HARMLESS, Attack, either

ATTACKS = (
    Attack(
        "connect to the loopback",
        "network",
        """
        import socket
        with socket.create_connection(("127.0.0.1", aim["port"]), timeout=0.2) as sock:
            sock.sendall(b"out")
        return {"breach": "connected"}
        """,
        aimed=True,
    ),
    Attack(
        "a datagram to the loopback",
        "network",
        """
        import socket
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"out", ("127.0.0.1", aim["udp"]))
        return {"loot": "whether it arrived is seen at the other end"}
        """,
        either("refused", "harmless"),
        aimed=True,
    ),
    Attack(
        "a unix socket outside",
        "network",
        """
        import socket
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(0.2)
        sock.connect(aim["unix"])
        return {"breach": "connected"}
        """,
        aimed=True,
    ),
    Attack(
        "an abstract unix socket",
        "network",
        """
        import socket
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(0.2)
        sock.connect("\\0" + aim["abstract"])
        return {"breach": "connected"}
        """,
        aimed=True,
    ),
    Attack(
        "look up a name",
        "network",
        "import socket\nreturn {'breach': str(socket.getaddrinfo('example.org', 80))}",
    ),
    Attack(
        "the metadata service",
        "network",
        """
        import urllib.request
        return {"breach": urllib.request.urlopen("http://169.254.169.254/latest/", timeout=0.2).read(9).decode()}
        """,
    ),
    Attack(
        "listen",
        "network",
        "import socket\nreturn {'breach': str(socket.create_server(('127.0.0.1', 0)).getsockname())}",
    ),
    Attack(
        "a raw socket",
        "network",
        """
        import socket
        for kind in (socket.SOCK_RAW, socket.SOCK_DGRAM):
            for family, number in ((socket.AF_INET, 1), (socket.AF_INET6, 58), (socket.AF_PACKET, 0x0300)):
                try:
                    return {"breach": str(socket.socket(family, kind, number))}
                except OSError:
                    pass
        return {}
        """,
        HARMLESS,
    ),
    Attack(
        "every address family",
        "system_calls",
        """
        import socket
        made = []
        for family in range(46):
            for kind in (1, 2, 3, 5):
                try:
                    made.append(socket.socket(family, kind).family)
                except OSError:
                    pass
        for make in (socket.socketpair, __import__("os").pipe):
            try:
                make()
                made.append(make.__name__)
            except OSError:
                pass
        return {"breach": str(made)} if made else {}
        """,
        HARMLESS,
    ),
    Attack(
        "lead the protocol's socket elsewhere",
        "protocol",
        """
        import array, gc, socket
        sock = next(o for o in gc.get_objects() if isinstance(o, socket.socket) and o.fileno() >= 0)
        for action in (
            lambda: sock.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))]),
            lambda: sock.connect(aim["unix"]),
            lambda: sock.recvmsg(1, 1000),
            lambda: sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1),
            lambda: sock.shutdown(socket.SHUT_RD),
            lambda: sock.getpeername(),
        ):
            try:
                action()
                return {"breach": "the socket obeyed"}
            except OSError:
                pass
        return {}
        """,
        HARMLESS,
    ),
)
