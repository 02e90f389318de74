"""What `diagnose inspect` and `diagnose diff` say in fixed words, English beside Chinese."""

from __future__ import annotations

from trainrx.model import reasons
from trainrx.model.inspection import Topic
from trainrx.model.text import Text

TOPIC: dict[Topic, Text] = {
    "model": Text(en="Model", zh="模型"),
    "data": Text(en="Data", zh="数据"),
    "tuner": Text(en="Tuner and freezing", zh="微调方式与冻结"),
    "batch": Text(en="Batch and length", zh="batch 与长度"),
    "memory": Text(en="Precision, attention, memory savers", zh="精度、attention 与显存优化"),
    "parallel": Text(en="Parallel layout and launcher", zh="并行与启动器"),
    "rlhf": Text(en="RLHF, rollout and vLLM", zh="RLHF、rollout 与 vLLM"),
    "vision": Text(en="Vision", zh="视觉"),
    "optimizer": Text(en="Optimizer and schedule", zh="优化器与学习率"),
    "saving": Text(en="Evaluation, saving, logging", zh="评估、保存与日志"),
    "environment": Text(en="Environment", zh="环境变量"),
    "other": Text(en="Other", zh="其他"),
}
FACT: dict[str, Text] = {
    "batch.effective": Text(en="samples per step", zh="每个 step 的样本数"),
    "batch.tokens_per_micro_batch": Text(en="tokens per pass", zh="单次前向的 token 数"),
    "batch.generation": Text(en="completions per round", zh="每轮生成的回答数"),
    "batch.divisible_by_generations": Text(
        en="fits num_generations", zh="能被 num_generations 整除"
    ),
    "hardware.gpu": Text(en="card", zh="显卡"),
    "hardware.gpu_gib": Text(en="GiB per card", zh="单卡显存（GiB）"),
    "hardware.gpus": Text(en="GPUs", zh="GPU 总数"),
    "memory.weights_gib": Text(en="weights, GiB", zh="权重（GiB）"),
    "memory.weights_per_gpu_gib": Text(en="weights per card, GiB", zh="每卡权重（GiB）"),
    "memory.trainable_states_per_gpu_gib": Text(
        en="states per card, GiB", zh="每卡梯度与优化器状态（GiB）"
    ),
    "memory.vllm_gib": Text(en="vLLM per card, GiB", zh="每卡 vLLM 占用（GiB）"),
    "memory.left_for_training_gib": Text(
        en="left for training, GiB", zh="每卡留给训练的显存（GiB）"
    ),
    "model.family": Text(en="family", zh="模型系列"),
    "model.params_b": Text(en="parameters, billion", zh="参数量（B）"),
    "parallel.world_size": Text(en="processes", zh="进程总数"),
    "parallel.data_parallel": Text(en="data-parallel replicas", zh="数据并行副本数"),
    "parallel.zero_stage": Text(en="ZeRO stage", zh="ZeRO 阶段"),
    "parallel.offload_params": Text(en="parameters offloaded", zh="参数 offload"),
    "parallel.offload_optimizer": Text(en="optimizer offloaded", zh="优化器状态 offload"),
    "parallel.weight_shards": Text(en="weight shards", zh="权重分片数"),
    "parallel.idle_gpus": Text(en="idle GPUs per node", zh="单机空闲 GPU 数"),
    "vision.pixel_cap": Text(en="pixels per image, at most", zh="单张图片的像素上限"),
    "vllm.mode": Text(en="vLLM runs", zh="vLLM 运行方式"),
}
"""The derived values a page shows without being asked, by their short names."""
ROLE: dict[str, Text] = {
    "trainer": Text(en="trainer", zh="训练"),
    "rollout": Text(en="rollout server", zh="rollout 服务"),
    "reward": Text(en="reward model", zh="奖励模型"),
    "reference": Text(en="reference model", zh="参考模型"),
    "teacher": Text(en="teacher model", zh="教师模型"),
    "inference": Text(en="inference", zh="推理"),
    "evaluation": Text(en="evaluation", zh="评估"),
    "export": Text(en="export", zh="导出"),
    "preparation": Text(en="preparation", zh="数据准备"),
}
VERSION_HOW: dict[str, Text] = {
    "given": Text(en="as given", zh="由你提供"),
    "read": Text(en="from the log", zh="来自日志"),
    "derived": Text(en="all its names exist in these releases", zh="这些版本认识命令中的全部参数"),
}

# the head
FRAMEWORK = Text(en="Framework", zh="框架")
TASK = Text(en="Task", zh="任务")
MODEL = Text(en="Model", zh="模型")
LAYOUT = Text(en="Layout", zh="并行布局")
BATCH = Text(en="Batch", zh="batch")
NODES = Text(en="Also on", zh="其他节点")
CHECK = Text(en="Mind", zh="注意")
NO_FRAMEWORK = Text(en="not known here", zh="未能识别")
NO_VERSION = Text(
    en="version not known: add --versions, defaults depend on it",
    zh="版本未知：请加 --versions，默认值因版本而异",
)
NO_MODEL = Text(en="not named in the launch", zh="启动命令中没有写明")
JOBS = Text(en="{n} launches in the order they stand", zh="共 {n} 个启动命令，按出现顺序排列")
NUMBER = Text(en="launch {i} of {n}", zh="第 {i} 个，共 {n} 个")
PERHAPS = Text(en="only if a condition holds", zh="满足条件时才会执行")
NODES_LAYOUT = Text(en="{n} nodes x {p} processes", zh="{n} 个节点 x 每节点 {p} 个进程")
ONE_NODE_LAYOUT = Text(en="1 node x {p} processes", zh="单机 x {p} 个进程")
ONE_PROCESS = Text(en="1 process", zh="单进程")
OFFLOADED = Text(en="{what} offloaded", zh="{what} offload")
PARAMETERS = Text(en="parameters", zh="参数")
OPTIMIZER = Text(en="optimizer", zh="优化器状态")
BOTH = Text(en="parameters and optimizer", zh="参数和优化器状态")
NO_ZERO = Text(en="no ZeRO", zh="未用 ZeRO")
SAMPLES = Text(en="{sum} samples per step", zh="每个 step {sum} 个样本")
TOKENS = Text(en="at most {n} tokens per pass", zh="单次前向最多 {n} 个 token")
VISION = Text(en="vision", zh="多模态")
BILLION = Text(en="{n} B parameters", zh="参数量 {n} B")
COUNT_DEFECTS = Text(en="defects of the script: {n}", zh="脚本缺陷 {n} 处")
COUNT_STRANGERS = Text(en="names this version does not take: {n}", zh="此版本不认识的参数 {n} 个")
COUNT_UNKNOWN = Text(en="values not known: {n}", zh="值未知的参数 {n} 个")
COUNT_SHADOWED = Text(en="settings without effect: {n}", zh="不生效的设置 {n} 项")
SEE_END = Text(en="see the end", zh="详见末尾")
HIDDEN = Text(
    en="further arguments are hidden in a variable or in a file that is not at hand",
    zh="还有参数藏在变量或未提供的文件里",
)
TRUNCATED = Text(en="{n} more launches: --all shows them", zh="另有 {n} 个启动命令，加 --all 查看")

# origins
DEFAULT_OF = Text(en="{package} {version} default", zh="{package} {version} 默认值")
DEFAULT_OPEN = Text(en="{package} default", zh="{package} 默认值")
DEFAULT = Text(en="default", zh="默认值")
ASSUMED = Text(en="newest default", zh="最新版默认值")
COMPUTED = Text(en="computed", zh="由框架计算")
COMPUTED_FROM = Text(en="computed from {names}", zh="由框架根据 {names} 计算")
DERIVED = Text(en="derived", zh="推算")
DERIVED_FROM = Text(en="derived from {names}", zh="根据 {names} 推算")
GIVEN = Text(en="as given", zh="由你提供")
ENV = Text(en="env", zh="环境变量")
LINE = Text(en="line {n}", zh="第 {n} 行")
LOG = Text(en="log", zh="日志")
GIVEN_AS = Text(en="given as {name}", zh="写作 {name}")
UNKNOWN = Text(en="not known", zh="未知")
AT_START = Text(en="computed at start", zh="启动时计算")
YES = Text(en="yes", zh="是")
NO = Text(en="no", zh="否")

# what stands at the end
UNKNOWNS = Text(en="Values that are not known", zh="值未知的参数")
MAY_BE = Text(en="may be: {texts}", zh="可能是：{texts}")
STRANGERS = Text(en="Names this version does not take", zh="此版本不认识的参数")
NOW_CALLED = Text(en="is called {name} here", zh="此版本写作 {name}")
TAKEN_BY = Text(en="taken by {releases} only", zh="只有 {releases} 认识它")
DOCUMENTED = Text(
    en="kb/params has it for {releases}; the catalog lists no release that takes it",
    zh="知识库中的参数适用于 {releases}；目录中没有认识它的版本",
)
TAKEN_BY_NONE = Text(en="no known release takes it", zh="已知的版本都不认识它")
NO_LIST = Text(
    en="Names that were not looked up: the arguments of this program are not listed here",
    zh="未能核对的参数：这里没有该程序的参数表",
)
SHADOWED = Text(en="Set, but without effect", zh="写了但不生效")
INSTEAD_IS = Text(en="{name} decides", zh="以 {name} 为准")
DEFECTS = Text(en="Defects of the script", zh="脚本缺陷")
REST = Text(
    en="{n} more arguments are at their defaults: --all shows them",
    zh="另有 {n} 个参数为默认值，加 --all 查看",
)
WHY: dict[str, Text] = {
    reasons.NOT_SET: Text(en="not set in the script", zh="脚本里没有给它赋值"),
    reasons.NO_TEXT: Text(
        en="set, but not to a text that stands here", zh="设置了，但脚本里看不出具体的值"
    ),
    reasons.AT_START: Text(
        en="its default is computed when the program starts", zh="默认值在程序启动时才计算"
    ),
    reasons.DIFFERS: Text(
        en="its default differs between the releases the job may run",
        zh="可能的几个版本默认值不同",
    ),
    reasons.HIDDEN: Text(
        en="may be among the arguments that are not at hand", zh="可能在没有给出的那部分参数里"
    ),
    reasons.COMPUTED: Text(
        en="computed by the framework from something not known here",
        zh="由框架根据这里未知的信息计算",
    ),
}
"""Reasons for which a value is not known, as a page says them."""
DEFECT: dict[str, Text] = {
    "crlf-line-ends": Text(
        en="The lines end in CRLF; bash reads the CR as text. Run dos2unix on the file.",
        zh="行尾是 CRLF，bash 会把 CR 当作内容。请用 dos2unix 转换。",
    ),
    "unclosed-quote": Text(
        en="The quote opened here is never closed. Close it on this line.",
        zh="这里的引号没有闭合。请在本行补上。",
    ),
    "space-after-backslash": Text(
        en="A blank after the backslash ends the command here. Delete the blank.",
        zh="反斜杠后面有空格，命令到此为止。请删掉空格。",
    ),
    "en-dash-flag": Text(
        en="The flag does not begin with ASCII dashes. Type -- instead.",
        zh="参数前面不是英文短横线。请改成 --。",
    ),
    "full-width-character": Text(
        en="A full-width character means nothing to the shell. Type the ASCII one instead.",
        zh="shell 不认全角字符。请改成英文半角。",
    ),
}
"""Defects that read the same wherever they stand, by id; others speak for themselves."""

# diff
GOOD = Text(en="good", zh="正常的")
BAD = Text(en="bad", zh="出问题的")
SAME = Text(en="SAME in what matters", zh="关键参数一致")
DIFFERS = Text(en="DIFFERENT in {n} values that matter", zh="有 {n} 项关键参数不同")
CHANGES = Text(en="Different", zh="不同之处")
MINOR = Text(en="Different, without weight", zh="不同，但影响不大")
LONE = Text(en="Given on one side; the other has no such argument", zh="只有一方有的参数")
ONLY_GOOD = Text(en="only good", zh="只有正常的一方")
ONLY_BAD = Text(en="only bad", zh="只有出问题的一方")
OPEN = Text(en="Cannot be compared: one side is not known", zh="无法比较：有一方的值未知")
RENAMED = Text(en="Renamed, same value", zh="改名但值相同")
FACTS = Text(en="What follows from it", zh="由此带来的差别")
ONE_SIDED = Text(
    en="{good} defaults exist only on the good side, {bad} only on the bad: --all lists them",
    zh="另有 {good} 个默认值只有正常的一方有，{bad} 个只有出问题的一方有，加 --all 列出",
)
EQUAL = Text(en="{n} values are equal", zh="另有 {n} 项相同")
FURTHER = Text(
    en="{n} further launches of {where} were not compared",
    zh="{where} 中另有 {n} 个启动命令未参与比较",
)
NOT_SET = Text(en="not set", zh="未设置")
NO_SUCH = Text(en="no such argument", zh="没有这个参数")
MINOR_REST = Text(
    en="{n} more differences without weight: --all shows them",
    zh="另有 {n} 项影响不大的差别，加 --all 查看",
)
