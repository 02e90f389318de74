"""What the page says, in both languages."""

from __future__ import annotations

from trainrx.model.text import Text

WORDS = {
    "title": Text(en="Why did this training job fail?", zh="这个训练任务为什么失败？"),
    "lead": Text(
        en="Drop script, log, versions, a run folder or a bundle; or paste the post or the log.",
        zh="拖入启动脚本、日志、版本清单、运行目录或证据包；也可以粘贴帖子或日志。",
    ),
    "private": Text(
        en="It is answered on this machine, sent nowhere else, and deleted after an hour.",
        zh="在本机回答，不发送到别处，一小时后删除。",
    ),
    "paste": Text(en="Post, command or log", zh="帖子、命令或日志"),
    "files": Text(en="Files", zh="文件"),
    "drop": Text(
        en="Drop files or a folder here, or choose them: they are answered at once",
        zh="把文件或文件夹拖到这里，或点击选择：马上给出回答",
    ),
    "gpu": Text(en="Card", zh="显卡"),
    "gpus": Text(en="GPUs in all", zh="GPU 总数"),
    "note": Text(en="What you saw", zh="你看到的现象"),
    "ask": Text(en="Diagnose", zh="诊断"),
    "working": Text(en="Reading and weighing the evidence ...", zh="正在读取并分析证据……"),
    "failed": Text(en="No answer came:", zh="没有得到回答："),
    "too_large": Text(
        en="left out, it is too large: send the log's end, no weights",
        zh="太大，未包含：请只发送日志末尾，不要发送权重",
    ),
    "remove": Text(en="remove", zh="移除"),
    "answer": Text(en="Answer", zh="回答"),
    "questions": Text(en="To be surer", zh="进一步确认"),
    "reply": Text(en="Reply", zh="回复"),
    "yes": Text(en="yes", zh="是"),
    "no": Text(en="no", zh="否"),
    "unknown": Text(en="do not know", zh="不知道"),
    "evidence": Text(en="Evidence in your files", zh="你的文件中的证据"),
    "lines": Text(en="lines", zh="行"),
    "patch": Text(en="Patch", zh="补丁"),
    "apply": Text(
        en="Save it as fix.patch, then run beside your files:",
        zh="保存为 fix.patch，在你的文件所在目录执行：",
    ),
    "why": Text(en="Why it will do, and other ways", zh="为何可行，以及其他方案"),
    "copy": Text(en="Copy", zh="复制"),
    "copied": Text(en="Copied", zh="已复制"),
    "memory": Text(en="Memory per GPU", zh="每张 GPU 的显存"),
    "before": Text(en="before", zh="修改前"),
    "after": Text(en="after", zh="修改后"),
    "card": Text(en="the card has", zh="显卡容量"),
    "ranks": Text(en="Where the ranks stand", zh="各 rank 停在何处"),
    "others": Text(en="other", zh="其他"),
    "over": Text(en="too much by", zh="超出"),
    "free": Text(en="free", zh="剩余"),
    "stacks": Text(en="Their stacks", zh="调用栈"),
    "culprit": Text(en="the others wait for it", zh="其他 rank 在等它"),
    "waiting": Text(en="waits", zh="等待"),
    "missing": Text(en="did not come", zh="没有到达"),
    "now": Text(en="Now likeliest:", zh="现在最可能："),
    "other_questions": Text(en="Other questions that would help", zh="其他有帮助的问题"),
    "paste_here": Text(en="Paste what it printed", zh="粘贴输出内容"),
    "other": Text(en="中文", zh="English"),
}
