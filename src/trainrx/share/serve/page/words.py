"""What the page says, in both languages."""

from __future__ import annotations

from trainrx.model.text import Text

WORDS = {
    "title": Text(en="Why did this training job fail?", zh="这个训练任务为什么失败？"),
    "lead": Text(
        en="Paste the post or the log, or drop files: launch script, log, versions, a bundle.",
        zh="粘贴帖子或日志，或拖入文件：启动脚本、日志、版本清单、证据包。",
    ),
    "private": Text(
        en="It is answered on this machine. Nothing is sent elsewhere, nothing is stored.",
        zh="在本机回答，不发送到别处，也不保存。",
    ),
    "paste": Text(en="Post, command or log", zh="帖子、命令或日志"),
    "files": Text(en="Files", zh="文件"),
    "drop": Text(en="Drop files here, or choose them", zh="把文件拖到这里，或点击选择"),
    "gpu": Text(en="Card", zh="显卡"),
    "gpus": Text(en="GPUs in all", zh="GPU 总数"),
    "note": Text(en="What you saw", zh="您看到的现象"),
    "ask": Text(en="Diagnose", zh="诊断"),
    "working": Text(en="Reading and weighing the evidence ...", zh="正在读取并权衡证据……"),
    "failed": Text(en="No answer came:", zh="没有得到回答："),
    "answer": Text(en="Answer", zh="回答"),
    "questions": Text(en="Questions", zh="追问"),
    "reply": Text(en="Reply", zh="回复"),
    "yes": Text(en="yes", zh="是"),
    "no": Text(en="no", zh="否"),
    "unknown": Text(en="do not know", zh="不知道"),
    "evidence": Text(en="Evidence in your files", zh="您的文件中的证据"),
    "patch": Text(en="Patch", zh="补丁"),
    "copy": Text(en="Copy", zh="复制"),
    "copied": Text(en="Copied", zh="已复制"),
    "memory": Text(en="Memory per GPU", zh="每张 GPU 的显存"),
    "before": Text(en="before", zh="修改前"),
    "after": Text(en="after", zh="修改后"),
    "card": Text(en="card", zh="显卡容量"),
    "ranks": Text(en="Where the ranks stand", zh="各 rank 停在何处"),
    "other": Text(en="中文", zh="English"),
    "line": Text(en="line", zh="行"),
}
