import StrictJSON

/// The answer to one body while its calls are executed: what it holds, and whether there is room for more.
///
/// There are two limits: how large one answer may become, and the ``AnswerBudget`` of all answers. Whatever happens, there is
/// room for a short error for each request, so that every one is answered.
struct AnswerDraft {
    private let isBatch: Bool
    private let limit: Int
    private let share: AnswerBudget.Share
    /// The room for a short error for each request.
    private let errorBytes: Int
    private var pieces: [[UInt8]] = []
    /// The length of the pieces.
    private var byteCount = 0
    /// What the responses take besides the room for short errors.
    private var responseBytes = 0
    /// How much the responses may still take of ``limit``.
    private var remainingBytes: Int
    private var hasRoom = true
    private var hasExecuted = false

    /// What the longest of this type's own errors takes, with its envelope and a comma, without the id.
    private static let shortErrorBytes = 512

    /// Begins the answer to a request or to a batch of them.
    ///
    /// - Parameter limit: How large it may become.
    init(to requests: some Sequence<JSONNode>, isBatch: Bool, limit: Int, share: AnswerBudget.Share) {
        self.isBatch = isBatch
        self.limit = limit
        self.share = share
        remainingBytes = limit
        errorBytes = requests.reduce(0) { $0 + Self.shortErrorBytes + ($1["id"]?.rawBytes.count ?? 0) }
    }

    /// Takes the room for the shortest answer; without it, nothing may be executed.
    mutating func begin() async -> Bool {
        hasRoom = await share.reserve(errorBytes)
        return hasRoom
    }

    /// Takes the room that the result of a call may well need; gives the error to answer with where the call must not be
    /// executed.
    mutating func prepare(expecting byteCount: Int) async -> RPCError? {
        guard remainingBytes > 0 else { return .responseTooLarge(limit: limit, isExecuted: false) }
        return await makeRoom(for: byteCount) ? nil : .noRoom(isExecuted: false)
    }

    /// Takes the room that a result may well need, also one that nobody is told.
    mutating func makeRoom(for byteCount: Int) async -> Bool {
        // After one call has waited in vain, those behind it need not.
        guard hasRoom else { return false }
        hasRoom = await share.reserve(byteCount)
        return hasRoom
    }

    /// Adds what came of a request, or a short error where that is too large.
    mutating func add(_ outcome: RPCOutcome, to id: ArraySlice<UInt8>?, isExecuted: Bool = false) {
        var response = outcome.response(to: id)
        if case .result = outcome, response.count > remainingBytes {
            remainingBytes = 0
            response = RPCOutcome.error(.responseTooLarge(limit: limit, isExecuted: true)).response(to: id)
        } else if keepRoom(for: response.count) {
            remainingBytes -= response.count
        } else {
            hasRoom = false
            response = RPCOutcome.error(.noRoom(isExecuted: isExecuted)).response(to: id)
        }
        if isExecuted { noteExecuted() }
        if isBatch { append([UInt8(ascii: pieces.isEmpty ? "[" : ",")]) }
        append(response)
    }

    /// Notes that a call is over, and gives back what its result did not need.
    mutating func noteExecuted() {
        hasExecuted = true
        _ = keepRoom(for: 0)
    }

    /// The reply, which has the room that it needs.
    consuming func finish() -> RPCReply {
        guard hasRoom || hasExecuted else { return .refused(.noRoom(isExecuted: false)) }
        guard !pieces.isEmpty else { return .nothing }
        if isBatch { append([UInt8(ascii: "]")]) }
        return .response(RPCAnswer(pieces, byteCount: byteCount, share: share))
    }

    /// Takes room for a response, all that was taken for what it might be included; false when there is none.
    private mutating func keepRoom(for count: Int) -> Bool {
        let bytes = responseBytes + count
        guard share.resize(to: errorBytes + bytes, answer: bytes) else { return false }
        responseBytes = bytes
        return true
    }

    /// Adds bytes: to the last piece as long as it is small, else as a piece of their own.
    private mutating func append(_ bytes: [UInt8]) {
        byteCount += bytes.count
        if let last = pieces.indices.last, pieces[last].count + bytes.count <= AnswerBudget.smallAnswerBytes {
            pieces[last] += bytes
        } else {
            pieces.append(bytes)
        }
    }
}
