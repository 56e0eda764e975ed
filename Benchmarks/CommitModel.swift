/// A model of the commits to one database in an engine: the transactions of all servers follow one another, and each takes a fixed time and
/// a time for each of its commits.
struct CommitModel {
    /// The fixed time of a transaction in milliseconds: two round trips and a sync.
    let fixed: Double
    /// The additional time for each commit in milliseconds.
    let each: Double

    /// Fits the model to two workloads of one server.
    ///
    /// - Parameters:
    ///   - alone: Commits of one caller, each in a transaction of its own.
    ///   - grouped: Commits of many callers.
    ///   - batch: The commits in a transaction of those.
    init(alone: Measurement, grouped: Measurement, batch: Double) {
        let (single, group) = (1_000 / alone.rate, 1_000 * batch / grouped.rate)
        each = max(0, (group - single) / max(1, batch - 1))
        fixed = max(0, single - each)
    }

    /// The time from a call to its answer in milliseconds, when callers on all servers always wait for one: each server has its turn.
    func latency(servers: Int, batch: Double) -> Double { Double(servers) * (fixed + batch * each) }
}
