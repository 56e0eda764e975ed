internal import DocumentModel

/// Follows a target for as long as its task runs, over as many streams as it takes.
struct Listener: Sendable {
    let firestore: Firestore
    let target: WatchTarget

    /// Hands over every state, one after the other.
    ///
    /// It returns when its task is cancelled or the database is terminated.
    ///
    /// - Throws: What keeps the target from being followed for good.
    func run(_ update: (WatchedState.Update) -> Void) async throws(StatusError) {
        var state = WatchedState()
        var delay = RetryDelay()
        while !Task.isCancelled, !firestore.isTerminated {
            do throws(StatusError) {
                let frames = try await firestore.connection().watch(target, resume: state.token)
                state.connect()
                for try await frame in frames {
                    if Task.isCancelled { return }
                    if ![.open, .end, .error].contains(frame.kind) { delay.reset() }
                    if let change = try state.take(frame) { update(change) }
                }
            } catch {
                if Task.isCancelled || firestore.isTerminated { return }
                guard error.isTransient else { throw error }
            }
            // An interrupted sleep is noticed by the loop.
            try? await Task.sleep(for: delay.take())
        }
    }
}
