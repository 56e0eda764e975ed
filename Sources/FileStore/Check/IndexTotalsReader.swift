internal import Dispatch
internal import DocumentIndex
internal import Synchronization

/// A read of the index's tables as a whole, on its own thread, while the documents are read.
final class IndexTotalsReader: Sendable {
    private let totals = Mutex<IndexCheck.Totals?>(nil)
    private let isReady = DispatchSemaphore(value: 0)

    /// Starts reading.
    init(_ index: IndexCheck) {
        DispatchQueue(label: "hearth.check.index").async {
            let result = index.readTotals()
            self.totals.withLock { $0 = result }
            self.isReady.signal()
        }
    }

    /// Waits for the totals, and calls `onWaiting` every second.
    func wait(onWaiting: () -> Void) -> IndexCheck.Totals? {
        while isReady.wait(timeout: .now() + .seconds(1)) == .timedOut { onWaiting() }
        return totals.withLock { $0 }
    }
}
