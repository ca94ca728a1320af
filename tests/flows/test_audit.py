"""The audit flow on a real Prefect server: a sound store is released, and auditing again changes nothing."""

from __future__ import annotations

from audit_example import write_store

from tasks.store import open_store, read_release


def _outputs(store):
    written = ("docs/", "quarantine/", "releases/", "datasets/quality_results/", "datasets/rejections/audit")
    return {key: store.get(key) for prefix in written for key in store.list(prefix)}


def test_a_sound_store_is_released_and_auditing_again_changes_nothing(server, tmp_path):
    from prefect.client.orchestration import get_client

    from flows.audit import audit
    from tasks.quality import audit_store

    store = open_store(str(tmp_path / "store"))
    write_store(store)
    outcome = audit(str(tmp_path / "store"))
    assert (outcome["failed"], outcome["quarantined"], outcome["warnings"]) == (0, 0, 0), outcome
    assert outcome["docs"] == f"{store.uri}/docs/index.html" and store.exists("docs/index.html")
    manifest = read_release(store, outcome["release"])
    rows = {name: entry["rows"] for name, entry in manifest["datasets"].items()}
    assert (rows["environments"], rows["agent_tasks"], rows["trajectories"]) == (1, 4, 4), "without practice"
    with get_client(sync_client=True) as client:
        artifacts = {artifact.key: artifact for artifact in client.read_artifacts()}
    assert outcome["release"] in artifacts["audit"].data and outcome["docs"] in artifacts["data-docs"].data
    outputs = _outputs(store)
    assert outputs and audit_store(store.uri) == outcome
    assert _outputs(store) == outputs
