"""A policy that prompts a Hugging Face causal language model, one JSON object a decision."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from schemas.task import Call
from tasks.rollout import Answer, View

_SYSTEM = (
    "You solve the task by calling tools. Reply with one JSON object and nothing else: "
    '{"tool": NAME, "arguments": {...}} to call a tool, or {"answer": {...}} when you know the answer.'
)


class CausalLMPolicy:
    """Any causal language model with its tokenizer. What it writes is read up to the end of the first JSON object;
    text that holds none becomes an empty answer, so that the episode ends and counts as a format error."""

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        policy_id: str,
        *,
        temperature: float = 1.0,
        max_new_tokens: int = 256,
        max_observation: int = 2000,
    ) -> None:
        """Wrap a model. `max_observation` is the most characters shown of one observation."""
        self.model, self.tokenizer, self.policy_id = model.eval(), tokenizer, policy_id
        self.temperature, self.max_new_tokens, self.max_observation = temperature, max_new_tokens, max_observation

    @classmethod
    def load(cls, path: Path | str, **settings: Any) -> CausalLMPolicy:
        """Read model and tokenizer from a local folder; nothing is downloaded.

        Raises:
            FileNotFoundError: if the folder holds no model.
        """
        if not (Path(path) / "config.json").exists():
            raise FileNotFoundError(f"{path}: no config.json, so no model; give the folder of a Hugging Face model")
        model = AutoModelForCausalLM.from_pretrained(path, local_files_only=True)
        tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
        return cls(model, tokenizer, settings.pop("policy_id", Path(path).name), **settings)

    def moves(self, views: Sequence[View], seeds: Sequence[int]) -> list[Call | Answer]:
        """Return one decision for each view; a seed and the number of steps decide what is sampled."""
        return [parse_move(self._write(view, seed)) for view, seed in zip(views, seeds, strict=True)]

    @torch.inference_mode()
    def _write(self, view: View, seed: int) -> str:
        messages = conversation(view, self.max_observation)
        if self.tokenizer.chat_template:
            text = self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        else:
            text = "\n".join(f"{message['role']}: {message['content']}" for message in messages) + "\nassistant:"
        tokens = self.tokenizer(text, return_tensors="pt").to(self.model.device)
        room = int(getattr(self.model.config, "max_position_embeddings", 0) or 0) - self.max_new_tokens
        ids = tokens["input_ids"][:, -room:] if room > 0 else tokens["input_ids"]
        sampling = {"do_sample": True, "temperature": self.temperature} if self.temperature else {"do_sample": False}
        with torch.random.fork_rng():
            torch.manual_seed(seed * 1_000_003 + len(view.steps))
            made = self.model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=self.max_new_tokens,
                pad_token_id=self.tokenizer.pad_token_id or self.tokenizer.eos_token_id,
                **sampling,
            )
        return str(self.tokenizer.decode(made[0, ids.shape[1] :], skip_special_tokens=True))


def conversation(view: View, max_observation: int = 2000) -> list[dict[str, str]]:
    """Return a view as chat messages: tools and rules, the task, then each call and its observation."""
    tools = [{"name": t.name, "description": t.description, "parameters": t.parameters} for t in view.tools]
    fields = [{"name": f.name, "type": f.type, "description": f.description} for f in view.answer]
    messages = [
        {"role": "system", "content": f"{_SYSTEM}\nTools: {json.dumps(tools)}\nAnswer fields: {json.dumps(fields)}"},
        {"role": "user", "content": view.prompt},
    ]
    for step in view.steps:
        call = json.dumps({"tool": step.tool, "arguments": step.arguments})
        seen = json.dumps(step.observation)[:max_observation]
        messages += [{"role": "assistant", "content": call}, {"role": "user", "content": f"Observation: {seen}"}]
    return messages


def parse_move(text: str) -> Call | Answer:
    """Return the decision that a text's first JSON object is; an empty answer if there is none of the right form."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start >= 0:
        try:
            found, _ = decoder.raw_decode(text, start)
        except ValueError:
            start = text.find("{", start + 1)
            continue
        if isinstance(found.get("tool"), str) and isinstance(found.get("arguments", {}), dict):
            return Call(tool=found["tool"], arguments=found.get("arguments", {}))
        if isinstance(found.get("answer"), dict):
            return Answer(found["answer"])
        break
    return Answer({})
