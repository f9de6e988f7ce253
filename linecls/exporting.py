"""From a torch checkpoint to a model directory: ONNX graphs, fusion, int8 and fp16, parity, operating points.

Needs the extras `train` and `export`.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from tokenizers import Tokenizer
from torch import Tensor

from linecls.artifact import ENCODER, SCORER, Artifact, write_artifact
from linecls.decoding import OperatingPoint
from linecls.encoding import FEATURES, EncodingConfig, IntArray, Pair, WindowEncoder, collate, pad
from linecls.errors import ArtifactError, LineclsError
from linecls.fusing import fuse_encoder
from linecls.model.backbone import Backbone, load_tokenizer
from linecls.model.classifier import ClassifierConfig, LineClassifier, final_logits
from linecls.model.pooling import to_tensors
from linecls.model.sliding import export_form
from linecls.network import (
    ENCODER_INPUTS,
    ENCODER_OUTPUTS,
    SCORER_INPUTS,
    SCORER_OUTPUTS,
    Network,
    SplitNetwork,
)
from linecls.observation import Observation
from linecls.packing import pack
from linecls.quantising import Inputs, Product, observe, quantise, quantise_encoder
from linecls.records import Record
from linecls.session import Session

OPSET = 18
VARIANTS = ("int8", "fp16", "fp32")
PARITY = 1e-4  # largest allowed difference of a logit between torch and the fp32 graphs, see `parity`
CALIBRATED_ON = 200  # observations whose text chooses the ranges of an int8 encoder
_CALIBRATION_WINDOWS = 8  # of each of them
_CALIBRATION_CALL = 2048  # tokens of a call of the encoder meanwhile


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


def example_pairs(encoder: WindowEncoder, pairs: Iterable[tuple[str, str]]) -> Iterator[Pair]:
    """Each (query, observation), segment by segment, in the windows that the runtime makes."""
    for text, raw in pairs:
        query = encoder.query(text)
        for segment in encoder.segments(Observation.of(raw)):
            if len(segment.ids):
                yield Pair(query, segment, encoder.windows(segment, query), encoder.features(segment, query))


class _EncoderGraph(torch.nn.Module):
    def __init__(self, model: LineClassifier) -> None:
        super().__init__()
        self.backbone = model.backbone

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        with export_form(self.backbone, attention_mask):
            return self.backbone(input_ids, attention_mask).float()


class _ScorerGraph(torch.nn.Module):
    """One query on one segment, nothing padded; inputs as `network.SCORER_INPUTS`."""

    def __init__(self, model: LineClassifier) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        token_states: Tensor,
        line_states: Tensor,
        query_states: Tensor,
        line_start: Tensor,
        line_length: Tensor,
        line_features: Tensor,
        length_bucket: Tensor,
    ) -> tuple[Tensor, Tensor]:
        lines = torch.ones_like(line_start).bool().unsqueeze(0)
        keep, answerable, spans = self.model.scores_of_states(
            tokens=token_states,
            lines=line_states.unsqueeze(0),
            query_states=query_states.unsqueeze(0),
            query_mask=torch.ones_like(query_states[:, 0]).long().unsqueeze(0),
            line_index=line_start.unsqueeze(0),
            line_length=line_length.unsqueeze(0),
            line_features=line_features.unsqueeze(0),
            line_mask=lines,
            length_bucket=length_bucket,
        )
        return final_logits(keep, spans, lines).squeeze(0), answerable


def export_encoder(model: LineClassifier, path: Path) -> None:
    """Write the fp32 graph of the token encoder: `network.ENCODER_INPUTS` -> states [W, T, H], W and T dynamic."""
    ids = torch.arange(3 * 40).reshape(3, 40) % 7
    mask = torch.ones_like(ids)
    mask[1, 30:] = 0
    rows, width = torch.export.Dim.DYNAMIC, torch.export.Dim.DYNAMIC
    _export(
        _EncoderGraph(model),
        dict(zip(ENCODER_INPUTS, (ids, mask), strict=True)),
        ENCODER_OUTPUTS,
        {name: {0: rows, 1: width} for name in ENCODER_INPUTS},
        path,
    )


def export_scorer(model: LineClassifier, path: Path) -> None:
    """Write the fp32 graph of all that follows the encoder, for one query and one segment (`network.SCORER_INPUTS`)."""
    length = torch.tensor([5, 0, 3, 9, 1] * 4)
    hidden = model.backbone.width
    tensors = (
        torch.randn(int(length.sum()), hidden),
        torch.randn(len(length), hidden),
        torch.randn(7, hidden),
        length.cumsum(0) - length,
        length,
        torch.randn(len(length), len(FEATURES)),
        torch.tensor([8]),
    )
    dynamic = torch.export.Dim.DYNAMIC
    _export(
        _ScorerGraph(model),
        dict(zip(SCORER_INPUTS, tensors, strict=True)),
        SCORER_OUTPUTS,
        {name: ({} if name == "length_bucket" else {0: dynamic}) for name in SCORER_INPUTS},
        path,
    )


def _export(
    module: torch.nn.Module,
    inputs: Mapping[str, Tensor],
    outputs: Sequence[str],
    dynamic: Mapping[str, Any],
    path: Path,
) -> None:
    torch.onnx.export(
        module.eval(),
        tuple(inputs.values()),
        str(path),
        input_names=list(inputs),
        output_names=list(outputs),
        dynamic_shapes=dict(dynamic),
        opset_version=OPSET,
        dynamo=True,
        external_data=False,
        verbose=False,
    )
    leave_out_traces(path)


def leave_out_traces(path: Path) -> None:
    """Drop what torch notes of every node: the stack, with paths of the machine."""
    model = onnx.load(str(path))
    for graph in (model.graph, *model.functions):
        for part in (graph, *graph.node, *graph.value_info):
            del part.metadata_props[:]
            part.doc_string = ""
    for part in (*model.graph.input, *model.graph.output, *model.graph.initializer):
        del part.metadata_props[:]
        part.doc_string = ""
    onnx.save(model, str(path))


def calibration_pairs(sources: Sequence[Iterable[Record]], limit: int = CALIBRATED_ON) -> list[tuple[str, str]]:
    """Pairs (query, observation) to choose ranges on: `limit` distinct observations, as many of each source.

    Raises LineclsError where the sources hold none.
    """
    pairs: list[tuple[str, str]] = []
    for source in sources:
        queries = {record.tool_output: record.query for record in source}
        outputs = sorted(queries)
        drawn = random.Random(0).sample(outputs, min(-(-limit // len(sources)), len(outputs)))
        pairs += [(queries[output], output) for output in drawn]
    if not pairs:
        raise LineclsError("there are no records to calibrate on")
    return pairs


def calibration_calls(encoder: WindowEncoder, pairs: Iterable[tuple[str, str]]) -> Iterator[dict[str, IntArray]]:
    """Calls of the token encoder with each query and some windows, evenly spaced, of each segment of an observation."""
    rows: list[IntArray] = []
    for pair in example_pairs(encoder, pairs):
        windows = pair.windows.rows
        rows += [pair.query.ids, *windows[:: -(-len(windows) // _CALIBRATION_WINDOWS)]]
    for call in pack([len(row) for row in rows], _CALIBRATION_CALL, mixed=True):
        yield dict(zip(ENCODER_INPUTS, pad([rows[row] for row in call.rows], call.width), strict=True))


def parity(model: LineClassifier, network: Network, pairs: Iterable[Pair]) -> float:
    """Largest difference of any keep or answerable logit between torch and a network, as a share of max(1, |logit|).

    A share, because float32 itself is no finer, and logits of long spans are sums over many lines.
    """
    worst = 0.0
    for pair in pairs:
        with torch.inference_mode():
            keep, answerable = model(**to_tensors(collate([pair])))
        ((ours, ours_answerable),) = network.logits([pair])
        for got, wanted in ((ours, keep[0].numpy()), (np.array([ours_answerable]), answerable.numpy())):
            worst = max(worst, float((np.abs(got - wanted) / np.maximum(1, np.abs(wanted))).max(initial=0.0)))
    return worst


@dataclass(frozen=True)
class Graphs:
    """What torch wrote, and what every variant is made from.

    plain, fp32: the encoder, before and after fusion; scorer; all in fp32.
    fused: how many fused operators the encoder has, by name; difference: the largest of a logit from torch's.
    inputs: what the products of `fp32` read on the calibration text; None without such text.
    """

    plain: Path
    fp32: Path
    scorer: Path
    fused: dict[str, int]
    difference: float
    inputs: dict[str, Inputs] | None = None


def export_graphs(
    checkpoint: Checkpoint,
    folder: Path,
    check_on: Sequence[tuple[str, str]],
    calibrate_on: Sequence[tuple[str, str]] = (),
) -> Graphs:
    """Write the fp32 graphs into `folder` and compare them with torch on pairs (query, observation).

    calibrate_on: pairs whose text `Graphs.inputs` is measured on.
    Raises ArtifactError when a logit differs by more than `PARITY`, LineclsError for a form that is not exported.
    """
    config = checkpoint.model.config
    if config.pooling == "vote" or config.line_scope == "window":
        raise LineclsError("pooling 'vote' and line_scope 'window' are for comparisons in torch: they are not exported")
    plain, fp32, scorer = (folder / f"{name}.onnx" for name in ("plain", "fp32", "scorer"))
    export_encoder(checkpoint.model, plain)
    export_scorer(checkpoint.model, scorer)
    fused = fuse_encoder(plain, fp32)
    network = SplitNetwork(
        Session(fp32, ENCODER_OUTPUTS, device="cpu"),
        Session(scorer, SCORER_OUTPUTS, device="cpu"),
        checkpoint.model.config.pooling,
    )
    difference = parity(checkpoint.model, network, example_pairs(checkpoint.encoder, check_on))
    if difference > PARITY:
        raise ArtifactError(f"torch and the ONNX graph differ by {difference:.2e}, more than {PARITY:.0e}")
    inputs = observe(fp32, calibration_calls(checkpoint.encoder, calibrate_on)) if calibrate_on else None
    return Graphs(plain, fp32, scorer, fused, difference, inputs)


def export(
    checkpoint: Checkpoint,
    directory: str | Path,
    *,
    graphs: Graphs | None = None,
    variants: Sequence[str] = ("int8", "fp32"),
    per_channel: bool = True,
    name: str = "linecls",
    version: str = "0",
    operating_points: Mapping[str, OperatingPoint] | None = None,
    default_operating_point: str = "default",
    provenance: Mapping[str, Any] | None = None,
    check_on: Sequence[tuple[str, str]] = (),
    calibrate_on: Sequence[tuple[str, str]] = (),
    card: str | None = None,
) -> Artifact:
    """Write a model directory from a checkpoint.

    graphs: what `export_graphs` wrote of this checkpoint (None: do that now), so that several directories need it
        once.
    variants: `int8` (for the CPU), `fp16` (for a GPU), `fp32`; the first is the default. They share the scorer,
        which stays in fp32: it is a twentieth of the work.
    check_on: pairs (query, observation) on which torch and the fp32 graphs must agree to `PARITY`.
    calibrate_on: pairs whose text chooses the ranges and steps of int8 (`quantising`); read where `graphs` is None.
        Without such text int8 is dynamic (`quantise`), of which per_channel is an option.
    Raises ArtifactError when they do not, LineclsError for an unknown variant.
    """
    if unknown := set(variants) - set(VARIANTS):
        raise LineclsError(f"unknown variant {sorted(unknown)[0]!r}; use {', '.join(VARIANTS)}")
    with tempfile.TemporaryDirectory() as folder:
        graphs = graphs or export_graphs(checkpoint, Path(folder), check_on, calibrate_on)
        products: list[Product] = []
        encoders = {variant: Path(folder) / f"{variant}.onnx" for variant in variants} | {"fp32": graphs.fp32}
        if "int8" in variants and graphs.inputs is not None:
            products = quantise_encoder(graphs.fp32, encoders["int8"], graphs.inputs)
        elif "int8" in variants:
            quantise(graphs.fp32, encoders["int8"], per_channel=per_channel)
        if "fp16" in variants:
            fuse_encoder(graphs.plain, encoders["fp16"], half=True)
        tokenizer = Path(folder) / "tokenizer.json"
        checkpoint.tokenizer.save(str(tokenizer))
        on_gpu = next((variant for variant in ("fp16", "fp32") if variant in variants), None)
        return write_artifact(
            directory,
            name=name,
            version=version,
            encoding=checkpoint.encoding,
            graphs={variant: {ENCODER: encoders[variant], SCORER: graphs.scorer} for variant in variants},
            providers={"cpu": variants[0], **({"cuda": on_gpu} if on_gpu else {})},
            pooling=checkpoint.model.config.pooling,
            tokenizer=tokenizer,
            operating_points=operating_points,
            default_operating_point=default_operating_point,
            provenance={
                **checkpoint.options,
                **(provenance or {}),
                "torch_onnx_difference": graphs.difference,
                "fused_operators": graphs.fused,
                "int8_per_channel": per_channel or bool(products) if "int8" in variants else None,
                "int8_errors": {product.inputs: round(product.error, 4) for product in products} or None,
            },
            card=card,
        )


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
