"""Which model plays which role, and what a user is told of a configuration that cannot be used."""

from __future__ import annotations

import pytest

from tasks.models import RolesError, load_roles
from tasks.models.endpoint import open_model


def written(tmp_path, text: str):
    path = tmp_path / "models.toml"
    path.write_text(text)
    return path


def test_a_file_and_the_environment_together_say_who_plays(tmp_path):
    path = written(
        tmp_path,
        """
        tester = "openai:small"
        [all]
        temperature = 0.5
        base_url = "http://127.0.0.1:9/v1"
        [coder]
        model = "openai:big"
        temperature = "default"
        max_tokens = 99
        """,
    )
    roles = load_roles(path, {"AGENTWORLD_MODEL_JUDGE": "openai:other", "AGENTWORLD_MODEL_TESTER": "openai:tiny"})
    assert {role: choice.model for role, choice in roles.choices.items()} == {
        "coder": "openai:big", "tester": "openai:tiny", "judge": "openai:other",
    }  # fmt: skip
    assert (roles.choices["coder"].temperature, roles.choices["coder"].max_tokens) == (None, 99)
    assert roles.choices["tester"].temperature == 0.5


def test_no_file_and_no_variables_give_no_model():
    assert load_roles(None, {}).choices == {}


def test_one_variable_gives_every_role_a_model():
    assert len(load_roles(None, {"AGENTWORLD_MODEL_ALL": "openai:x", "OPENAI_API_KEY": "k"}).choices) == 6


def test_a_key_goes_to_the_providers_own_endpoint_or_where_it_was_named_for():
    environ = {"OPENAI_API_KEY": "secret-of-the-provider", "AGENTWORLD_MODEL_CODER": "openai:x"}
    assert load_roles(None, environ).key("coder") == "secret-of-the-provider"
    elsewhere = {**environ, "AGENTWORLD_MODEL_CODER_BASE_URL": "http://127.0.0.1:9/v1"}
    assert load_roles(None, elsewhere).key("coder") == ""
    pair = {**environ, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    found = load_roles(None, pair)
    assert (found.key("coder"), found.choices["coder"].base_url) == (
        "secret-of-the-provider", "http://127.0.0.1:9/v1",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('cook = "openai:x"', "there is no role 'cook'"),
        ('coder = "gpt-5"', 'write "provider:name"'),
        ("coder = 3", "must be a model"),
        ("coder = ", "is no TOML"),
        ("[coder]\ntemperature = 1.0", "[coder] names no model"),
        ('[coder]\nmodel = "openai:x"\nmax_tokens = 0', "max_tokens"),
        ('[coder]\nmodel = "openai:x"\ninput_usd_per_million = 1', "give both"),
        ('[coder]\nmodel = "openai:x"\nbase_url = "ftp://a"', "must be http"),
        ('[coder]\nmodel = "openai:x"\nbase_url = "http://a/v1?key=sk-hidden"', "holds a name, password or query"),
        ('[coder]\nmodel = "openai:x"\napi_key = "sk-hidden"', "name their variable as api_key_env"),
        ('[coder]\nmodel = "anthropic:x"', "ANTHROPIC_API_KEY, which is not set"),
        ('[coder]\nmodel = "openai:x"\napi_key_env = "MINE"', "MINE, which is not set"),
        ('[coder]\nmodel = "openai:x"\napi_key_env = "sk-hidden"', "never the key itself"),
    ],
)
def test_each_fault_is_told_with_its_place_and_without_keys(tmp_path, text, told):
    path = written(tmp_path, text)
    with pytest.raises(RolesError) as caught:
        load_roles(path, {})
    assert told in str(caught.value)
    assert str(path) in str(caught.value)
    assert "sk-hidden" not in str(caught.value)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(RolesError, match="cannot be read: No such file"):
        load_roles(tmp_path / "none.toml", {})


@pytest.mark.parametrize(
    ("model", "told"),
    [("anthropic:x", "pip install langchain-anthropic"), ("nobody:x", "knows no provider 'nobody'")],
)
def test_a_model_whose_package_is_missing_says_which(model, told):
    environ = {"AGENTWORLD_MODEL_CODER": model, "ANTHROPIC_API_KEY": "sk-hidden-key"}
    roles = load_roles(None, environ)
    with pytest.raises(RolesError) as caught:
        open_model(roles.choices["coder"], roles.key("coder"))
    assert told in str(caught.value)
    assert "sk-hidden" not in str(caught.value)
