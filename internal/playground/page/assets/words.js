// The words of the page. What a run says of itself is English in both languages.

const words = {
  en: {
    other: "中文", title: "locksim: the playground",
    loading: "loading the simulator", compiling: "compiling the simulator", starting: "starting the simulator", failed: "The simulator could not be started",
    locks: "locks", specimens: "wrong on purpose", ttl: "TTL of the lease", hold: "Work under the lock", latency: "Latency of the network, up to",
    mode: "Run", seeds: "seeds", fault: "Fault", played: "Played here in", copied: "copied", of: "of", noCurve: "No mode of this run ended with harm.", drawing: "continuations",
    line: "line", save: "Save the scenario first:", label: "ended", runs: "runs",
  },
  zh: {
    other: "English", title: "locksim：演练场",
    skip: "跳到结果", playground: "演练场", motto: "真实的锁代码在模拟的世界里运行，全部在这一页之内",
    loading: "正在加载模拟器", compiling: "正在编译模拟器", starting: "正在启动模拟器", failed: "模拟器无法启动",
    choose: "选择", story: "故事", lock: "锁", fence: "存储端的 fence", seed: "种子", another: "换一个", reset: "重新开始", outcome: "结果",
    jump: "跳到出错的那一刻", whole: "整次运行", legend: "图例", point: "把指针移到图上的任何东西，或在图中按 . 键，查看详情。", step: "逐步经过",
    file: "场景文件，可以修改", many: "换成其他种子呢？", manyWhy: "一次运行说明它可能发生。其他种子抽到的延迟不同：它多久发生一次？", runSeeds: "运行 500 个种子", stop: "停止",
    cause: "从哪一步起不可避免？", causeWhy: "把这次运行重放到其中若干步，从那里起换用其他延迟继续。", runCurve: "画出曲线", take: "带走它",
    link: "指向当前页面状态的链接：", copy: "复制", command: "在 locksim 的克隆中重现这次运行的命令：", hashes: "每次运行的哈希，在任何机器上都相同：",
    limits: "一次没有违反承诺的运行，对其他运行什么也没有证明。这里的 Redis 是真实服务器的模型，并与真实服务器对照测试。",
    locks: "锁", specimens: "故意写错的锁", ttl: "租约的 TTL", hold: "持锁工作的时长", latency: "网络延迟的上限",
    mode: "运行", seeds: "个种子", fault: "故障", played: "在此页运行用时", copied: "已复制", of: "/", noCurve: "这次运行的任何模式都没有造成破坏。", drawing: "次延续",
    line: "第", save: "先保存场景文件：", label: "结局", runs: "次",
  },
};
