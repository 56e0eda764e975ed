import Concurrency

/// The messages of a client that its stream has not taken yet: those in order, and those behind a gap.
///
/// A client numbers its messages and may send them in several requests at once, and again if it gets no response.
struct WebChannelInput {
    /// A message.
    struct Message: Sendable {
        /// The JSON; `nil` for a number to be skipped.
        let json: [UInt8]?
        /// The memory for it.
        let reservation: MemoryBudget.Reservation?
    }

    /// The outcome of receiving a message.
    enum Outcome: Hashable {
        case accepted
        /// It has been received before.
        case known
        /// There is space for it once the stream has taken others.
        case mustWait
        /// There is no space for it.
        case full
    }

    /// The number of the next message in order.
    private(set) var nextID = 0
    private var queue: ArraySlice<Message> = []
    private var messagesAfterGap: [Int: Message] = [:]
    private var byteCount = 0

    static let maximumCount = 1_000
    static let maximumBytes = 16 << 20

    /// Receives a message. Message number 0 is the first one.
    mutating func receive(_ message: Message, id: Int) -> Outcome {
        guard id >= nextID, messagesAfterGap[id] == nil else { return .known }
        let hasSpace =
            queue.count + messagesAfterGap.count < Self.maximumCount && byteCount + message.byteCount <= Self.maximumBytes
        guard hasSpace || queue.isEmpty && id == nextID else { return queue.isEmpty ? .full : .mustWait }
        byteCount += message.byteCount
        messagesAfterGap[id] = message
        while let next = messagesAfterGap.removeValue(forKey: nextID) {
            queue.append(next)
            nextID += 1
        }
        return .accepted
    }

    /// True if there is a message in order.
    var hasNext: Bool { !queue.isEmpty }

    /// True if messages wait for one that has not arrived.
    var hasGap: Bool { !messagesAfterGap.isEmpty }

    /// Takes the next message in order.
    mutating func next() -> Message? {
        guard let message = queue.popFirst() else { return nil }
        // A slice retains the elements that were removed from it.
        if queue.isEmpty { queue = [] }
        byteCount -= message.byteCount
        return message
    }

    /// Removes and returns all messages.
    mutating func removeAll() -> [Message] {
        defer {
            queue = []
            messagesAfterGap = [:]
            byteCount = 0
        }
        return Array(queue) + messagesAfterGap.values
    }
}

extension WebChannelInput.Message {
    fileprivate var byteCount: Int { json?.count ?? 0 }
}
