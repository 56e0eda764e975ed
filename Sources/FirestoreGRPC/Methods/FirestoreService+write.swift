import DocumentModel
import DocumentStore
import FirestoreAPI
import FirestoreMessages
import FirestoreProto
import Foundation
import HearthAPI
import SwiftProtobuf

// The stream by which mobile and web clients write.
extension FirestoreService {
    /// `Write`: each request is one commit, answered in order.
    ///
    /// A failed commit ends the stream, and nothing behind it is applied: the client decides by the status which commits it sends
    /// again on its next stream.
    static let write = StreamMethod(requiredPermission: CommitRequest.requiredPermission, execute: runWrite)

    @Sendable
    private static func runWrite(
        _ requests: StreamInbox<ProtoWriteRequest>,
        _ responses: inout any StreamWriter<ProtoWriteResponse>,
        _ context: ServiceContext
    ) async throws {
        guard let handshake = try await requests.next() else { return }
        let database = try handshake.writeStreamDatabase()
        let context = try await context.inDatabase(database.id)
        var tokens = WriteStreamTokens()
        var response = ProtoWriteResponse()
        response.streamID = UUID().uuidString
        response.streamToken = tokens.next()
        try await responses.write([response])
        while let request = try await requests.next() {
            try request.requireWriteStream(of: database)
            var response = ProtoWriteResponse()
            // A client says goodbye with a request without writes.
            if !request.writes.isEmpty {
                try context.authorize(CommitRequest.requiredPermission)
                let result = try await CommitRequest(request.writes.decoded(in: database), in: nil).respond(in: context)
                response.writeResults = result.writeResults.map { ProtoWriteResult($0, in: database) }
                response.commitTime = Google_Protobuf_Timestamp(result.commitTime)
            }
            response.streamToken = tokens.next()
            try await responses.write([response])
        }
    }
}

/// The tokens of a write stream's responses. Clients return them; the tokens of requests in flight lag behind, so they are not
/// compared.
private struct WriteStreamTokens {
    private var count: UInt64 = 0

    mutating func next() -> Data {
        count += 1
        return withUnsafeBytes(of: count.bigEndian) { Data($0) }
    }
}

extension ProtoWriteRequest {
    /// Returns the database of a stream that begins with this request.
    fileprivate func writeStreamDatabase() throws(StatusError) -> DatabaseName {
        guard streamID.utf8.isEmpty else {
            throw StatusError(.invalidArgument, "Write streams cannot be resumed. Begin a new one, without a stream ID.")
        }
        guard writes.isEmpty else {
            throw StatusError(.invalidArgument, "Expected only a database in the first request of a write stream, found writes.")
        }
        return try StatusError.locating(in: "database") { () throws(StatusError) in try DatabaseName(database) }
    }

    /// Requires that this request continues a stream of writes to a database.
    fileprivate func requireWriteStream(of expected: DatabaseName) throws(StatusError) {
        guard streamID.utf8.isEmpty else {
            throw StatusError(.invalidArgument, "Expected no stream ID after the first request of a write stream.")
        }
        guard database.utf8.isEmpty || database.utf8.elementsEqual(expected.text.utf8) else {
            throw StatusError(.invalidArgument, "The stream is for the database \(expected.text); use another for others.")
        }
    }
}
