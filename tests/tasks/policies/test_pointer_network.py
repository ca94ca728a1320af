"""The pointer network: cached and whole forwards agree, checkpoints keep everything, nonsense is refused."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from schemas.episode import Step  # noqa: E402
from schemas.task import AnswerField, Call  # noqa: E402
from tasks.policies import unpack_policy  # noqa: E402
from tasks.policies.pointer.batches import collate, slot_vectors  # noqa: E402
from tasks.policies.pointer.encoding import encode, pack_flags, unpack_flags  # noqa: E402
from tasks.policies.pointer.history import N_FEATURES  # noqa: E402
from tasks.policies.pointer.labels import targets  # noqa: E402
from tasks.policies.pointer.live import LiveBatch  # noqa: E402
from tasks.policies.pointer.network import NetworkConfig, PointerNetwork  # noqa: E402
from tasks.policies.pointer.policy import PointerPolicy  # noqa: E402
from tasks.policies.pointer.session import Session  # noqa: E402
from tasks.policies.pointer.storage import Checkpoint, CheckpointError, pack_checkpoint  # noqa: E402
from tasks.policies.pointer.units import OMIT  # noqa: E402
from tasks.policies.pointer.vocabulary import learn_vocabulary  # noqa: E402
from tasks.rollout import Answer, ToolSignature, View  # noqa: E402

TOOLS = (
    ToolSignature("find_orders", "Find orders.", {"properties": {"customer": {"type": "string"}}}, "search"),
    ToolSignature(
        "get_order",
        "Return an order.",
        {"properties": {"order_id": {"type": "string"}}, "required": ["order_id"]},
        "get",
    ),
)
FIELDS = (AnswerField(name="price", type="number"),)
PROMPT = 'What is the price of the order of customer "Ada Li"? Answer with "price".'
ORDER = {"order_id": "ord-7x", "customer": "Ada Li", "price": 12.5}
STEPS = (
    Step(tool="find_orders", arguments={"customer": "Ada Li"}, observation={"orders": [{"order_id": "ord-7x"}]}),
    Step(tool="get_order", arguments={"order_id": "ord-7x"}, observation=ORDER),
)


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    episode = encode(PROMPT, TOOLS, FIELDS, STEPS, {"price": 12.5})
    vocabulary = learn_vocabulary([("a", episode.common_words), ("b", episode.common_words)])
    torch.manual_seed(1)
    network = PointerNetwork(NetworkConfig(len(vocabulary), width=48, layers=2))
    for parameter in network.parameters():
        parameter.data += 0.05 * torch.randn_like(parameter)
    return Checkpoint(network.eval(), vocabulary, "p")


def test_every_decision_of_the_oracle_is_covered() -> None:
    episode = encode(PROMPT, TOOLS, FIELDS, STEPS, {"price": 12.5})
    assert (episode.covered, episode.uncovered) == (6, 0)
    other = encode(PROMPT, TOOLS, FIELDS, STEPS, {"price": 99.0})
    assert (other.covered, other.uncovered) == (5, 1)


def test_cached_scores_equal_the_whole_forward(checkpoint: Checkpoint) -> None:
    live = LiveBatch(checkpoint.network, checkpoint.vocabulary, 2)
    one = live.open(Session(PROMPT, TOOLS, FIELDS), seed=5)
    found: list[float] = []

    def ask(decisions, wanted) -> None:
        for decision, scores, value in zip(decisions, live.ask([one], [decisions])[0], wanted, strict=True):
            found.append(torch.from_numpy(scores[targets(decision.values, value)]).logsumexp(0).item())

    for step in STEPS:
        ask([one.session.decide()], [step.tool])
        decisions = one.session.arguments(step.tool)
        ask(decisions, [step.arguments.get(decision.name, OMIT) for decision in decisions])
        one.session.record(step.tool, step.arguments, step.observation)
    ask([one.session.decide()], [None])
    ask(one.session.answer(), [12.5])
    episode = encode(PROMPT, TOOLS, FIELDS, STEPS, {"price": 12.5})
    batch, decisions = collate([episode], checkpoint.vocabulary, checkpoint.network.config.slot, seed=0)
    batch.slots = slot_vectors(1536, checkpoint.network.config.slot, 5)[None, : len(episode.words)]
    with torch.no_grad():
        whole, _ = checkpoint.network(batch, decisions)
    assert torch.allclose(whole[0], torch.tensor(found), atol=1e-5)


def test_padding_changes_nothing(checkpoint: Checkpoint) -> None:
    short = encode(PROMPT, TOOLS, FIELDS, STEPS[:1], None)
    long = encode(PROMPT, TOOLS, FIELDS, STEPS, {"price": 12.5})
    slots = slot_vectors(1536, checkpoint.network.config.slot, 3)
    likelihoods = []
    for group in ([short], [short, long]):
        batch, decisions = collate(group, checkpoint.vocabulary, checkpoint.network.config.slot, seed=0)
        batch.slots = slots[None, : batch.words.shape[1]].expand(len(group), -1, -1)
        with torch.no_grad():
            likelihoods.append(checkpoint.network(batch, decisions)[0][0, : len(short.decisions)])
    assert torch.allclose(*likelihoods, atol=1e-5)


def test_moves_are_well_formed_and_the_same_again(checkpoint: Checkpoint) -> None:
    policy = PointerPolicy(checkpoint.network, checkpoint.vocabulary, "p")
    views = [View(PROMPT, TOOLS, FIELDS, STEPS[:n]) for n in (0, 1, 2)] * 4
    seeds = list(range(12))
    moves = policy.moves(views, seeds)
    again = PointerPolicy(checkpoint.network, checkpoint.vocabulary, "p").moves(views, seeds)
    assert moves == again
    for move in moves:
        assert isinstance(move, Answer) or (isinstance(move, Call) and move.tool in ("find_orders", "get_order"))
        if isinstance(move, Call) and move.tool == "get_order":
            assert isinstance(move.arguments["order_id"], str)


def test_checkpoints_keep_weights_words_and_bytes(checkpoint: Checkpoint) -> None:
    raw = pack_checkpoint(checkpoint)
    assert raw == pack_checkpoint(checkpoint)
    policy = unpack_policy(raw)
    assert policy.vocabulary == checkpoint.vocabulary and policy.policy_id == "p"
    for name, part in checkpoint.network.state_dict().items():
        assert torch.equal(part, policy.network.state_dict()[name])


@pytest.mark.parametrize("raw", [b"", b"not a checkpoint", b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "])
def test_other_bytes_are_no_checkpoint(raw: bytes) -> None:
    with pytest.raises(CheckpointError, match="checkpoint"):
        unpack_policy(raw)


def test_flags_survive_packing() -> None:
    import numpy as np

    flags = np.random.default_rng(0).integers(0, 2, (40, N_FEATURES)).astype(np.uint8)
    assert (unpack_flags(pack_flags(flags)) == flags).all()
