"""Every fixed word the tool says, English beside Chinese."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainrx.model.text import Lang, Text

if TYPE_CHECKING:
    from trainrx.model.knowledge import Family, Role
    from trainrx.model.parts import Safety
    from trainrx.model.result import Verdict
    from trainrx.model.states import StateRole

VERDICT: dict[Verdict, Text] = {
    "diagnosed": Text(en="DIAGNOSED", zh="已定位"),
    "suspected": Text(en="SUSPECTED", zh="疑似"),
    "unknown": Text(en="UNKNOWN", zh="原因不明"),
    "healthy": Text(en="HEALTHY", zh="正常"),
    "will_fail": Text(en="WILL FAIL", zh="必定失败"),
    "will_not_fit": Text(en="WILL NOT FIT", zh="显存放不下"),
    "at_risk": Text(en="AT RISK", zh="有风险"),
    "no_problem_foreseen": Text(en="NO PROBLEM FORESEEN", zh="未见问题"),
}
FAMILY: dict[Family, Text] = {
    "oom": Text(en="out of GPU memory", zh="显存不足（OOM）"),
    "host_oom": Text(en="out of host memory", zh="主机内存不足"),
    "init_hang": Text(en="hangs at the start", zh="启动阶段卡死"),
    "hang": Text(en="hangs while training", zh="训练中途卡死"),
    "growing_memory": Text(en="memory keeps growing", zh="显存占用持续上涨"),
    "rank_imbalance": Text(en="one GPU holds far more than the others", zh="各卡显存占用不均"),
    "version_conflict": Text(en="versions do not fit together", zh="版本不兼容"),
    "config_error": Text(en="a setting is wrong", zh="参数或配置有误"),
    "nan_loss": Text(en="the loss breaks down (NaN or 0)", zh="loss 异常（NaN 或 0）"),
    "slow": Text(en="far slower than it could be", zh="训练速度过慢"),
    "crash_other": Text(en="crash", zh="异常崩溃"),
}
LIKELY: dict[str, Text] = {
    "likely": Text(en="likely", zh="很可能"),
    "possible": Text(en="possible", zh="有可能"),
}
SAFETY: dict[Safety, Text] = {
    "safe": Text(en="same training result", zh="不影响训练结果"),
    "costs": Text(en="same training result, at a price", zh="不影响训练结果，但有代价"),
    "changes-results": Text(en="changes the training result", zh="会影响训练结果"),
    "manual": Text(en="by hand", zh="需手动处理"),
    "destructive": Text(en="deletes or ends something", zh="会删除数据或结束进程"),
}
SEVERITY: dict[str, Text] = {
    "error": Text(en="error", zh="错误"),
    "warning": Text(en="warning", zh="警告"),
    "info": Text(en="note", zh="提示"),
    "fatal": Text(en="stops the job", zh="任务会中断"),
    "degraded": Text(en="the job runs, but badly", zh="能跑，但效果或速度变差"),
    "notice": Text(en="good to know", zh="仅供参考"),
}
ROLE: dict[Role, Text] = {
    "failure": Text(en="a failure", zh="故障"),
    "echo": Text(en="only follows from another failure", zh="由其他故障引发的后果"),
    "context": Text(en="tells how the job was set up", zh="说明任务的配置情况"),
    "phase": Text(en="a stage of the run begins", zh="某个训练阶段的开始"),
    "frame": Text(en="a traceback line that says where", zh="指明出错位置的 traceback 行"),
    "success": Text(en="the run reached its end", zh="训练正常结束"),
    "observation": Text(en="words of the user (--note)", zh="用户的描述（--note）"),
}
PHASE: dict[str, Text] = {
    "launch": Text(en="at launch", zh="启动时"),
    "load": Text(en="while loading the model", zh="加载模型时"),
    "tokenize": Text(en="while preparing the data", zh="预处理数据时"),
    "train-start": Text(en="just before the first step", zh="首个 step 之前"),
    "train": Text(en="while training", zh="训练中"),
    "eval": Text(en="while evaluating", zh="评估时"),
    "save": Text(en="while saving", zh="保存 checkpoint 时"),
    "rollout": Text(en="during rollout", zh="rollout 采样时"),
    "weight-sync": Text(en="while handing the weights to vLLM", zh="向 vLLM 同步权重时"),
    "end": Text(en="at the end", zh="结束时"),
}
TRUTH: dict[bool | None, Text] = {
    True: Text(en="holds", zh="成立"),
    False: Text(en="does not hold", zh="不成立"),
    None: Text(en="unknown", zh="未知"),
}

# the head: what a tired reader sees first
CAUSE = Text(en="Cause", zh="原因")
FIX = Text(en="Fix", zh="修改")
JOB = Text(en="Job", zh="任务")
BUNDLE = Text(en="Bundle", zh="证据包")
NEXT = Text(en="Next", zh="下一步")
SEEN = Text(en="Seen", zh="现象")
CHECKED = Text(en="Checked", zh="检查过")
ALSO: dict[str, Text] = {
    "likely": Text(en="Also likely", zh="同样很可能"),
    "possible": Text(en="Possible", zh="有可能"),
}
COULD_BE = Text(en="Could be", zh="可能是")
SIGN = Text(en="if: {what}", zh="若：{what}")
QUESTION = Text(en="Ask", zh="请确认")
APPLY = Text(en="Apply: `{command}`", zh="应用：`{command}`")
APPLY_SAME = Text(
    en="Apply: `diagnose fix` with the same inputs", zh="应用：用同样的输入运行 `diagnose fix`"
)
SEE_MORE = Text(en="all of it: `--explain`", zh="查看全部：`--explain`")
SEE_CAUSE = Text(en="the entry: `diagnose explain {id}`", zh="条目：`diagnose explain {id}`")
NEEDS = Text(
    en="about {need} GiB per GPU are predicted, the card has {card}",
    zh="预测每卡约需 {need} GiB，显卡只有 {card} GiB",
)
CLAIM: dict[Verdict, Text] = {
    "diagnosed": Text(en="the cause was found", zh="找到了原因"),
    "suspected": Text(en="there is a suspicion", zh="有可疑之处"),
    "unknown": Text(
        en="the cause was not found; this does not mean that the job is healthy",
        zh="没有找到原因，但这不代表任务没有问题",
    ),
    "healthy": Text(en="nothing wrong was found", zh="没有发现问题"),
    "will_fail": Text(
        en="the launch is refused, or crashes before it trains",
        zh="启动会被拒绝，或在训练前报错",
    ),
    "will_not_fit": Text(en="the predicted memory exceeds the card", zh="预测的显存超出显卡容量"),
    "at_risk": Text(
        en="nothing has failed so far; by its launch this job may",
        zh="目前没有失败，但从启动参数看可能出问题",
    ),
    "no_problem_foreseen": Text(
        en="nothing in the launch foretells a failure", zh="启动参数中没有发现会导致失败的问题"
    ),
}
FIT_NOT_TOLD = Text(
    en="nothing in the launch foretells a failure, but whether it fits cannot be said: "
    "`diagnose estimate` asks for what would tell",
    zh="启动参数中没有发现会导致失败的问题，但无法判断显存是否够用："
    "`diagnose estimate` 会说明还需要什么信息",
)
HEALTHY_LAUNCH_ONLY = Text(
    en="Only the launch was judged: no log was given.",
    zh="没有提供日志，只检查了启动命令。",
)
HEALTHY_LOG_ONLY = Text(
    en="Only the log was judged: no launch command was given.",
    zh="没有提供启动命令，只检查了日志。",
)
HEALTHY_UNFINISHED = Text(
    en="The log does not show that the run has ended; later steps were not judged.",
    zh="日志里没有训练结束的标志，之后的步骤无法判断。",
)
COLLECT = Text(
    en=(
        "Collect the launch script, the whole log of every rank, and the output of "
        "`pip freeze` and `nvidia-smi`; then run again:"
    ),
    zh=(
        "请收集启动脚本、每个 rank 的完整日志，以及 `pip freeze` 和 `nvidia-smi` 的输出，"
        "然后重新运行："
    ),
)
COLLECT_HERE = Text(
    en=(
        "Send the launch script, the whole log of every rank, and the output of `pip freeze` and "
        "`nvidia-smi` here."
    ),
    zh="请把启动脚本、每个 rank 的完整日志，以及 `pip freeze` 和 `nvidia-smi` 的输出发到这里。",
)
COLLECT_COMMAND = "diagnose --cmd launch.sh --log train.log --versions freeze.txt --gpu NAME"

# headings
WHY = Text(en="Why", zh="依据")
WHY_NOT = Text(en="Against it", zh="不支持的迹象")
NOT_KNOWN = Text(
    en="Not known (+ would speak for it, - against it)", zh="尚不清楚（+ 若属实则支持，- 则反对）"
)
CHANGE = Text(en="Change", zh="怎么改")
AT_TOP = Text(en="see the top", zh="见开头")
AT_CAUSE = Text(en="see cause {n}", zh="见原因 {n}")
DIFFERENTIAL = Text(en="What can be behind it", zh="可能的原因")
CONFIRMS = Text(en="confirmed by", zh="可由此确认")
RULES_OUT = Text(en="ruled out by", zh="可由此排除")
NEIGHBOURS = Text(en="Entries in similar words, to read", zh="用词相近的条目，供参考")
INSTEAD = Text(en="instead of {}", zh="代替 {}")
NOT_OFFERED = Text(en="Not offered", zh="未给出")
ALREADY = Text(en="Already right", zh="已经设对")
EFFECTS = Text(en="Explains also", zh="同时解释了")
SCORE = Text(en="Score", zh="得分")
SOURCES = Text(en="Sources", zh="参考")
SYMPTOMS = Text(en="Seen", zh="观察到的现象")
FINDINGS = Text(en="In the launch", zh="启动命令中的问题")
UNREAD = Text(en="Could not be used", zh="未能使用的输入")
INPUTS = Text(en="What was read as what", zh="各输入的识别结果")
WARNINGS = Text(en="Mind", zh="注意")
ASKS = Text(en="To be surer, find out", zh="补充以下信息可以更确定")
ASKS_UNKNOWN = Text(en="To find the cause, collect", zh="要找到原因，请收集")

# small words
SLOWER = Text(en="{low} to {high} x the time of a step", zh="每步耗时 {low}～{high} 倍")
DESTROYS = Text(en="Deletes or ends", zh="会删除或结束")
LOOK_FIRST = Text(en="Look first", zh="先查看")
PRICE = Text(en="Price", zh="代价")
MEMORY = Text(en="Memory", zh="显存")
OF_CARD = Text(en="{change} of {card} GiB per GPU", zh="每卡 {change} GiB，显卡 {card} GiB")
BETWEEN = Text(en="{low}-{high}", zh="{low}～{high}")
FITS = Text(en="fits", zh="放得下")
PROBABLY = Text(en="probably fits", zh="多半放得下")
PROBABLY_NOT = Text(en="probably does not fit", zh="多半放不下")
TOO_LARGE = Text(en="does not fit", zh="放不下")
VALUE_UNKNOWN = Text(en="present value not known", zh="当前值未知")
NOT_SET = Text(en="not set now", zh="目前未设置")
RENAME = Text(en="rename {old} to {new}", zh="把 {old} 改名为 {new}")
DELETE = Text(en="remove", zh="删除")
RANKS = Text(en="rank", zh="rank")
SEVERAL_RANKS = Text(en="ranks", zh="rank")
RANKS_LABEL = Text(en="Ranks", zh="各 rank")
STANDS = Text(en="{who} {what}: {at}", zh="{who} {what}：{at}")
WAIT_FOR_IT = Text(en="{who} for it{op}: {at}", zh="{who}在等它{op}：{at}")
WAITS = Text(en="{who} for it", zh="{who}在等它")
ONE_WAITS = Text(en="{who} waits", zh="{who} ")
SEVERAL_WAIT = Text(en="{who} wait", zh="{who} ")
EACH_OF = Text(en="each of {who}", zh="{who} 都")
NOT_THERE = Text(en="{who} was not seen", zh="没有看到 {who}")
STACKS = Text(en="Stacks of all ranks, merged", zh="所有 rank 的调用栈（合并）")
TIMES = Text(en="{n} times", zh="共 {n} 次")
FOLLOWS = Text(en="follows from {what}", zh="由“{what}”引发")
COMMON = Text(
    en="Nothing here speaks for it yet; it is named because it is common behind what was seen.",
    zh="目前没有直接证据，仅因它是这类现象的常见原因而列出。",
)
FURTHER = Text(en="Less likely", zh="可能性更低")
MORE = Text(en="{n} more: --explain shows them", zh="另有 {n} 项，加 --explain 查看")
MORE_PLAIN = Text(en="{n} more", zh="另有 {n} 项")
NODES = Text(en="{n} nodes", zh="{n} 个节点")
ONE_NODE = Text(en="1 node", zh="单机")
PRIOR = Text(en="prior", zh="先验概率")
SUM = Text(en="sum", zh="合计")
PROBABILITY = Text(en="probability", zh="概率")
WOULD_BE = Text(en="would count", zh="若成立则计")
CORRELATED = Text(en="votes that say the same count once", zh="同组依据只计最强的一条")
NATS = Text(en="nats", zh="nat")
COUNT_SETTINGS = Text(en="{n} settings of the launch", zh="启动命令中的 {n} 项设置")
COUNT_SIGNS = Text(en="the log", zh="日志")
KNOWLEDGE = Text(en="knowledge base {version}", zh="知识库 {version}")
COMMA = Text(en=", ", zh="，")
LISTED = Text(en=", ", zh="、")
COLON = Text(en=": ", zh="：")
PAREN = Text(en=" ({})", zh="（{}）")

# markdown
MD_TITLE: dict[Verdict, Text] = {
    "diagnosed": Text(en="Diagnosed", zh="已定位"),
    "suspected": Text(en="Suspected", zh="疑似"),
    "unknown": Text(en="Cause unknown", zh="原因不明"),
    "healthy": Text(en="Healthy", zh="正常"),
    "will_fail": Text(en="Will fail", zh="必定失败"),
    "will_not_fit": Text(en="Will not fit", zh="显存放不下"),
    "at_risk": Text(en="At risk", zh="有风险"),
    "no_problem_foreseen": Text(en="No problem foreseen", zh="未见问题"),
}
WRITTEN_BY = Text(
    en="Written by {tool}; secrets are masked.", zh="由 {tool} 生成，敏感信息已打码。"
)
WRITTEN_AS_IS = Text(
    en="Written by {tool}; secrets are not masked.", zh="由 {tool} 生成，敏感信息未打码。"
)

# explain pages
CODES = Text(en="What each {group} means", zh="各 {group} 的含义")
RECOGNISED = Text(en="Recognised by lines such as", zh="识别的日志行，例如")
NOT_MISTAKEN = Text(en="Not by look-alikes such as", zh="不会误认的相似行，例如")
SUPPORTS = Text(en="Speaks for it", zh="支持的依据")
CONTRADICTS = Text(en="Speaks against it", zh="反对的依据")
TOLD_APART = Text(en="Told apart from", zh="与相近原因的区别")
EFFECT: dict[str, Text] = {
    "reject": Text(en="the program refuses to start", zh="程序拒绝启动"),
    "alter": Text(
        en="the program changes the argument and goes on", zh="程序改掉这个参数后继续运行"
    ),
    "warn": Text(en="the program only warns", zh="程序只给出警告"),
}
SPLITS = Text(en="would tell apart: {causes}", zh="可以区分：{causes}")
OR_ELSE = Text(en=" | ", zh=" | ")
SIGN_OF = Text(en="A sign of", zh="指向的原因")
SHOWS_AS = Text(en="Shows as", zh="表现为")
APPLIES = Text(en="Applies to", zh="适用于")
REMEDIES = Text(en="What to change", zh="怎么改")
EXCLUDES = Text(en="Does not go with", zh="不能同时使用")
SPELLED = Text(en="Spelled", zh="各框架的写法")
DEFAULT = Text(en="default", zh="默认值")
SINCE = Text(en="since {version}", zh="自 {version} 起")
VERIFIED = {
    "script": Text(
        en="Compared with its sources by a program on {on} ({held}).",
        zh="{on} 由程序与来源比对（{held}）。",
    ),
    "reading": Text(en="Read at its sources on {on}.", zh="{on} 由人对照来源读过。"),
}
NOT_VERIFIED = Text(
    en="Not verified: nobody but its author compared it with its sources as it stands.",
    zh="未核实：除作者外，尚无人将现有内容与来源比对。",
)
HELD = {
    "end": Text(en="ends of remedies for a name: {n}", zh="参数改法的版本边界 {n}"),
    "file": Text(en="files at their tags: {n}", zh="标签处的文件 {n}"),
    "message": Text(en="printed messages: {n}", zh="所印报错 {n}"),
    "name": Text(en="arguments: {n}", zh="参数名 {n}"),
    "release": Text(en="first releases of changes: {n}", zh="改动的首发版本 {n}"),
    "source": Text(en="names in sources: {n}", zh="源码中的名称 {n}"),
}
GIVES = Text(en="Tells", zh="可得出")
WHEN = Text(en="When", zh="条件")
THEN = Text(en="Then", zh="结论")
REQUIRES = Text(en="Possible only if not false", zh="前提条件（不能为假）")
WEIGHTS = Text(en="Weights, in nats of log-odds", zh="权重（对数几率，单位 nat）")
ECHO_OF = Text(en="Only follows from", zh="只是以下现象的后果")
ECHO_AT: dict[str, Text] = {
    "after": Text(en="before it", zh="在它之前"),
    "since": Text(en="not after it", zh="不晚于它"),
}
OTHER_RANK = Text(en="on another rank", zh="在其他 rank 上")
WHERE_IT = Text(en="where {tests}", zh="且本条 {tests}")
BEHIND = Text(en="Can be behind it", zh="可能的原因")
INVERTED = Text(en="says the opposite", zh="含义相反")
ASK = Text(en="ask for", zh="询问")
ENTRIES = Text(en="{n} entries", zh="共 {n} 条")
REASON = Text(en="Reason", zh="理由")
UNIT = Text(en="unit", zh="单位")
VALUES = Text(en="values", zh="取值")
HOW_TO_TELL = Text(en="How to supply it", zh="如何提供")
STEPS = Text(en="Steps, in this order", zh="按此顺序排查")
LOOK_AT = Text(en="Test", zh="判定")
NO_ENTRY = Text(en="no entry is called {id!r}", zh="没有名为 {id!r} 的条目")
NEAREST = Text(en="did you mean: {ids}", zh="你是不是要找：{ids}")
LIST_HINT = Text(en="`diagnose kb list` shows all ids", zh="用 `diagnose kb list` 查看全部 id")
KINDS: dict[str, Text] = {
    "Cause": Text(en="cause", zh="原因"),
    "Symptom": Text(en="symptom", zh="症状"),
    "Param": Text(en="parameter", zh="参数"),
    "FactEntry": Text(en="fact", zh="事实"),
    "Rule": Text(en="rule", zh="规则"),
    "Guard": Text(en="check of a framework", zh="框架自身的检查"),
    "RangeEntry": Text(en="version range", zh="版本区间"),
    "LintRule": Text(en="lint rule", zh="lint 规则"),
    "Lever": Text(en="lever", zh="调节手段"),
    "Fix": Text(en="remedy", zh="处理办法"),
    "Protocol": Text(en="protocol", zh="排查步骤"),
    "ThreadState": Text(en="state of a thread", zh="线程状态"),
}
STATE_ROLE: dict[StateRole, Text] = {
    "waits-for-ranks": Text(
        en="it waits until other ranks come", zh="在等待其他 rank，问题在没有到的那个"
    ),
    "waits-for-other": Text(
        en="it waits for something that is no rank of the job", zh="在等待某个并非 rank 的东西"
    ),
    "works": Text(en="it computes, or does what takes its time", zh="在计算，或在做耗时的事"),
}
USUAL = Text(
    en="Each step of a healthy job comes by here: to be seen here once says nothing.",
    zh="正常任务的每个 step 都会经过这里：只看到一次说明不了什么。",
)
FRAMES = Text(en="Told by one of these frames", zh="由以下任一帧判断")
UNDER = Text(en="Further out stands", zh="外层有")
BEFORE = Text(en="Goes before", zh="优先于")
MENDS = Text(en="lint --fix mends it", zh="可用 lint --fix 修正")
HOLD_BACK = Text(en="To hold it back", zh="忽略它的写法")


def phase(name: str, lang: Lang) -> str:
    """Name a stage of the run; an unnamed one keeps its id."""
    known = PHASE.get(name)
    return name if known is None else known.in_(lang)
