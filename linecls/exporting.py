"""From a torch checkpoint to a model directory: ONNX graph, int8 quantisation, parity, operating points.

Needs the extras `train` and `export`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer

from linecls.artifact import Artifact, write_artifact
from linecls.decoding import OperatingPoint
from linecls.encoding import INPUT_NAMES, Batch, EncodingConfig, Pair, WindowEncoder, collate
from linecls.errors import ArtifactError, LineclsError
from linecls.model.backbone import Backbone, load_tokenizer
from linecls.model.classifier import ClassifierConfig, LineClassifier
from linecls.model.pooling import to_tensors
from linecls.observation import Observation
from linecls.session import OUTPUT_NAMES, Session

OPSET = 18
PARITY = 1e-4  # largest allowed difference of a logit between torch and the fp32 graph


@dataclass(frozen=True)
class Checkpoint:
    """A trained model with what it takes to feed it. `options` is what the training module was built from."""

    model: LineClassifier
    encoding: EncodingConfig
    tokenizer: Tokenizer
    options: dict[str, Any]

    @property
    def encoder(self) -> WindowEncoder:
        return WindowEncoder(self.tokenizer, self.encoding)


def load_checkpoint(path: str | Path) -> Checkpoint:
    """Read a checkpoint that `linecls train` wrote. Raises LineclsError when it is none."""
    try:
        checkpoint = torch.load(path, map_location="cpu", weights_only=True)
        options, state = checkpoint["linecls"], checkpoint["state_dict"]
    except OSError as error:
        raise LineclsError(f"cannot read the checkpoint {path}: {error.strerror or error}") from error
    except Exception as error:  # torch raises a dozen kinds for a file that is no checkpoint
        raise LineclsError(f"{path} is no checkpoint of linecls train: {_one_line(error)}") from error
    backbone = Backbone(
        options["backbone"],
        layers=options["layers"],
        config=options["backbone_config"],
        bidirectional=options.get("bidirectional", False),
    )
    encoding = EncodingConfig.from_dict(options["encoding"])
    model = LineClassifier(backbone, ClassifierConfig(**options["classifier"]), encoding.max_line_tokens)
    prefix = "model."
    model.load_state_dict({k[len(prefix) :]: v for k, v in state.items() if k.startswith(prefix)})
    return Checkpoint(model.eval(), encoding, load_tokenizer(options["backbone"]), options)


def example_batches(encoder: WindowEncoder, pairs: Iterable[tuple[str, str]]) -> Iterator[Batch]:
    """One batch per (query, observation): the windows as the runtime makes them."""
    for text, raw in pairs:
        query = encoder.query(text)
        for segment in encoder.segments(Observation.of(raw)):
            if not len(segment.ids):
                continue
            windows = encoder.windows(segment, query)
            yield collate([Pair(query, segment, windows, encoder.features(segment, query))])


def export_graph(model: LineClassifier, encoder: WindowEncoder, path: Path) -> None:
    """Write the fp32 ONNX graph of `model`, all dimensions dynamic, weights inside the file."""
    queries = ("why does the build fail", "error")
    pairs: list[Pair] = []
    for text, repeats in zip(queries, (40, 9), strict=True):
        query = encoder.query(text)
        raw = "cc -c main.c\nmain.c:4:2: error: expected ';' before '}' token\n\nmake: *** [all] Error 1\n" * repeats
        for segment in encoder.segments(Observation.of(raw)):
            pairs.append(Pair(query, segment, encoder.windows(segment, query), encoder.features(segment, query)))
    tensors = to_tensors(collate(pairs[:2]))
    dynamic = torch.export.Dim.DYNAMIC
    torch.onnx.export(
        model.eval(),
        tuple(tensors[name] for name in INPUT_NAMES),
        str(path),
        input_names=list(INPUT_NAMES),
        output_names=list(OUTPUT_NAMES),
        dynamic_shapes={name: dict.fromkeys(range(min(tensors[name].ndim, 2)), dynamic) for name in INPUT_NAMES},
        opset_version=OPSET,
        dynamo=True,
        external_data=False,
        verbose=False,
    )


def quantise(source: Path, target: Path, *, per_channel: bool) -> None:
    """Dynamic int8 by ONNX Runtime: weights of matrix products and the embedding table, activations at run time.

    per_channel: one scale per output column instead of one per matrix.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.quantization.shape_inference import quant_pre_process

    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "prepared.onnx"
        quant_pre_process(source, prepared, skip_symbolic_shape=True)
        quantize_dynamic(prepared, target, per_channel=per_channel, weight_type=QuantType.QInt8)


def parity(model: LineClassifier, graph: Path, batches: Iterable[Batch]) -> float:
    """Largest absolute difference of any keep or answerable logit between torch and a graph."""
    session = Session(graph, device="cpu")
    worst = 0.0
    for batch in batches:
        with torch.inference_mode():
            expected = model(**to_tensors(batch))
        for ours, theirs in zip(session.run(batch), expected, strict=True):
            worst = max(worst, float(np.abs(ours - theirs.numpy()).max(initial=0.0)))
    return worst


def export(
    checkpoint: Checkpoint,
    directory: str | Path,
    *,
    variants: Sequence[str] = ("int8", "fp32"),
    per_channel: bool = True,
    name: str = "linecls",
    version: str = "0",
    operating_points: Mapping[str, OperatingPoint] | None = None,
    default_operating_point: str = "default",
    provenance: Mapping[str, Any] | None = None,
    check_on: Sequence[tuple[str, str]] = (),
    card: str | None = None,
) -> Artifact:
    """Write a model directory from a checkpoint.

    variants: `fp32`, `int8`; the first is `model.onnx`.
    check_on: pairs (query, observation) on which torch and the fp32 graph must agree to `PARITY`.
    Raises ArtifactError when they do not.
    """
    if unknown := set(variants) - {"fp32", "int8"}:
        raise LineclsError(f"unknown variant {sorted(unknown)[0]!r}; use fp32, int8")
    with tempfile.TemporaryDirectory() as folder:
        graphs = {variant: Path(folder) / f"{variant}.onnx" for variant in variants}
        fp32 = Path(folder) / "fp32.onnx"
        export_graph(checkpoint.model, checkpoint.encoder, fp32)
        worst = parity(checkpoint.model, fp32, example_batches(checkpoint.encoder, check_on))
        if worst > PARITY:
            raise ArtifactError(f"torch and the ONNX graph differ by {worst:.2e}, more than {PARITY:.0e}")
        if "int8" in graphs:
            quantise(fp32, graphs["int8"], per_channel=per_channel)
        tokenizer = Path(folder) / "tokenizer.json"
        checkpoint.tokenizer.save(str(tokenizer))
        return write_artifact(
            directory,
            name=name,
            version=version,
            encoding=checkpoint.encoding,
            graphs=graphs,
            tokenizer=tokenizer,
            operating_points=operating_points,
            default_operating_point=default_operating_point,
            provenance={
                **checkpoint.options,
                **(provenance or {}),
                "torch_onnx_difference": worst,
                "int8_per_channel": per_channel if "int8" in graphs else None,
            },
            card=card,
        )


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
