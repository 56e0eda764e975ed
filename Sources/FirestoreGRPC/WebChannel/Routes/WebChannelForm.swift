import Concurrency
import DocumentModel
import HTTPTypes
import HearthHTTP
import HummingbirdCore
import NIOCore

/// The form of a request, read as it arrives, with memory for each value from the budget of request bodies.
struct WebChannelForm {
    /// An item of the form.
    enum Item {
        case headers([UInt8])
        case message(WebChannelInput.Message, id: Int)
    }

    private var parts: RequestBody.AsyncIterator
    private var reader: WebChannelFormReader
    private let budget: MemoryBudget
    /// The memory for the value being read.
    private var reservation: MemoryBudget.Reservation
    /// The memory for the header block.
    private var headersReservation: MemoryBudget.Reservation?
    private var hasEnded = false

    /// The maximum length of a message.
    var maximumMessageBytes: Int {
        get { reader.maximumMessageBytes }
        set { reader.maximumMessageBytes = newValue }
    }

    init(of request: Request, maximumMessageBytes: Int, budget: MemoryBudget) {
        parts = request.body.makeAsyncIterator()
        reader = WebChannelFormReader(maximumMessageBytes: maximumMessageBytes)
        self.budget = budget
        reservation = MemoryBudget.Reservation(of: budget)
    }

    /// Returns the next item; `nil` at the end.
    ///
    /// - Throws: ``HTTPFailure``: 400 for a malformed form, 413 for one that is too large, 503 without memory.
    mutating func next() async throws -> Item? {
        while !hasEnded {
            if let item = try read({ reader throws(StatusError) in try reader.next() }) { return item }
            if let part = try await parts.next() {
                reader.append(Array(part.readableBytesView))
            } else {
                hasEnded = true
                return try read { reader throws(StatusError) in try reader.finish() }
            }
        }
        return nil
    }

    private mutating func read(
        _ next: (inout WebChannelFormReader) throws(StatusError) -> WebChannelFormReader.Item?
    ) throws(HTTPFailure) -> Item? {
        let item: WebChannelFormReader.Item?
        do throws(StatusError) {
            item = try next(&reader)
        } catch {
            throw HTTPFailure(error.code == .resourceExhausted ? .contentTooLarge : .badRequest, error.code, error.message)
        }
        switch item {
        case .headers(let block):
            try reserve(block.count)
            headersReservation = reservation
            reservation = MemoryBudget.Reservation(of: budget)
            return .headers(block)
        case .message(let json, let id):
            try reserve(json?.count ?? 0)
            defer { reservation = MemoryBudget.Reservation(of: budget) }
            return .message(WebChannelInput.Message(json: json, reservation: reservation), id: id)
        case nil:
            try reserve(reader.bufferedBytes)
            return nil
        }
    }

    private func reserve(_ count: Int) throws(HTTPFailure) {
        guard reservation.resize(to: count, usedBytes: count) else {
            throw HTTPFailure(
                .serviceUnavailable,
                .resourceExhausted,
                "The memory limit for requests is exhausted by others. Retry shortly."
            )
        }
    }
}
