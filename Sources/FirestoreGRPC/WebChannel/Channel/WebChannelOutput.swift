import Concurrency

/// The arrays of a channel, `[id,[message]]`, that its client has not acknowledged.
struct WebChannelOutput {
    /// An array.
    struct OutgoingArray: Sendable {
        /// The JSON that follows the ID.
        let content: [UInt8]
        /// The memory for it.
        let reservation: MemoryBudget.Reservation?
    }

    /// The arrays behind the last acknowledged one.
    private var arrays: [OutgoingArray] = []
    private(set) var acknowledgedID = 0
    /// The last array that was sent on any back channel.
    private(set) var sentID = 0
    /// The size of the arrays.
    private(set) var byteCount = 0
    /// True if the stream waits for the client to acknowledge arrays.
    private(set) var isBlocked = false

    /// The size of the arrays at which the stream waits.
    static let maximumBytes = 1 << 20
    /// The size up to which arrays don't keep others waiting: a back channel that began with a `noop` has one.
    private static let negligibleBytes = 1 << 10
    /// The size at which a chunk ends.
    static let chunkBytes = 64 << 10

    static let noop = Array(#"["noop"]"#.utf8)
    static let stop = Array(#"["stop"]"#.utf8)

    /// The ID of the last array. Array 0 is the response to the handshake.
    var lastID: Int { acknowledgedID + arrays.count }

    /// Appends arrays, unless those before must be acknowledged first.
    mutating func append(_ newArrays: [OutgoingArray]) -> Bool {
        let newBytes = newArrays.reduce(0) { $0 + $1.byteCount }
        guard byteCount <= Self.negligibleBytes || byteCount + newBytes <= Self.maximumBytes else {
            isBlocked = true
            return false
        }
        arrays += newArrays
        byteCount += newBytes
        return true
    }

    /// Appends an array whatever the size of the others.
    mutating func append(_ content: [UInt8]) {
        let array = OutgoingArray(content: content, reservation: nil)
        arrays.append(array)
        byteCount += array.byteCount
    }

    /// Makes the stream wait for the client to acknowledge arrays, unless it has acknowledged almost all of them.
    ///
    /// - Returns: Whether it has.
    mutating func block() -> Bool {
        isBlocked = byteCount > Self.negligibleBytes
        return !isBlocked
    }

    /// Removes the arrays up to an ID, and returns them; `nil` if not all of them have been sent.
    mutating func acknowledge(_ id: Int) -> [OutgoingArray]? {
        guard id <= sentID else { return nil }
        return remove(through: id)
    }

    private mutating func remove(through id: Int) -> [OutgoingArray] {
        guard id > acknowledgedID else { return [] }
        let count = id - acknowledgedID
        let acknowledged = Array(arrays.prefix(count))
        arrays.removeFirst(count)
        acknowledgedID = id
        byteCount -= acknowledged.reduce(0) { $0 + $1.byteCount }
        isBlocked = false
        return acknowledged
    }

    /// Removes the arrays that have not been sent, and returns them.
    mutating func removeUnsent() -> [OutgoingArray] {
        let unsent = Array(arrays.suffix(lastID - sentID))
        arrays.removeLast(unsent.count)
        byteCount -= unsent.reduce(0) { $0 + $1.byteCount }
        return unsent
    }

    /// Removes and returns all arrays.
    mutating func removeAll() -> [OutgoingArray] {
        remove(through: lastID)
    }

    /// Returns a chunk to send: the arrays behind an ID, as many as belong into one chunk, and the ID of its last array.
    ///
    /// - Precondition: No array behind the ID has been acknowledged.
    mutating func nextChunk(after id: Int) -> (bytes: [UInt8], lastID: Int)? {
        guard id < lastID else { return nil }
        var json: [UInt8] = []
        var lastID = id
        for array in arrays[(id - acknowledgedID)...] {
            guard json.isEmpty || json.count + array.byteCount <= Self.chunkBytes else { break }
            lastID += 1
            json += (json.isEmpty ? "[[" : ",[").utf8
            json += "\(lastID),".utf8
            json += array.content
            json.append(UInt8(ascii: "]"))
        }
        json.append(UInt8(ascii: "]"))
        sentID = max(sentID, lastID)
        return (WebChannelChunk.make(json), lastID)
    }
}

extension WebChannelOutput.OutgoingArray {
    /// The size, with that of what belongs to each array.
    fileprivate var byteCount: Int { content.count + 64 }
}
