"""What the site says around the entries, English beside Chinese."""

from __future__ import annotations

from trainrx.model.text import Text

HOME = Text(en="Start", zh="首页")
ESTIMATE = Text(en="GPU memory", zh="显存估算")
SEARCH = Text(en="Search", zh="搜索")
SEEN = Text(en="What do you see?", zh="遇到了什么问题")
HANGS = Text(en="My job hangs", zh="训练卡住")
OUT_OF_MEMORY = Text(en="Out of memory", zh="显存不足")
NAN_LOSS = Text(en="The loss is NaN", zh="loss 变成 NaN")
SLOW = Text(en="It is slow", zh="训练太慢")
USING = Text(en="Using it", zh="使用")
INSTALL = Text(en="Install", zh="安装")
LINT = Text(en="Check a launch", zh="检查启动命令")
LINT_RULES = Text(en="Rules of lint", zh="检查规则")
FIX = Text(en="Change a launch, proved", zh="验证过的修改")
CONSULTATION = Text(en="One question at a time", zh="一次只问一个问题")
TRANSLATE = Text(en="To another version", zh="改写到另一版本")
EDITOR = Text(en="In an editor", zh="在编辑器中")
BOTS = Text(en="In a chat: bots", zh="在聊天里：机器人")
AGENTS = Text(en="For agents", zh="供智能体使用")
GITHUB = Text(en="Issues on GitHub", zh="GitHub 上的 issue")
SERVICE = Text(en="A service for a team", zh="团队服务")
FLEET = Text(en="Many jobs: fleet", zh="大量任务：fleet")
RUN = Text(en="Started under watch: run", zh="在看护下启动：run")
SERIES = Text(en="Memory and speed over time", zh="显存与速度的走势")
COLLECT = Text(en="While it hangs: collect", zh="任务卡住时：采集证据")
FAMILIES = Text(en="By failure", zh="按故障")
FRAMEWORKS = Text(en="By framework", zh="按框架")
LISTS = Text(en="All entries", zh="全部条目")
COVERAGE = Text(en="Coverage", zh="覆盖情况")
OTHER_LANGUAGE = Text(en="中文", zh="English")
KIND: dict[str, Text] = {
    "causes": Text(en="Causes", zh="原因"),
    "symptoms": Text(en="Symptoms", zh="症状"),
    "guards": Text(en="Checks of frameworks", zh="框架自身的检查"),
    "ranges": Text(en="Version ranges", zh="版本区间"),
    "rules": Text(en="Rules", zh="规则"),
    "params": Text(en="Parameters", zh="参数"),
    "facts": Text(en="Facts", zh="事实"),
}
ROLE: dict[str, Text] = {
    "failure": Text(en="Failures", zh="故障"),
    "echo": Text(en="Consequences of other failures", zh="其他故障的后果"),
    "observation": Text(en="Words of users (--note)", zh="用户的描述（--note）"),
    "context": Text(en="How the job was set up", zh="任务配置情况"),
    "phase": Text(en="Stages of a run", zh="训练阶段"),
    "frame": Text(en="Places in a traceback", zh="traceback 位置"),
    "success": Text(en="The end of a run", zh="训练结束"),
}
STAGE: dict[str, Text] = {
    "derive": Text(en="Derive a fact", zh="推出事实"),
    "suggest": Text(en="Vote for a cause", zh="支持或反对某个原因"),
    "explain": Text(en="Say what follows from what", zh="说明先后因果"),
}
ID = Text(en="id", zh="id")
NAME = Text(en="name", zh="名称")
TITLE = Text(en="what it is", zh="说明")
FRAMEWORK = Text(en="framework", zh="框架")
VERSIONS = Text(en="versions", zh="版本")
WRITTEN = Text(en="written", zh="写法")
DEFAULT = Text(en="default", zh="默认值")
VALUES = Text(en="values", zh="取值")
LINE = Text(en="a line that shows it", zh="典型日志")
FAMILY = Text(en="failure", zh="故障")
COUNT = Text(en="count", zh="数量")
SEVERAL = Text(en="any", zh="任意")
ANY_VERSION = Text(en="all", zh="全部")
CHANGED_BY = Text(en="Changed by the fixes of", zh="以下原因的改法会修改它")
TESTED_BY = Text(en="Tested by", zh="以下条目会用到它")
ALSO_IN = Text(en="Rules that speak of it", zh="相关规则")
CHECKS = Text(en="Checks of frameworks that show it", zh="指向它的框架检查")
RANGES = Text(en="Releases that show it", zh="指向它的版本")
PRIOR = Text(en="Prior {prior:g}", zh="先验概率 {prior:g}")
PRESENT_VALUE = Text(en="present value", zh="当前值")
REFUSED = Text(en="Launches it objects to", zh="会被拒绝的启动命令")
ACCEPTED = Text(en="The same put right", zh="改正后的写法")
LOOKED = Text(en="read {date}", zh="{date} 核对")
SECOND_HAND = Text(en="second hand", zh="转引，未核对")
NO_ENTRIES = Text(en="Nothing here yet.", zh="暂无条目。")
ONLY_OF = Text(en="Causes of this framework alone", zh="该框架特有的原因")
PARAMETERS = Text(en="Its parameters", zh="参数写法")
COVERAGE_LEAD = Text(
    en="What the knowledge base holds, counted from the entries themselves (knowledge {digest}).",
    zh="以下数字直接由条目统计得出（知识库 {digest}）。",
)
TESTED = Text(en="with tests", zh="有测试")
TEST_CASES = Text(en="test cases", zh="测试用例")
BACKED = Text(en="backed by recorded runs", zh="有真实运行记录佐证")
REFERENCES = Text(en="References", zh="参考来源")
REF_CHECKED = Text(en="opened and compared", zh="已打开核对")
TOTAL = Text(en="all", zh="合计")
SAMPLES = Text(en="sample lines", zh="日志样本")
