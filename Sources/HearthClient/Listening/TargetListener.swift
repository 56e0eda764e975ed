internal import DocumentModel
internal import HearthWire

/// Listens to a watch target across reconnects, for as long as its task runs.
struct TargetListener: Sendable {
    let firestore: Firestore
    let target: WatchTarget

    /// Calls `update` with every consistent state.
    ///
    /// Returns when the task is cancelled or the database is terminated.
    ///
    /// - Throws: A permanent error.
    func run(_ update: (WatchChangeAggregator.Update) -> Void) async throws(FirestoreError) {
        var aggregator = WatchChangeAggregator()
        let isActive = { !firestore.isTerminated }
        // The first state includes all queued writes.
        await firestore.writes.waitForPending()
        do throws(StatusError) {
            try await firestore.connection().watchContinuously(target, while: isActive) { event throws(StatusError) in
                switch event {
                case .connected(let isResumed): aggregator.streamOpened(isResumed: isResumed)
                case .frame(let frame): if let change = try aggregator.add(frame) { update(change) }
                case .interrupted: break
                }
            }
        } catch {
            throw FirestoreError(error)
        }
    }
}
