"""A causal language model as a policy: a tiny Llama with random weights, built here and read from its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from schemas.episode import Step  # noqa: E402
from schemas.task import AnswerField, Call  # noqa: E402
from tasks.policies import load_causal_lm  # noqa: E402
from tasks.policies.causal_lm import conversation, parse_move  # noqa: E402
from tasks.rollout import Answer, ToolSignature, View  # noqa: E402

VIEW = View(
    "What is the price?",
    (ToolSignature("get_order", "Return one.", {"type": "object", "properties": {}}, "get"),),
    (AnswerField(name="price", type="number"),),
    (Step(tool="get_order", arguments={}, observation={"price": 3.5}),),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    path = tmp_path_factory.mktemp("llama")
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = Tokenizer(models.BPE(vocab={"<s>": 0, **{c: n + 1 for n, c in enumerate(alphabet)}}, merges=[]))
    words.pre_tokenizer, words.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    transformers.PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<s>").save_pretrained(path)
    config = transformers.LlamaConfig(
        vocab_size=300, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=2048, bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).save_pretrained(path)
    return path


def test_any_local_model_acts(folder: Path) -> None:
    policy = load_causal_lm(folder, policy_id="llama", max_new_tokens=12)
    moves = policy.moves([VIEW, VIEW], [1, 2])
    assert len(moves) == 2 and all(isinstance(move, Call | Answer) for move in moves)
    assert policy.moves([VIEW], [1]) == moves[:1]


def test_a_folder_without_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="config.json"):
        load_causal_lm(tmp_path)


def test_conversation_shows_tools_and_steps() -> None:
    messages = conversation(VIEW)
    assert "get_order" in messages[0]["content"] and "price" in messages[0]["content"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert "3.5" in messages[3]["content"]


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ('{"tool": "get_order", "arguments": {"a": 1}} and more', Call(tool="get_order", arguments={"a": 1})),
        ('I think: {"answer": {"price": 3.5}}', Answer({"price": 3.5})),
        ("{broken", Answer({})),
        ('{"tool": 5}', Answer({})),
        ("", Answer({})),
    ],
)
def test_text_becomes_a_move(text: str, move: Call | Answer) -> None:
    assert parse_move(text) == move
