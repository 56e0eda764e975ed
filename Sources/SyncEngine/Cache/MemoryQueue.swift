internal import DocumentModel

/// A user's queue and overlays in memory.
struct MemoryQueue {
    private(set) var state = QueueState()
    var overlays: [DocumentPath: Overlay] = [:]
    private(set) var rejected: [RejectedBatch] = []
    private var batches: [MutationBatch] = []
    private var numbers: [DocumentPath: Set<BatchNumber>] = [:]

    /// The documents that the batches write.
    var paths: Set<DocumentPath> { Set(numbers.keys) }

    var isEmpty: Bool { batches.isEmpty }

    func writes(_ path: DocumentPath) -> Bool {
        numbers[path] != nil
    }

    mutating func append(
        _ writes: [Write],
        baseValues: [MutationBatch.BaseValue],
        at localTime: Timestamp
    ) -> MutationBatch {
        state.lastNumber += 1
        let batch = MutationBatch(number: state.lastNumber, localTime: localTime, writes: writes, baseValues: baseValues)
        batches.append(batch)
        state.byteCount += batch.byteCount
        for path in batch.paths { numbers[path, default: []].insert(batch.number) }
        return batch
    }

    func batch(_ number: BatchNumber) -> MutationBatch? {
        index(of: number).map { batches[$0] }
    }

    func batch(after number: BatchNumber) -> MutationBatch? {
        let index = firstIndex(after: number)
        return index < batches.count ? batches[index] : nil
    }

    func batches(affecting paths: Set<DocumentPath>) -> [MutationBatch] {
        var found: Set<BatchNumber> = []
        for path in paths {
            if let affecting = numbers[path] { found.formUnion(affecting) }
        }
        return found.sorted().compactMap { batch($0) }
    }

    mutating func remove(_ number: BatchNumber) {
        guard let index = index(of: number) else { return }
        let batch = batches.remove(at: index)
        for path in batch.paths {
            numbers[path]?.remove(number)
            if numbers[path]?.isEmpty == true { numbers[path] = nil }
        }
        state.decidedNumber = max(state.decidedNumber, number)
        state.byteCount -= batch.byteCount
    }

    mutating func recordSent(through number: BatchNumber) {
        state.sentNumber = max(state.sentNumber, number)
    }

    mutating func save(_ identity: QueueIdentity) {
        state.identity = identity
    }

    mutating func append(_ batch: RejectedBatch) {
        rejected.append(batch)
        rejected.removeFirst(max(rejected.count - RejectedBatch.maximumCount, 0))
    }

    mutating func removeRejected(_ number: BatchNumber) {
        rejected.removeAll { $0.number == number }
    }

    private func index(of number: BatchNumber) -> Int? {
        let index = firstIndex(after: number) - 1
        return index >= 0 && batches[index].number == number ? index : nil
    }

    /// Returns the index of the first batch with a greater number.
    private func firstIndex(after number: BatchNumber) -> Int {
        var low = 0
        var high = batches.count
        while low < high {
            let middle = (low + high) / 2
            if batches[middle].number <= number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
