"""Attacks by SQL: through the tools' connection, the connection behind it, and one of the script's own."""

from __future__ import annotations

from hostile.attack import HARMLESS, Attack, either

_OWN = "import sqlite3\nconnection = sqlite3.connect(':memory:', isolation_level=None)\n"
_ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
_STOPPED = either("refused", "timeout")


def _sql(name: str, sql: str, ends=frozenset({"refused"}), script_ends=None) -> Attack:
    """Return an attack by one statement, which the script tries on a connection of its own."""
    return Attack(
        name,
        "database",
        f"ctx.db.rows({sql!r})",
        ends,
        script=_OWN + f"connection.execute('CREATE TABLE orders (x)')\nconnection.execute({sql!r}).fetchall()",
        script_ends=script_ends,
    )


_FREE = """
import sqlite3
connection = ctx.db._connection
connection.set_authorizer(None)
connection.set_progress_handler(None, 0)
connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 10)
"""

ATTACKS = (
    _sql("attach a file", "ATTACH '/tmp/agentworld.db' AS other"),
    _sql(
        "attach a hidden file", "ATTACH 'file:/etc/shadow?mode=ro' AS other", script_ends=either("refused", "harmless")
    ),
    _sql("write a copy", "VACUUM INTO '/tmp/agentworld.db'"),
    _sql("load an extension", "SELECT load_extension('/usr/lib/x86_64-linux-gnu/libm.so.6')"),
    _sql("a writable schema", "PRAGMA writable_schema = 1", script_ends=HARMLESS),
    _sql("switch the foreign keys off", "PRAGMA foreign_keys = OFF", script_ends=HARMLESS),
    _sql("change the schema's rows", "UPDATE sqlite_schema SET sql = 'x'"),
    _sql("a query without an end", _ENDLESS, _STOPPED, either("timeout")),
    _sql(
        "a join without an end",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9999)"
        " SELECT count(*) FROM n a, n b, n c WHERE a.i + b.i = c.i",
        _STOPPED,
        either("timeout"),
    ),
    _sql(
        "a pattern that backtracks",
        "SELECT replace(hex(zeroblob(20000)), '0', 'a') LIKE '%a%a%a%a%a%a%a%a%a%b'",
        either("harmless", "timeout"),
        either("harmless", "timeout"),
    ),
    _sql("a blob of a gigabyte", "SELECT length(hex(zeroblob(999999999)))", either("refused", "memory")),
    _sql(
        "a text of a gigabyte", "SELECT length(printf('%.*c', 999999999, 'x'))", either("refused", "memory", "timeout")
    ),
    _sql(
        "rows without an end",
        _ENDLESS.replace("max(i)", "i"),
        either("timeout", "memory", "refused"),
        either("timeout", "memory"),
    ),
    _sql("begin", "BEGIN", script_ends=HARMLESS),
    _sql("commit", "COMMIT"),
    _sql("roll back", "ROLLBACK"),
    _sql("a savepoint of its own", "SAVEPOINT mine", script_ends=HARMLESS),
    _sql("a trigger", "CREATE TRIGGER t AFTER DELETE ON orders BEGIN DELETE FROM orders; END", script_ends=HARMLESS),
    _sql(
        "a temporary trigger", "CREATE TEMP TRIGGER t AFTER DELETE ON orders BEGIN SELECT 1; END", script_ends=HARMLESS
    ),
    _sql("a view", "CREATE VIEW v AS SELECT 1", script_ends=HARMLESS),
    _sql("drop a table", "DROP TABLE orders", script_ends=HARMLESS),
    _sql(
        "a virtual table",
        "CREATE VIRTUAL TABLE temp.v USING fts3tokenize('simple')",
        script_ends=either("refused", "harmless"),
    ),
    _sql("a tokenizer", "SELECT fts3_tokenizer('x', x'00')"),
    _sql(
        "where the temporary files are",
        "PRAGMA temp_store_directory = '/tmp'",
        script_ends=either("harmless", "refused"),
    ),
    Attack(
        "attach by the connection behind",
        "files_hidden",
        _FREE + "connection.execute('ROLLBACK')\nconnection.execute('ATTACH ? AS other', (aim['database'],))\n"
        "return {'loot': connection.execute('SELECT x FROM other.t').fetchall()}",
        either("refused", "killed", "state"),
        script=_OWN + "connection.execute('ATTACH ? AS other', (aim['database'],))\n"
        "return {'loot': connection.execute('SELECT x FROM other.t').fetchall()}",
        aimed=True,
    ),
    Attack(
        "load an extension by the connection behind",
        "database",
        _FREE + "connection.enable_load_extension(True)\nconnection.load_extension(aim['folder'] + '/canary')",
        script=_OWN + "connection.enable_load_extension(True)\nconnection.load_extension(aim['folder'] + '/canary')",
    ),
    Attack(
        "rewrite the schema by the connection behind",
        "next_episode",
        _FREE
        + """
connection.execute("PRAGMA writable_schema = 1")
connection.execute("UPDATE sqlite_schema SET sql = replace(sql, 'quantity', 'quantitx')")
connection.execute("PRAGMA user_version = 7")
""",
        either("state"),
        script="",
    ),
    Attack(
        "make triggers by the connection behind",
        "next_episode",
        _FREE + "connection.execute('CREATE TRIGGER t AFTER UPDATE ON products BEGIN DELETE FROM orders; END')\n"
        "connection.execute('UPDATE products SET stock = 1')",
        either("state"),
        script="",
    ),
    Attack(
        "functions that call back",
        "next_episode",
        _FREE
        + """
connection.create_function("count", -1, lambda *a: 7)
connection.create_function("datetime", -1, lambda *a: "1999")
connection.create_collation("BINARY", lambda a, b: 0)
connection.set_trace_callback(lambda sql: None)
connection.row_factory = lambda cursor, row: (0,)
connection.text_factory = bytes
""",
        either("harmless", "refused", "state"),
        script="",
    ),
    Attack(
        "close the connection",
        "next_episode",
        "ctx.db._connection.close()",
        either("killed", "refused", "protocol"),
        script="",
    ),
)
