import Concurrency
import DocumentModel
import HTTPTypes
import HearthHTTP
import HummingbirdCore
import JSONRPC
import NIOCore

extension Response {
    /// Creates the HTTP response of a Firestore call. The messages of a long stream are encoded as fast as the client reads them.
    ///
    /// - Parameters:
    ///   - isOfWrite: True for the response to a write, which is sent even without memory for it.
    ///   - reservation: The memory reserved for the response.
    ///   - eventLoop: The event loop of the connection.
    init(
        _ response: FirestoreResponse,
        isOfWrite: Bool,
        within reservation: MemoryBudget.Reservation,
        on eventLoop: any EventLoop
    ) throws {
        switch response.content {
        case .message(let json):
            if isOfWrite { reservation.resizeRegardlessOfLimit(to: json.count) }
            try self.init(json, within: reservation, on: eventLoop)
        case .stream(let stream) where stream.estimatedBytes <= RPCResponseBody.smallResponseBytes:
            var json: [UInt8] = []
            for index in 0..<stream.count { try stream.append(index, to: &json) }
            json += FirestoreMessageStream.end
            try self.init(json, within: reservation, on: eventLoop)
        case .stream(let stream):
            guard reservation.resize(to: stream.estimatedBytes, usedBytes: stream.estimatedBytes) else {
                throw HTTPFailure.responseMemoryExhausted(isExecuted: true)
            }
            self.init(
                status: .ok,
                headers: [.contentType: "application/json"],
                body: ResponseBody { writer in
                    // Held until all messages have been encoded.
                    defer { withExtendedLifetime(reservation) {} }
                    try await stream.write(to: &writer, on: eventLoop)
                }
            )
        }
        if response.damagedCount > 0 { headers[.hearthDamagedDocuments] = "\(response.damagedCount)" }
    }
}

extension Response {
    /// Creates a response with an encoded body.
    private init(_ json: [UInt8], within reservation: MemoryBudget.Reservation, on eventLoop: any EventLoop) throws(HTTPFailure) {
        guard reservation.resize(to: json.count, usedBytes: json.count) else {
            throw .responseMemoryExhausted(isExecuted: true)
        }
        self.init(RPCResponseBody([json], byteCount: json.count, reservation: reservation), on: eventLoop)
    }
}

extension FirestoreMessageStream {
    /// The end of the array. No newline follows, because some clients parse it as the start of another array.
    fileprivate static let end = Array("\n]".utf8)

    /// Appends a message with its separator.
    fileprivate func append(_ index: Int, to bytes: inout [UInt8]) throws(StatusError) {
        let message = try message(index)
        bytes += (index == 0 ? "[" : ",\n").utf8
        bytes += message
    }

    /// Writes all messages and ends the response. If encoding a message fails, an error object takes its place
    /// and ends the array.
    fileprivate func write(to writer: inout any ResponseBodyWriter, on eventLoop: any EventLoop) async throws {
        var chunk: [UInt8] = []
        for index in 0..<count {
            do throws(StatusError) {
                try append(index, to: &chunk)
            } catch {
                chunk += (index == 0 ? "[" : ",\n").utf8
                chunk += HTTPFailure(firestore: error).firestoreJSON(wrapsInArray: false)
                break
            }
            if chunk.count >= chunkBytes {
                try await writer.write(chunk, on: eventLoop)
                chunk = []
            }
        }
        try await writer.write(chunk + Self.end, on: eventLoop)
        try await writer.finish(nil)
    }
}
