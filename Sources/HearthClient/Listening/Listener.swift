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
    func run(_ update: (WatchedState.Update) -> Void) async throws(FirestoreError) {
        var state = WatchedState()
        let isWanted = { !firestore.isTerminated }
        // What was written before is in the first state.
        await firestore.writes.settle()
        do throws(StatusError) {
            try await firestore.connection().follow(target, while: isWanted) { event throws(StatusError) in
                switch event {
                case .connected(let isResumed): state.connect(isResumed: isResumed)
                case .frame(let frame): if let change = try state.take(frame) { update(change) }
                case .interrupted: break
                }
            }
        } catch {
            throw FirestoreError(error)
        }
    }
}
