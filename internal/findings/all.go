package findings

// The beginnings of addresses.
const (
	redsync   = "https://github.com/go-redsync/redsync/"
	redislock = "https://github.com/bsm/redislock/"
	rueidis   = "https://github.com/redis/rueidis/"
	etcd      = "https://github.com/etcd-io/etcd/"
	gocron    = "https://github.com/go-co-op/gocron/"
	kube      = "https://github.com/kubernetes/kubernetes/"
	river     = "https://github.com/riverqueue/river/"
)

// all are the published threads by library, and then the findings of our own. As threads stood in November 2026, in the
// copies that could be read.
var all = []Finding{
	{ID: "redsync-38", Class: Bug, State: Mended, Thread: redsync + "pull/38"},
	{ID: "redsync-61", Class: Bug, State: Mended, Thread: redsync + "pull/61"},
	{ID: "redsync-68", Class: Bug, State: Mended, Thread: redsync + "pull/68"},
	{ID: "redsync-71", Class: Bug, State: Mended, Thread: redsync + "pull/71"},
	{ID: "redsync-timeout", Class: Bug, State: Mended, Thread: redsync + "pull/80"},
	{ID: "redsync-140", Class: Request, State: Closed, Thread: redsync + "issues/140",
		Note: "WithFailFast of #133 is for that, and is not the default"},
	{ID: "redsync-151", Class: Bug, State: Mended, Thread: redsync + "issues/151"},
	{ID: "redsync-156", Class: Bug, State: Mended, Thread: redsync + "pull/156"},
	{ID: "redsync-164", Class: Declined, State: Closed, Thread: redsync + "issues/164", Note: "wontfix"},

	{ID: "redislock-58", Class: Bug, State: Mended, Thread: redislock + "pull/58"},
	{ID: "redislock-64", Class: Bug, State: Mended, Thread: redislock + "pull/64"},
	{ID: "redislock-71", Class: Bug, State: Mended, Thread: redislock + "pull/71"},
	{ID: "redislock-79", Class: Bug, State: Mended, Thread: redislock + "issues/79"},

	{ID: "rueidislock-301", Class: Bug, State: Mended, Thread: rueidis + "pull/301"},
	{ID: "rueidislock-923", Class: Bug, State: Mended, Thread: rueidis + "issues/923"},

	{ID: "pglock-40", Class: Bug, State: Mended, Thread: "https://github.com/cirello-io/pglock/issues/40"},

	{ID: "etcd-11007", Class: Bug, State: Stale, Thread: etcd + "issues/11007"},
	{ID: "etcd-11456", Class: Bug, State: Mended, Thread: etcd + "issues/11456"},
	{ID: "etcd-16221", Class: Bug, State: Closed, Thread: etcd + "issues/16221"},
	{ID: "etcd-19597", Class: Request, State: Open, Thread: etcd + "issues/19597",
		Note: "labelled type/feature; #22387 would do it"},
	{ID: "etcd-21128", Class: Bug, State: Open, Thread: etcd + "issues/21128", Note: "labelled stale"},
	{ID: "etcd-22123", Class: Bug, State: Open, Thread: etcd + "issues/22123",
		Note: "#22124, #22211 and #22437 would mend it"},

	{ID: "zk-229", Class: Bug, State: Left, Thread: "https://github.com/samuel/go-zookeeper/issues/229"},
	{ID: "libkv-156", Class: Bug, State: Left, Thread: "https://github.com/docker/libkv/pull/156"},
	{ID: "migrate-296", Class: Bug, State: Left, Thread: "https://github.com/mattes/migrate/issues/296",
		Note: "its successor golang-migrate keeps one connection"},
	{ID: "bun-crash", Class: Bug, State: Closed, Thread: "https://github.com/superseriousbusiness/gotosocial/issues/930",
		Note: "of an application that uses bun, which has the same lock today"},
	{ID: "gozero-1704", Class: Bug, State: Mended, Thread: "https://github.com/zeromicro/go-zero/pull/1704"},
	{ID: "gocron-799", Class: Request, State: Closed, Thread: gocron + "issues/799",
		Note: "gocron-redis-lock extends its lock since #107"},
	{ID: "gocron-841", Class: Bug, State: Closed, Thread: gocron + "issues/841",
		Note: "the documentation says it since v2.16.2"},

	{ID: "river-197", Class: Bug, State: Mended, Thread: river + "issues/197"},
	{ID: "river-217", Class: Bug, State: Mended, Thread: river + "pull/217", Note: "and #219"},
	{ID: "river-1213", Class: Bug, State: Mended, Thread: river + "pull/1213"},

	{ID: "kube-80954", Class: Bug, State: Mended, Thread: kube + "pull/80954"},
	{ID: "kube-124588", Class: Bug, State: Mended, Thread: kube + "issues/124588"},
	{ID: "kube-131867", Class: Bug, State: Mended, Thread: kube + "issues/131867"},
	{ID: "kube-137988", Class: Bug, State: Mended, Thread: kube + "pull/137988"},
	{ID: "consul-4935", Class: Bug, State: Closed, Thread: "https://github.com/hashicorp/consul/pull/4935",
		Note: "labelled docs; #5686 asks for the sentence"},
	{ID: "consul-18271", Class: Bug, State: Open, Thread: "https://github.com/hashicorp/consul/issues/18271"},

	{ID: "blnk-354", Class: InHouse, State: Mended, Thread: "https://github.com/blnkfinance/blnk/issues/354"},
	{ID: "ncps-913", Class: InHouse, State: Mended, Thread: "https://github.com/kalbasit/ncps/pull/913"},

	{ID: "redsync-late", Class: Own, State: Open, Library: "redsync", Version: "v4.18.1"},
	{ID: "redislock-prefix", Class: Own, State: Open, Library: "redislock", Version: "v0.10.0"},
	{ID: "redislock-token", Class: Own, State: Open, Library: "redislock", Version: "v0.10.0",
		Known: "a question of documentation: is a token unique for a client, or for a lock?"},
	{ID: "gozero-late", Class: Own, State: Open, Library: "go-zero", Version: "v1.10.3",
		Known: "not known; that an object can acquire again is known (#4319)"},
	{ID: "rueidislock-clock", Class: Own, State: Open, Library: "rueidis, valkey-go", Version: "v1.0.79",
		Known: "not known; the README names `PXAT`, and no clocks"},
	{ID: "etcd-void", Class: Own, State: Open, Library: "etcd client", Version: "v3.7.3",
		Known: "of `Mutex` not known; of `Campaign` known since 2019 (#11007); near #11456, #19597 and the pull request " +
			"#22387"},
	{ID: "pglock-power", Class: Own, State: Open, Library: "pglock", Version: "v1.13.0",
		Known: "not known; a setting of the server prevents it, so perhaps documentation only"},
	{ID: "goose-power", Class: Own, State: Open, Library: "goose", Version: "v3.30.1",
		Known: "not known; it came with #1075; a setting of the server prevents it"},
	{ID: "kube-successor-released", Class: Own, State: Open, Library: "client-go", Version: "v0.37.2, since v0.34.0",
		Known: "not known; it came with #132849 and #137988"},
	{ID: "kube-told-late", Class: Own, State: Open, Library: "client-go", Version: "v0.37.2",
		Known: "not known as such; near #124588, and #139504 would mend it"},
	{ID: "gocron-extend", Class: Own, State: Open, Library: "gocron-redis-lock", Version: "v2.2.1",
		Known: "not known; near #54, #107 and #136, and #799 of gocron"},
	{ID: "zk-void", Class: Own, State: Open, Library: "go-zookeeper/zk", Version: "v1.0.4"},
	{ID: "consul-lockindex", Class: Own, State: Open, Library: "Consul", Version: "v1.14.11",
		Known: "not known; the documentation of sessions says that `LockIndex` is incremented with each acquisition"},
}
