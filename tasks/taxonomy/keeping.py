"""A fitted taxonomy as bytes and back: one Parquet table of its words, with its clusters in the table's metadata."""

from __future__ import annotations

import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from schemas.base import canonical_json
from tasks.taxonomy.clusters import Cluster, Taxonomy
from tasks.taxonomy.space import Space

_KEY = b"agentworld.taxonomy"


def dump_taxonomy(taxonomy: Taxonomy) -> bytes:
    """Return the bytes of a taxonomy; the same taxonomy gives the same bytes."""
    space = taxonomy.space
    rest = {
        "lesson": space.lesson.tolist(),
        "clusters": [
            {"name": one.name, "category": one.category, "words": one.words, "centroid": one.centroid}
            for one in taxonomy.clusters
        ],
    }
    table = pa.table(
        {
            "word": pa.array(space.words, pa.string()),
            "rarity": pa.array(space.rarity, pa.float64()),
            "place": pa.FixedSizeListArray.from_arrays(pa.array(space.places.ravel()), space.places.shape[1]),
        }
    ).replace_schema_metadata({_KEY: canonical_json(rest).encode()})
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd")
    return out.getvalue()


def load_taxonomy(data: bytes) -> Taxonomy:
    """Return the taxonomy that `dump_taxonomy` wrote.

    Raises:
        ValueError: if the bytes are no stored taxonomy.
    """
    try:
        table = pq.read_table(io.BytesIO(data))
        rest = json.loads((table.schema.metadata or {})[_KEY])
    except (pa.ArrowInvalid, KeyError) as error:
        raise ValueError(f"no stored taxonomy: {error}") from None
    places = table["place"].combine_chunks()
    space = Space(
        words=tuple(table["word"].to_pylist()),
        rarity=table["rarity"].to_numpy(),
        places=places.flatten().to_numpy().reshape(len(table), -1),
        lesson=np.array(rest["lesson"]),
    )
    clusters = (
        Cluster(one["name"], one["category"], tuple(one["words"]), tuple(one["centroid"])) for one in rest["clusters"]
    )
    return Taxonomy(space, tuple(clusters))
