"""Contracts: there is one for every dataset, it agrees with the records, and a wrong one says what is wrong."""

from __future__ import annotations

from collections import Counter

import pytest
import yaml

from schemas.datasets import DATASETS
from tasks.quality import ContractError, load_contract, load_contracts
from tasks.quality.contracts import FOLDER, by_reference, target
from tasks.quality.suites import checks_of


def test_every_dataset_has_a_contract_that_agrees_with_its_records():
    contracts = load_contracts()
    assert list(contracts) == list(DATASETS)
    assert {path.stem for path in FOLDER.glob("*.yaml")} == set(DATASETS), "a contract of no dataset"
    for name, contract in contracts.items():
        assert {column.name for column in contract.columns} == set(DATASETS[name].model.model_fields)
        assert contract.key == DATASETS[name].identity


def test_outcomes_may_name_every_dataset():
    (named,) = [column for column in load_contracts()["quality_results"].columns if column.name == "dataset"]
    assert set(named.allowed) == set(DATASETS)


def test_each_outcome_has_a_name_of_its_own():
    for contract in load_contracts().values():
        names = Counter((check.name, check.columns) for check in checks_of(contract))
        assert not [name for name, count in names.items() if count > 1]


def test_datasets_come_after_those_that_they_refer_to():
    contracts = load_contracts()
    order = by_reference(contracts)
    assert sorted(order) == sorted(contracts)
    for name, contract in contracts.items():
        for _, reference in contract.references():
            if target(reference)[0] != name:
                assert order.index(target(reference)[0]) < order.index(name)


def _changed(tmp_path, change):
    content = yaml.safe_load((FOLDER / "tools.yaml").read_text())
    change(content)
    (tmp_path / "tools.yaml").write_text(yaml.safe_dump(content))
    return tmp_path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c["columns"].pop("writes"), "column 'writes' is missing"),
        (lambda c: c["columns"].update(colour={"type": "string", "meaning": "x"}), "there is no column 'colour'"),
        (lambda c: c["columns"]["tests_total"].update(type="number"), "'tests_total' is integer, required"),
        (lambda c: c["columns"]["mutation_score"].pop("required"), "'mutation_score' is number, may be null"),
        (lambda c: c.update(key=["name"]), "its key is env_id, name"),
        (lambda c: c["columns"]["env_id"].update(references="worlds(env_id)"), r"worlds\(env_id\) does not exist"),
        (lambda c: c["columns"]["env_id"].update(references="environments"), "is no reference"),
        (lambda c: c["rules"].append({"columns": ["colour"], "meaning": "x", "minimum": 0}), "names 'colour'"),
        (lambda c: c["columns"]["name"].update(shape="round"), "no readable contract"),
        (lambda c: c.update(dataset="sources"), "it is of dataset 'sources'"),
    ],
)
def test_a_contract_that_does_not_fit_says_where(tmp_path, change, said):
    with pytest.raises(ContractError, match=said):
        load_contract("tools", _changed(tmp_path, change))


def test_a_contract_that_is_missing_or_no_yaml_says_so(tmp_path):
    with pytest.raises(ContractError, match="dataset 'tools' has no contract"):
        load_contract("tools", tmp_path)
    for text in ("columns: [", "just text", ""):
        (tmp_path / "tools.yaml").write_text(text)
        with pytest.raises(ContractError, match="no readable contract"):
            load_contract("tools", tmp_path)
