import Concurrency
import StrictJSON
import UTF8Text

/// A builder of the response to a request or batch that enforces the memory limits while the calls are executed.
///
/// Two limits apply: the maximum size of one response, and the ``MemoryBudget`` of all responses. Memory for a short error per
/// request is reserved up front, so that every request gets a response.
struct ResponseBuilder {
    private let isBatch: Bool
    private let limit: Int
    private let reservation: MemoryBudget.Reservation
    /// The bytes reserved for a short error per request.
    private let errorBytes: Int
    private var chunks: [[UInt8]] = []
    /// The total length of ``chunks``.
    private var byteCount = 0
    /// The bytes of responses, in addition to ``errorBytes``.
    private var responseBytes = 0
    /// The bytes left until ``limit``.
    private var remainingBytes: Int
    private var isMemoryAvailable = true
    private var hasExecutedCalls = false

    /// The length of the longest error that this type produces, including the envelope and a comma but not the ID.
    private static let shortErrorBytes = 512

    /// Creates a builder.
    ///
    /// - Parameter limit: The maximum size of the response.
    init(for requests: some Sequence<JSONNode>, isBatch: Bool, limit: Int, reservation: MemoryBudget.Reservation) {
        self.isBatch = isBatch
        self.limit = limit
        self.reservation = reservation
        remainingBytes = limit
        errorBytes = requests.reduce(0) { $0 + Self.shortErrorBytes + ($1["id"]?.rawBytes.count ?? 0) }
    }

    /// Reserves memory for an error per request. When it returns `false`, nothing may be executed.
    mutating func reserveErrorBytes() async -> Bool {
        isMemoryAvailable = await reservation.reserve(errorBytes)
        return isMemoryAvailable
    }

    /// Reserves the expected size of a call's result. Returns an error when the call must not be executed.
    mutating func prepareCall(expectedBytes: Int) async -> RPCError? {
        guard remainingBytes > 0 else { return .responseTooLarge(limit: limit, isExecuted: false) }
        return await reserve(expectedBytes) ? nil : .responseMemoryExhausted(isExecuted: false)
    }

    /// Reserves the expected size of a result, even for a notification, whose result is discarded.
    mutating func reserve(_ byteCount: Int) async -> Bool {
        // After one call has timed out waiting, later calls of the batch don't wait again.
        guard isMemoryAvailable else { return false }
        isMemoryAvailable = await reservation.reserve(byteCount)
        return isMemoryAvailable
    }

    /// Appends the response to a request, or a short error when the response is too large.
    mutating func append(_ outcome: RPCOutcome, id: ArraySlice<UInt8>?, isExecuted: Bool = false) {
        var response = outcome.response(id: id)
        if case .result = outcome, response.count > remainingBytes {
            remainingBytes = 0
            response = RPCOutcome.error(.responseTooLarge(limit: limit, isExecuted: true)).response(id: id)
        } else if resizeReservation(addingResponseBytes: response.count) {
            remainingBytes -= response.count
        } else {
            isMemoryAvailable = false
            response = RPCOutcome.error(.responseMemoryExhausted(isExecuted: isExecuted)).response(id: id)
        }
        if isExecuted { finishCall() }
        if isBatch { append([UInt8(ascii: chunks.isEmpty ? "[" : ",")]) }
        append(response)
    }

    /// Records that a call has been executed, and releases the memory that its result did not need.
    mutating func finishCall() {
        hasExecutedCalls = true
        _ = resizeReservation(addingResponseBytes: 0)
    }

    /// Returns the reply, which owns the memory reservation.
    consuming func finish() -> RPCReply {
        guard isMemoryAvailable || hasExecutedCalls else { return .rejected(.responseMemoryExhausted(isExecuted: false)) }
        guard !chunks.isEmpty else { return .noContent }
        if isBatch { append([UInt8(ascii: "]")]) }
        return .response(RPCResponseBody(chunks, byteCount: byteCount, reservation: reservation))
    }

    /// Resizes the reservation to the responses so far and one more, dropping what was reserved for an expected result. Returns
    /// `false` if no memory is available.
    private mutating func resizeReservation(addingResponseBytes count: Int) -> Bool {
        let bytes = responseBytes + count
        guard reservation.resize(to: errorBytes + bytes, usedBytes: bytes) else { return false }
        responseBytes = bytes
        return true
    }

    /// Appends bytes to the last chunk while it stays small, otherwise as a new chunk.
    private mutating func append(_ bytes: [UInt8]) {
        byteCount += bytes.count
        if let last = chunks.indices.last, chunks[last].count + bytes.count <= RPCResponseBody.smallResponseBytes {
            chunks[last] += bytes
        } else {
            chunks.append(bytes)
        }
    }
}
