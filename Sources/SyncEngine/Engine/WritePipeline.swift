/// The batches that were sent and not answered yet.
struct WritePipeline {
    private let maximumCount: Int
    private(set) var numbers: [BatchNumber] = []
    /// The number after which the next batch to send is looked for.
    private(set) var lastSent: BatchNumber = 0
    /// The batches that no attempt before the last one can have made.
    private var newBefore: Set<BatchNumber> = []
    /// The batches that no attempt can have made.
    private var new: Set<BatchNumber> = []

    init(maximumCount: Int) {
        self.maximumCount = maximumCount
    }

    /// The number of batches that may be sent now.
    var room: Int { max(maximumCount - numbers.count, 0) }

    /// The batches under way that an earlier attempt may have made.
    var doubtfulNumbers: [BatchNumber] { numbers.filter { !newBefore.contains($0) } }

    /// Returns the last number that was sent if no batch but a certain one can have been made; otherwise `nil`.
    func lastSentIfOthersUnmade(_ number: BatchNumber) -> BatchNumber? {
        numbers.allSatisfy { $0 == number || new.contains($0) } ? max(lastSent, number) : nil
    }

    /// Adds a batch that is sent.
    ///
    /// - Parameter isFirstAttempt: True if it was never sent before, also not by an earlier run.
    mutating func append(_ number: BatchNumber, isFirstAttempt: Bool) {
        numbers.append(number)
        lastSent = number
        let isNew = new.remove(number) != nil || isFirstAttempt
        if isNew { newBefore.insert(number) } else { newBefore.remove(number) }
    }

    /// Forgets the batches of a user, whose numbers are also those of others.
    mutating func forgetUser() {
        newBefore = []
        new = []
    }

    /// Records that the last attempt has not made some batches.
    mutating func recordUnmade(_ unmade: [BatchNumber]) {
        new.formUnion(newBefore.intersection(unmade))
    }

    mutating func remove(_ number: BatchNumber) {
        numbers.removeAll { $0 == number }
        lastSent = max(lastSent, number)
        new.remove(number)
        newBefore.remove(number)
    }

    /// Forgets the batches under way, and returns false if there were none.
    mutating func reset() -> Bool {
        lastSent = 0
        defer { numbers = [] }
        return !numbers.isEmpty
    }
}
