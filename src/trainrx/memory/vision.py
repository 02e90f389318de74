"""What goes through the vision tower, and what is left out of an audio encoder."""

from __future__ import annotations

import re

import msgspec

from trainrx.memory.job import TrainingJob
from trainrx.model.hardware import TokenStats
from trainrx.model.memory import Images, Refusal, Workload

LIMITS = ("log.max_pixels", "vision.max_pixels", "vision.pixel_cap")
VIDEO_FRAMES = 16.0
VIDEO_TOKENS = 128.0
"""Visual tokens a frame has at least, VIDEO_MIN_PIXELS of qwen_vl_utils: what it has unless told,
as long videos are cut down to VIDEO_TOTAL_PIXELS over all frames (vision_process.py)."""
LEAST_CAP = 1.05
"""No cap of a frame falls below so many of these minima (qwen_vl_utils 0.0.8 to 0.0.14,
vision_process.py): 105,369 pixels where a token is 28 x 28."""
TOKEN_SIDE = 28
QWEN_PIXELS = 16384 * 28 * 28.0
"""MAX_PIXELS of qwen_vl_utils (vision_process.py): 12 845 056 pixels, about 16 384 tokens."""
TYPICAL_PIXELS = 1024 * 1024.0
"""What an image has where nothing limits it."""
VIDEO_NAMES = re.compile(r"video", re.IGNORECASE)
TEXT_ONLY = re.compile(
    r"alpaca|self-cognition|gsm8k|numina|math-word|ms-bench|dolly|orca|sharegpt(?!4)", re.IGNORECASE
)
SOUNDS = re.compile(r"audio|speech|aishell|asr|tts|voice|omni|sound|clotho", re.IGNORECASE)
SEES = re.compile(
    r"latex|coco|vqa|llava|geo|ocr|image|vision|video|multimodal|clevr|vl", re.IGNORECASE
)


def with_images(job: TrainingJob, work: Workload, own: TokenStats | None) -> Workload:
    """Fill in what goes through the vision tower; nothing where the data has no images."""
    if work.shape.tower is None and not work.shape.vision:
        return work
    trained = job.facts.value("freeze.vision") is False
    if not job.framework.freezes_tower and not job.trains_adapters():
        trained = job.facts.value("freeze.vision") is not True
    counted = _per_sample(job, own)
    if counted == 0:
        job.assume("images-none", "train.dataset")
        return work
    frames, pixels, most = _view(job, work, own)
    return msgspec.structs.replace(
        work,
        images=Images(
            per_sample=counted,
            pixels=pixels,
            pixels_max=most,
            frames=frames,
            trained=trained,
            projector_trained=job.facts.value("freeze.projector") is False,
            checkpointing=_tower_checkpointing(job),
            hooked=job.release(job.framework.hooks_towers),
        ),
    )


def with_audio(job: TrainingJob, work: Workload) -> Workload | Refusal:
    """Say what is left out of a model with an audio encoder; refuse one that is trained.

    Whisper's encoder (1,500 positions for 30 s, 32 layers 1,280 wide) runs without keeping its
    layers while it is frozen: below 0.1 GiB a clip. What it keeps when trained is not measured.
    """
    if not work.shape.audio:
        return work
    names = job.facts.text("train.dataset") or ""
    if names and not SOUNDS.search(names):
        return work
    if work.tuner == "full" and job.facts.value("freeze.vision") is False:
        return job.unmodelled("audio-trained", "freeze.vision", param="freeze.vision")
    job.assume("audio-left-out", "train.dataset")
    return work


def _per_sample(job: TrainingJob, own: TokenStats | None) -> float:
    if own is not None and (own.images is not None or own.videos is not None):
        return (own.images or 0.0) + (own.videos or 0.0)
    names = job.facts.text("train.dataset") or ""
    words = [word for word in re.split(r"[\s,\[\]'\"]+", names) if word]
    if words and all(TEXT_ONLY.search(word) and not SEES.search(word) for word in words):
        return 0.0
    job.assume("images-one", "train.dataset")
    return 1.0


def _tower_checkpointing(job: TrainingJob) -> bool:
    """Tell whether the tower is checkpointed: by its own switch, else like the language model.

    That is what enabling it on the whole model does.
    """
    own = job.facts.value("train.vit_gradient_checkpointing")
    if isinstance(own, bool):
        return own
    return job.facts.value("train.gradient_checkpointing") is not False


def _view(job: TrainingJob, work: Workload, own: TokenStats | None) -> tuple[float, float, float]:
    """Give frames, pixels of each, and the most pixels of an image or frame."""
    names = job.facts.text("train.dataset") or ""
    if not (own is not None and own.videos) and not VIDEO_NAMES.search(names):
        return (1.0, *_pixels(job, work, own))
    frames = float(job.positive("vision.max_frames") or VIDEO_FRAMES)
    tower = work.shape.tower
    side = TOKEN_SIDE if tower is None or tower.merge == 1 else tower.patch * tower.merge
    least = VIDEO_TOKENS * side**2
    told = job.positive("vision.video_max_pixels")
    if job.framework.max_image_pixels:  # it makes frames smaller itself, to any size
        pixels = float(told or least)
    else:
        pixels = max(float(told or 0.0), float(int(LEAST_CAP * least)))
    return frames, pixels, pixels


def _pixels(job: TrainingJob, work: Workload, own: TokenStats | None) -> tuple[float, float]:
    """Give the pixels of an image: what is typical, and the most that pass.

    A limit far above what photographs have is none. What the data has goes before a guess.
    """
    tower = work.shape.tower
    if tower is not None and tower.image_size is not None:
        side = float(tower.image_size**2)
        return side, side
    told = next((found for kind in LIMITS if (found := job.positive(kind)) is not None), None)
    default = job.framework.max_image_pixels or QWEN_PIXELS
    most = default if told is None else float(told)
    if own is not None and own.pixels is not None:
        typical, most = min(own.pixels, most), min(own.pixels_max or own.pixels, most)
        values = {"source": own.source, "pixels": f"{typical:.0f}", "most": f"{most:.0f}"}
        job.assume("pixels-data", "vision.max_pixels", **values)
        return typical, most
    typical = min(most, TYPICAL_PIXELS)
    ident = "pixels" if most > TYPICAL_PIXELS else "pixels-cap"
    job.assume(ident, "vision.max_pixels", pixels=f"{typical:.0f}", most=f"{most:.0f}")
    return typical, most
