"""Each fault of a foreign release is found, named, and either repaired or left out with its reason."""

from __future__ import annotations

import pytest
from foreign_faulty import FAULTY, damage
from foreign_worlds import write_release

from tasks.imports import ImportFailed, import_world, read_release


@pytest.fixture(scope="module")
def faulty(tmp_path_factory, worker):
    folder = write_release(tmp_path_factory.mktemp("faulty"), [world() for world in FAULTY])
    damage(folder)
    return {world.folder: import_world(world, worker) for world in read_release(folder)}


@pytest.mark.parametrize(
    ("subject", "fault", "severity"),
    [
        ("get_agent", "list_over_map", "fatal"),
        ("list_cases_of_agent", "always_empty", "fatal"),
        ("list_open_cases", "swallows_errors", "note"),
        ("view_case_title", "reads_write_log", "repaired"),
        ("assign_case", "claims_without_effect", "fatal"),
        ("get_case_notes", "invents_rows", "fatal"),
        ("get_case_priority", "invents_rows", "fatal"),
        ("get_case_bucket", "not_deterministic", "fatal"),
        ("chart_cases", "missing_module", "fatal"),
        ("torn.json", "unreadable_file", "note"),
        ("question 1", "answer_is_last_output", "repaired"),
        ("question 2", "answer_cut_short", "repaired"),
        ("question 3", "answer_contradicted", "repaired"),
        ("question 4", "baked_value", "repaired"),
        ("question 4", "answer_bakes_values", "repaired"),
        ("question 5", "unknown_tool", "fatal"),
        ("question 6", "chain_fails", "fatal"),
    ],
)
def test_the_fault_is_found(faulty, subject, fault, severity):
    found = {(f.subject, f.fault): f for f in faulty["faulty_desk"].findings}
    assert (subject, fault) in found, sorted(found)
    assert found[subject, fault].severity == severity and found[subject, fault].detail


def test_faulty_tools_are_left_out_and_the_others_stay(faulty):
    done = faulty["faulty_desk"]
    kept = {tool.name for tool in done.tools}
    assert kept == {
        "get_case", "search_cases", "search_agents", "close_case", "create_case", "list_open_cases", "view_case_title",
    }  # fmt: skip
    rejected = {r.key: r.gate for r in done.rejections}
    assert rejected["assign_case"] == "claims_without_effect" and rejected["get_agent"] == "list_over_map"
    assert len(kept) + len(rejected) == len(done.world.tools)
    view = next(tool for tool in done.tools if tool.name == "view_case_title")
    assert view.writes == ()


def test_nothing_is_found_where_nothing_is_wrong(faulty):
    found = {f.subject for f in faulty["faulty_desk"].findings}
    assert not found & {"get_case", "search_cases", "search_agents", "close_case", "create_case", "question 0"}


def test_answers_are_worked_out_again(faulty):
    questions = {q.number: q for q in faulty["faulty_desk"].questions}
    assert questions[0].usable and '"hours":' in questions[0].recomputed_answer
    assert questions[1].usable
    assert not questions[2].usable and questions[2].recomputed_answer.endswith("}")
    assert not questions[3].usable
    assert questions[4].chain[2].arguments == {"case_id": {"$ref": "1.case_id"}} and questions[4].calls_done == 3
    assert '"status":"closed"' in questions[4].recomputed_answer


@pytest.mark.parametrize(
    ("folder", "benchmark"),
    [("online_shop_support", "tau2-bench retail"), ("file_manager", "BFCL GorillaFileSystem"), ("faulty_desk", "")],
)
def test_copies_of_benchmarks_are_for_measuring_only(faulty, folder, benchmark):
    done = faulty[folder]
    assert done.benchmark == benchmark and done.test_only == bool(benchmark)
    assert any(f.fault == "benchmark_copy" for f in done.findings) == bool(benchmark)


@pytest.mark.parametrize(
    ("folder", "gate", "said"),
    [
        ("only_checkpoint", "no_files", "no folder only_checkpoint/"),
        ("only_files", "no_checkpoint", "no file of checkpoint"),
        ("torn_checkpoint", "broken_checkpoint", "torn_checkpoint_step4_checkpoint.json"),
        ("no_code", "tool_without_code", "get_row"),
        ("only_checkpoint", "broken_questions", "only_checkpoint.json"),
    ],
)
def test_a_world_half_missing_is_rejected_with_its_reason(faulty, folder, gate, said):
    done = faulty[folder]
    assert done.database is None
    reasons = {r.gate: r.reason for r in done.rejections}
    assert said in reasons[gate] and "half_missing" in reasons


def test_a_folder_that_is_no_release_is_refused(tmp_path):
    with pytest.raises(ImportFailed, match="_step4_checkpoint"):
        list(read_release(tmp_path))
    with pytest.raises(ImportFailed, match="is no folder"):
        list(read_release(tmp_path / "nowhere"))
