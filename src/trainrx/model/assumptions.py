"""What the memory model takes for granted, and why it gives no number: words in both languages.

A name in braces stands for a value of the job.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trainrx.model.text import Lang, Text

Values = tuple[tuple[str, str], ...]

ASSUMPTIONS: Mapping[str, Text] = {
    "task": Text(
        en="the task is not known: supervised fine-tuning (sft) is assumed",
        zh="不清楚任务类型，按监督微调（sft）计算",
    ),
    "model-folder": Text(
        en="the model is taken to be the one the folder is named after ({folder})",
        zh="按目录名（{folder}）判断模型",
    ),
    "tuner": Text(
        en="it is not said what is trained: {tuner} is assumed",
        zh="未说明训练方式，按 {tuner} 计算",
    ),
    "dora": Text(
        en="DoRA is counted as LoRA: what it takes beyond was 0.1 GiB where it was measured",
        zh="DoRA 按 LoRA 计算：实测两者只差 0.1 GiB",
    ),
    "small-adapter": Text(
        en="what {tuner} trains is counted as a million parameters",
        zh="{tuner} 的可训练参数按一百万个计算",
    ),
    "rank": Text(
        en="the LoRA rank is not known: {rank} is assumed", zh="LoRA rank 未知，按 {rank} 计算"
    ),
    "targets": Text(
        en="the modules that get an adapter are not known by name ({targets}): all linear layers "
        "of the language model are assumed",
        zh="无法识别挂 LoRA 的模块（{targets}），按语言模型的全部线性层计算",
    ),
    "weights-dtype": Text(
        en="the precision the weights are loaded in is not known: {dtype} is assumed",
        zh="加载权重的精度未知，按 {dtype} 计算",
    ),
    "mixed-precision": Text(
        en="it is not said whether mixed precision is on: bf16 is assumed",
        zh="未说明是否开启混合精度，按 bf16 混合精度计算",
    ),
    "optimizer": Text(
        en="the optimizer is not known: {optimizer} is assumed",
        zh="优化器未知，按 {optimizer} 计算",
    ),
    "checkpointing": Text(
        en="it is not known whether gradient checkpointing is on: {state} is assumed",
        zh="不清楚是否开启梯度检查点，按 {state} 计算",
    ),
    "attention": Text(
        en="the attention kernel is not set: {attention}, the default, is assumed",
        zh="未指定注意力实现，按默认的 {attention} 计算",
    ),
    "attention-of-release": Text(
        en="the attention kernel is not set, and releases the job may run differ: {attention} is "
        "assumed",
        zh="未指定注意力实现，而任务可能使用的各版本默认不同，按 {attention} 计算",
    ),
    "micro-batch": Text(
        en="the batch size per GPU is not known: {samples} is assumed",
        zh="每卡 batch size 未知，按 {samples} 计算",
    ),
    "length-cap": Text(
        en="nothing is known of the data: every sample is taken to be as long as the limit, "
        "{tokens} tokens",
        zh="不了解数据的长度分布：每条样本按上限 {tokens} 个 token 计算",
    ),
    "length-unlimited": Text(
        en="no limit of the length is set: any up to {tokens} tokens are allowed for",
        zh="未设置长度上限：按不超过 {tokens} 个 token 的任意长度给出区间",
    ),
    "open-length": Text(
        en="what limits the length is not understood ({by}): any that the model takes is allowed "
        "for",
        zh="无法识别长度上限的设置（{by}）：按模型能接受的任意长度给出区间",
    ),
    "open-sharding": Text(
        en="what is sharded is not understood ({by}): nothing up to everything is allowed for",
        zh="无法识别切分方式的设置（{by}）：从完全不切分到全部切分都计入区间",
    ),
    "open-offload": Text(
        en="{by} is not at hand: offloading to the host is allowed for",
        zh="手头没有 {by}：区间计入了卸载到主机内存的可能",
    ),
    "open-tuner": Text(
        en="what is trained is not understood ({by}): 4-bit adapters up to all weights are allowed "
        "for",
        zh="无法识别训练哪些参数（{by}）：从 4 bit LoRA 到全参训练都计入区间",
    ),
    "open-checkpointing": Text(
        en="gradient checkpointing is not understood ({by}): on and off are allowed for",
        zh="无法识别是否开启梯度检查点（{by}）：开与关都计入区间",
    ),
    "open-precision": Text(
        en="the precision is not understood ({by}): 2 and 4 bytes a weight are allowed for",
        zh="无法识别精度设置（{by}）：每个权重 2 字节与 4 字节都计入区间",
    ),
    "open-kernels": Text(
        en="attention, loss and optimizer are not understood ({by}): fused and plain ones are "
        "allowed for",
        zh="无法识别注意力、loss 与优化器的实现（{by}）：融合与普通实现都计入区间",
    ),
    "open-batch": Text(
        en="the samples of a micro-batch are not understood ({by}): 1 to 64 are allowed for",
        zh="无法识别 micro-batch 大小（{by}）：1 到 64 条样本都计入区间",
    ),
    "length-published": Text(
        en="lengths are those published for {datasets}: {mean} tokens on average, at most {max}",
        zh="长度取自 {datasets} 的公开统计：平均 {mean} 个 token，最长 {max}",
    ),
    "length-data": Text(
        en="lengths are those of {source}: {mean} tokens on average, at most {max} ({how})",
        zh="长度取自 {source}：平均 {mean} 个 token，最长 {max}（{how}）",
    ),
    "length-row": Text(
        en="lengths are those of {source}: {mean} tokens on average, the longest {max} at row "
        "{row} ({how})",
        zh="长度取自 {source}：平均 {mean} 个 token，最长 {max}，在第 {row} 行（{how}）",
    ),
    "completion-cap": Text(
        en="completions are taken to be as long as the limit, {tokens} tokens",
        zh="completion 按上限 {tokens} 个 token 计算",
    ),
    "images-one": Text(
        en="it is not known how many images a sample has: 1 is assumed",
        zh="不清楚每条样本有几张图，按 1 张计算",
    ),
    "images-none": Text(
        en="the data has no images: the vision tower only keeps its weights",
        zh="数据中没有图片：视觉塔只占权重",
    ),
    "pixels": Text(
        en="images may have up to {most} pixels: {pixels} are assumed",
        zh="图片最多可达 {most} 像素：每张图按 {pixels} 像素计算",
    ),
    "pixels-data": Text(
        en="images are those of {source}: {pixels} pixels on average, at most {most}, as far as "
        "limits let them",
        zh="图片取自 {source}：平均 {pixels} 像素，最多 {most}，已计入上限",
    ),
    "pixels-cap": Text(
        en="every image is taken to have as many pixels as the limit, {pixels}",
        zh="每张图按像素上限 {pixels} 计算",
    ),
    "processes": Text(
        en="the number of processes is not known: {processes} is assumed",
        zh="进程数未知，按 {processes} 计算",
    ),
    "sharding": Text(
        en="the settings of DeepSpeed or FSDP could not be read ({setting}): {assumed} is assumed",
        zh="无法读取 DeepSpeed 或 FSDP 的配置（{setting}），按 {assumed} 计算",
    ),
    "reward-shape": Text(
        en="the shape of {model} is not known: it is taken to be that of the trained model",
        zh="不清楚 {model} 的结构，按与训练模型相同计算",
    ),
    "reference": Text(
        en="it is not known whether a reference model is held: {state} is assumed",
        zh="不清楚是否加载参考模型，按{state}计算",
    ),
    "rollout-mode": Text(
        en="it is not known where the inference engine runs: {mode} is assumed",
        zh="不清楚推理引擎的运行方式，按 {mode} 计算",
    ),
    "engine-share": Text(
        en="the engine's share of the card is not known: {share} is assumed",
        zh="推理引擎占显存的比例未知，按 {share} 计算",
    ),
    "frozen-share": Text(
        en="the share of the model that is trained is told by names ({names}): {share} is assumed",
        zh="按名称（{names}）指定可训练部分，按 {share} 计算",
    ),
    "audio-left-out": Text(
        en="a frozen audio encoder works on the sound and is not counted: below 0.1 GiB for 30 s",
        zh="音频经过冻结的音频编码器，未计入：每 30 秒不到 0.1 GiB",
    ),
    "context-length": Text(
        en="the ranks of a sequence group are taken to share each sequence evenly",
        zh="序列并行组内按均分每条序列计算",
    ),
}

NO_PLAN: Mapping[str, Text] = {
    "no-plan": Text(
        en="nothing that may be changed makes the job fit a card of {gib} GiB",
        zh="在允许改动的范围内，没有办法让任务放进 {gib} GiB 的显卡",
    ),
    "no-plan-nearest": Text(
        en="nothing that may be changed makes the job fit a card of {gib} GiB with a margin; what "
        "frees most ({most}) leaves {left} GiB",
        zh="在允许改动的范围内，没有办法让任务留有余量地放进 {gib} GiB 的显卡；"
        "最省显存的改法（{most}）仍需 {left} GiB",
    ),
}
"""Everything that may be changed is not enough."""
ENOUGH: Mapping[str, Text] = {
    "": Text(en="", zh=""),
    "-cards": Text(
        en="; {cards} such GPUs would be enough by the estimate",
        zh="；按估算，同样的卡需要 {cards} 张才够",
    ),
    "-size": Text(
        en="; GPUs of {size} GiB would be enough by the estimate",
        zh="；按估算，换成 {size} GiB 的卡才够",
    ),
    "-both": Text(
        en="; {cards} such GPUs, or GPUs of {size} GiB, would be enough by the estimate",
        zh="；按估算，需要 {cards} 张同样的卡，或换成 {size} GiB 的卡",
    ),
}
"""What would be, as the end of an id and of its words."""
REFUSALS: Mapping[str, Text] = {
    "no-model": Text(
        en="the model is not named: give its name, or its config.json with --model-config",
        zh="没有给出模型：请给出模型名，或用 --model-config 提供 config.json",
    ),
    "model-unknown": Text(
        en="the shape of {model} is not known{nearest}: give its config.json with --model-config",
        zh="不清楚 {model} 的结构{nearest}：请用 --model-config 提供它的 config.json",
    ),
    "model-incomplete": Text(
        en="the shape of {model} lacks {missing}: give its config.json with --model-config",
        zh="{model} 的结构缺少 {missing}：请用 --model-config 提供它的 config.json",
    ),
    "length-unknown": Text(
        en="neither the limit of the length nor the data's lengths are known: give --data FILE",
        zh="长度上限和数据长度都未知：请用 --data 提供数据文件",
    ),
    "no-gpus": Text(
        en="the job has {gpus} GPUs: expected at least 1", zh="任务有 {gpus} 张 GPU，至少需要 1 张"
    ),
    "not-positive": Text(
        en="{param} is {value}: expected at least {least}",
        zh="{param} 为 {value}，至少应为 {least}",
    ),
    "share-range": Text(
        en="{param} is {value}: expected a share above 0 and at most 1",
        zh="{param} 为 {value}，应大于 0 且不超过 1",
    ),
    "processes-exceed-gpus": Text(
        en="{processes} processes per machine, but {gpus} GPUs: expected at most one process a GPU",
        zh="每台机器 {processes} 个进程，但只有 {gpus} 张 GPU：每张卡至多一个进程",
    ),
    "world-not-divisible": Text(
        en="{world} GPUs cannot be split into groups of {group} ({degrees}): expected a multiple",
        zh="{world} 张 GPU 无法按每组 {group} 张（{degrees}）划分，应为整数倍",
    ),
    "heads-not-divisible": Text(
        en="{heads} attention heads cannot be split over {tensor} GPUs ({param}): "
        "expected a divisor of {heads}",
        zh="{heads} 个注意力头无法切分到 {tensor} 张卡（{param}），应为 {heads} 的约数",
    ),
    "layers-fewer-than-stages": Text(
        en="{layers} layers cannot be split into {stages} stages: expected at most {layers}",
        zh="{layers} 层无法切成 {stages} 个流水线阶段，至多 {layers} 个",
    ),
    "experts-not-divisible": Text(
        en="{experts} experts cannot be split over {expert} GPUs: expected a divisor of {experts}",
        zh="{experts} 个专家无法切分到 {expert} 张卡，应为 {experts} 的约数",
    ),
    "not-training": Text(
        en="this is no training command ({command}): only training is modelled",
        zh="这不是训练命令（{command}）：目前只能估算训练任务",
    ),
    "npu": Text(
        en="memory of NPUs is not modelled ({param}): its kernels and allocator are not CUDA's",
        zh="尚不支持 NPU 的内存估算（{param}）：其算子与分配器和 CUDA 不同",
    ),
    "no-card": Text(
        en="the memory of the card is not known: give --gpu NAME or --gpu 24GiB",
        zh="显卡显存未知：请用 --gpu 给出型号或大小（如 --gpu 24GiB）",
    ),
    "audio-trained": Text(
        en="the audio encoder is trained ({param}): what it keeps is not measured",
        zh="音频编码器参与训练（{param}）：其激活占用没有实测数据",
    ),
    "trained-unknown": Text(
        en="how many parameters are trained is not known", zh="不清楚有多少参数参与训练"
    ),
    "open": Text(
        en="between {low} and {high} GiB are possible, the card has {limit}: {asks}",
        zh="可能占用 {low}～{high} GiB，显卡为 {limit} GiB：{asks}",
    ),
    **{
        f"{ident}{end}": Text(en=text.en + more.en, zh=text.zh + more.zh)
        for ident, text in NO_PLAN.items()
        for end, more in ENOUGH.items()
    },
    "contradicted": Text(
        en="the job ran out of memory although {gib} GiB are predicted: what fills the card is not "
        "in the model, so no plan can be proved",
        zh="任务已经显存不足，但预测只需 {gib} GiB：占用显存的部分不在模型内，无法证明任何方案",
    ),
    "setting": Text(
        en="{param} = {value} is not modelled: no formula was measured for it",
        zh="尚不支持 {param} = {value} 的估算：没有经过实测的公式",
    ),
}


def say(
    table: Mapping[str, Text], ident: str, values: Iterable[tuple[str, str]], lang: Lang
) -> str:
    """Write one entry with the job's values filled in; an unknown id gives itself."""
    if ident not in table:
        return ident
    text = table[ident].in_(lang)
    for name, value in values:
        text = text.replace("{" + name + "}", value)
    return text
