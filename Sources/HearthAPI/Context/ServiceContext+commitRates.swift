import DocumentStore

extension ServiceContext {
    /// Samples the commit rates of all open databases at each interval, until the task is cancelled.
    package func runCommitRateSampling() async {
        repeat { await sampleCommitRates(at: .now) } while (try? await Task.sleep(for: CommitRates.interval)) != nil
    }

    /// Samples the commit rates of all open databases. The receiver must be the system context.
    package func sampleCommitRates(at time: ContinuousClock.Instant) async {
        commitRates.recordSample(store.position.lastSequence, at: time)
        await databases?.sampleCommitRates(at: time)
    }
}
