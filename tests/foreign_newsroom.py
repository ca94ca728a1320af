"""A foreign world of mixed files: csv, yaml, objects by id, html pages, a text."""

# ruff: noqa: E501 - lines of foreign code stand as they were written

from __future__ import annotations

import csv
import io
import json
import random
from typing import Any

from foreign_manner import INT, TEXT, add_tool
from foreign_worlds import World, day, people

_MIXED = """
import csv, io, json, os, re, yaml
from html.parser import HTMLParser

base = os.environ["MCP_DB_DIR"]

def articles():
    with open(os.path.join(base, "articles.csv"), newline="", encoding="utf-8") as fh:
        return list(csv.DictReader(fh))

def save_articles(rows):
    with open(os.path.join(base, "articles.csv"), "w", newline="", encoding="utf-8") as fh:
        w = csv.DictWriter(fh, fieldnames=list(rows[0].keys()))
        w.writeheader()
        w.writerows(rows)

def sections():
    with open(os.path.join(base, "config", "sections.yaml"), encoding="utf-8") as fh:
        return yaml.safe_load(fh)["sections"]

def authors():
    with open(os.path.join(base, "authors.json"), encoding="utf-8") as fh:
        return json.load(fh)

def err(code, message):
    return {"error": {"code": code, "message": message}}

"""


def newsroom() -> World:
    """Articles in csv with commas and line breaks in cells, sections in yaml, authors by id, pages in html, a text."""
    rng = random.Random("newsroom")
    world = World("news_archive")
    authors = {
        f"au-{n:02d}": {
            "author_id": f"au-{n:02d}",
            "name": name,
            "beat": rng.choice(["politics", "science", "sport"]),
            "profile": {"joined": f"20{rng.randint(10, 24)}", "verified": rng.random() < 0.6},
        }
        for n, name in enumerate(people(rng, 18), 1)
    }
    sections = [
        {"slug": slug, "title": slug.title(), "editor": rng.choice(list(authors)), "quota": rng.randint(3, 12)}
        for slug in ("world", "economy", "science", "culture", "sport", "weather")
    ]
    rows = [
        {
            "id": str(1000 + n),
            "headline": f"{rng.choice(['Council', 'Harbour', 'Museum', 'Ferry', 'Bridge'])} {rng.choice(['opens', 'closes', 'expands', 'delays'])}, report {n}",
            "section": rng.choice(sections)["slug"],
            "author_id": rng.choice(list(authors)),
            "published": day(rng, 4),
            "words": str(rng.randint(200, 2400)),
            "state": rng.choice(["draft", "review", "published", "published"]),
            "summary": f"First line {n}.\nSecond line, with a comma.",
        }
        for n in range(1, 49)
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    world.extra["articles.csv"] = text.getvalue()
    world.extra["authors.json"] = json.dumps(authors, indent=1)
    world.extra["config/sections.yaml"] = "sections:\n" + "".join(
        f"- slug: {s['slug']}\n  title: {s['title']}\n  editor: {s['editor']}\n  quota: {s['quota']}\n"
        for s in sections
    )
    for row in rows[:4]:
        world.extra[f"pages/{row['id']}.html"] = (
            f"<html><body><h1>{row['headline']}</h1><p>Body of {row['id']}</p></body></html>"
        )
    world.extra["style_guide.txt"] = "Headlines have no full stop.\nNumbers up to twelve are written out.\n"
    world.extra["README.md"] = "# News archive\n\nArticles go draft -> review -> published.\n"

    def add(name: str, said: str, given: dict[str, Any], needed: list[str], body: str) -> None:
        add_tool(world, name, said, given, needed, body, _MIXED)

    add(
        "get-article".replace("-", "_"),
        "Get an article by id.",
        {"id": TEXT},
        ["id"],
        '\nrow = next((r for r in articles() if r["id"] == str(id)), None)\nreturn row or err("NOT_FOUND", "no such article")\n',
    )
    add(
        "get_author",
        "Get an author by id.",
        {"author_id": TEXT},
        ["author_id"],
        '\nfound = authors().get(author_id)\nreturn found if found else err("NOT_FOUND", "no such author")\n',
    )
    add(
        "get_section",
        "Get a section by slug.",
        {"slug": TEXT},
        ["slug"],
        '\nrow = next((s for s in sections() if s["slug"] == slug), None)\nreturn {"section": row} if row else err("NOT_FOUND", "no such section")\n',
    )
    add(
        "search_articles",
        "Search articles by headline, section, author, state and length.",
        {"query": TEXT, "section": TEXT, "author_id": TEXT, "state": TEXT, "min_words": INT, "limit": INT},
        [],
        """
rows = articles()
if query:
    rows = [r for r in rows if query.lower() in r["headline"].lower()]
rows = [r for r in rows if (section is None or r["section"] == section) and (author_id is None or r["author_id"] == author_id) and (state is None or r["state"] == state) and (min_words is None or int(r["words"]) >= min_words)]
return {"articles": rows[: limit or 20], "total": len(rows)}
""",
    )
    add(
        "list_authors",
        "List authors, of one beat if given.",
        {"beat": TEXT},
        [],
        '\nrows = [a for a in authors().values() if beat is None or a["beat"] == beat]\nreturn {"authors": rows, "total": len(rows)}\n',
    )
    add("list_sections", "List all sections.", {}, [], '\nreturn {"sections": sections(), "total": len(sections())}\n')
    add(
        "read_page",
        "Read the text of an archived page.",
        {"id": TEXT},
        ["id"],
        """
path = os.path.join(base, "pages", str(id) + ".html")
if not os.path.isfile(path):
    return err("NOT_FOUND", "no such page")
parts = []
class P(HTMLParser):
    def handle_data(self, data):
        parts.append(data)
with open(path, encoding="utf-8") as fh:
    P().feed(fh.read())
return {"title": parts[0], "text": " ".join(parts[1:])}
""",
    )
    add(
        "get_style_rules",
        "The lines of the style guide.",
        {},
        [],
        '\nwith open(os.path.join(base, "style_guide.txt"), encoding="utf-8") as fh:\n    return {"rules": fh.read().splitlines()}\n',
    )
    for verb, start, end in (
        ("send_to_review", ("draft",), "review"),
        ("publish", ("review",), "published"),
        ("retract", ("published",), "draft"),
    ):
        add(
            f"{verb}_article" if verb != "send_to_review" else verb,
            f"{verb.replace('_', ' ').capitalize()} an article.",
            {"id": TEXT},
            ["id"],
            f'''
rows = articles()
for r in rows:
    if r["id"] == str(id):
        if r["state"] not in {start!r}:
            return err("INVALID_STATE", "article is " + r["state"])
        r["state"] = "{end}"
        save_articles(rows)
        return r
return err("NOT_FOUND", "no such article")
''',
        )
    add(
        "move_article",
        "Move an article to another section.",
        {"id": TEXT, "section": TEXT},
        ["id", "section"],
        """
if not any(s["slug"] == section for s in sections()):
    return err("NOT_FOUND", "no such section")
rows = articles()
for r in rows:
    if r["id"] == str(id):
        r["section"] = section
        save_articles(rows)
        return r
return err("NOT_FOUND", "no such article")
""",
    )
    return world
