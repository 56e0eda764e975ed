internal import Dispatch
internal import DocumentIndex
internal import DocumentModel
internal import Synchronization

/// The threads that compare batches of document files; the results are returned in the order of the batches.
///
/// Batches are assigned to the threads in turn. There are more threads than processors, since they wait for the disk. The pool is
/// used by one thread, which blocks while all others are busy.
struct DocumentCheckPool {
    /// The number of threads.
    static let threadCount = 8
    /// The maximum number of batches whose results have not been returned.
    private static let maximumPendingCount = 4 * threadCount

    private final class Lane: Sendable {
        let queue: DispatchQueue
        /// Used only by jobs on the queue.
        let comparison: Mutex<DocumentComparison>

        init(_ comparison: sending DocumentComparison, number: Int) {
            queue = DispatchQueue(label: "hearth.check.documents.\(number)")
            self.comparison = Mutex(comparison)
        }
    }

    private final class PendingResult: Sendable {
        private let result = Mutex<DocumentComparison.Result?>(nil)
        private let isReady = DispatchSemaphore(value: 0)

        func set(_ value: DocumentComparison.Result) {
            result.withLock { $0 = value }
            isReady.signal()
        }

        func wait() -> DocumentComparison.Result? {
            isReady.wait()
            return result.withLock { $0 }
        }
    }

    private let lanes: [Lane]
    private var pending: [PendingResult] = []
    private var nextLane = 0

    /// Creates the threads.
    ///
    /// - Parameters:
    ///   - index: The check of the index, of which each thread gets a part; `nil` without an index.
    ///   - digest: The rows of the index; `nil` without an index.
    init(_ context: DocumentComparison.Context, _ index: IndexCheck?, _ digest: IndexDigest?) throws(StatusError) {
        var lanes: [Lane] = []
        for number in 0..<Self.threadCount {
            let part: IndexCheck? = if let index, let digest { try index.makePart(digest) } else { nil }
            lanes.append(Lane(DocumentComparison(context, part), number: number))
        }
        self.lanes = lanes
    }

    /// Adds a batch; returns the result of the oldest one if there are many.
    mutating func add(_ batch: DocumentComparison.Batch) -> DocumentComparison.Result? {
        let (lane, result) = (lanes[nextLane], PendingResult())
        nextLane = (nextLane + 1) % lanes.count
        lane.queue.async {
            result.set(lane.comparison.withLock { $0.run(batch) })
        }
        pending.append(result)
        return pending.count > Self.maximumPendingCount ? next() : nil
    }

    /// Waits for the result of the oldest batch; `nil` if there is none.
    mutating func next() -> DocumentComparison.Result? {
        pending.isEmpty ? nil : pending.removeFirst().wait()
    }

    /// Merges the threads' parts into the check of the index, after all batches.
    func merge(into index: inout IndexCheck) {
        for lane in lanes {
            lane.comparison.withLock { comparison in
                if let part = comparison.index { index.merge(part) }
            }
        }
    }
}
