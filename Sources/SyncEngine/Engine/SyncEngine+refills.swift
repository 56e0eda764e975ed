internal import DocumentModel

// A full result of a query with a limit that loses documents needs others of the cache in their place. Many documents may have to be read
// for that, which is done in steps: until the last one no listener is called, so that all go on to show the same commit.
extension SyncEngine {
    /// The number of calls of listeners, each with its documents, that may wait for refills before these are completed at once.
    private static var maximumHeldCallCount: Int { 1_000 }

    /// True if views need a refill.
    package var needsRefills: Bool { !refills.isEmpty }

    /// Reads more documents for the view that has needed a refill for the longest time. Everything else may come between two calls.
    ///
    /// If changes have made views need another refill while others had theirs, all are completed at once, so that listeners are called
    /// however fast changes come.
    package mutating func continueRefills() -> [SyncEffect] {
        if refills.areRepeated || heldCalls.count > Self.maximumHeldCallCount {
            completeRefills()
        } else if let id = refills.first {
            continueRefill(of: id, maximumCount: maximumRefillCount)
        }
        return takeEffects()
    }

    /// Refills all views that need it, so that no call of a listener waits any longer.
    mutating func completeRefills() {
        while let id = refills.first { continueRefill(of: id, maximumCount: .max) }
    }

    private mutating func continueRefill(of id: ViewID, maximumCount: Int) {
        let isInterrupted = refills.isInterrupted(id)
        guard let outcome = refill(id, maximumCount: maximumCount) else { return }
        limbo.leave(outcome.leftLimbo, in: id)
        limbo.enter(outcome.enteredLimbo, in: id)
        finishRound(outcome.snapshot.map { [(id, $0)] } ?? [])
        raiseFirstEvents(of: [id], as: isInterrupted ? .offline : nil)
    }

    /// Makes a step of the refill of a view. Returns `nil` if it was not the last one.
    mutating func refill(_ id: ViewID, maximumCount: Int) -> View.Outcome? {
        guard let query = views[id]?.view.query, let state = refills[id] else { return nil }
        let scan: ScanID? = if case .scanning(let scan) = state { scan } else { nil }
        do throws(StatusError) {
            switch try store.run(query, usesTargetKeys: false, continuing: scan, maximumCount: maximumCount) {
            case .complete(let result):
                refills.complete(id)
                return views[id]?.refill(with: result.documents)
            case .incomplete(let scan):
                refills.record(scan, of: id)
                return nil
            }
        } catch {
            // The result stays short.
            effects.append(.reportCacheError(error))
            refills.complete(id)
            return views[id]?.refill(with: [:])
        }
    }

    /// Ends the refill of a view that is closed.
    mutating func endRefill(of id: ViewID) {
        guard let state = refills.remove(id) else { return }
        if case .scanning(let scan) = state { store.end(scan) }
        raiseHeldCalls()
    }
}
