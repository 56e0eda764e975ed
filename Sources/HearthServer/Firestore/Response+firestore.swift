import DocumentModel
import FirestoreREST
import HTTPTypes
import Hummingbird
import JSONRPC
import NIOCore

extension Response {
    /// The response with an answer of Firestore's interface. A long list of messages is made as the client takes it.
    ///
    /// - Parameters:
    ///   - share: The room that was taken for the answer.
    ///   - eventLoop: The one of the connection.
    init(_ answer: FirestoreAnswer, within share: AnswerBudget.Share, on eventLoop: any EventLoop) throws {
        switch answer.content {
        case .message(let json):
            try self.init(json, within: share, on: eventLoop)
        case .stream(let stream) where stream.heldBytes <= AnswerBudget.smallAnswerBytes:
            var json: [UInt8] = []
            for index in 0..<stream.count { try stream.append(index, to: &json) }
            json += FirestoreStream.end
            try self.init(json, within: share, on: eventLoop)
        case .stream(let stream):
            guard share.resize(to: stream.heldBytes, answer: stream.heldBytes) else { throw HTTPFailure.noRoom(isExecuted: true) }
            self.init(
                status: .ok,
                headers: [.contentType: "application/json"],
                body: ResponseBody { writer in
                    // Kept until everything has been made.
                    defer { withExtendedLifetime(share) {} }
                    try await stream.write(to: &writer, on: eventLoop)
                }
            )
        }
        if answer.damagedCount > 0 { headers[.hearthDamagedDocuments] = "\(answer.damagedCount)" }
    }
}

extension Response {
    /// The response with JSON that has been made, which is passed on as answers to calls are.
    private init(_ json: [UInt8], within share: AnswerBudget.Share, on eventLoop: any EventLoop) throws(HTTPFailure) {
        guard share.resize(to: json.count, answer: json.count) else { throw .noRoom(isExecuted: true) }
        self.init(RPCAnswer([json], byteCount: json.count, share: share), on: eventLoop)
    }
}

extension FirestoreStream {
    /// Nothing is behind the bracket: some clients take even a line's end there for something of another list.
    fileprivate static let end = Array("\n]".utf8)

    /// Adds a message with what stands before it in the list.
    fileprivate func append(_ index: Int, to bytes: inout [UInt8]) throws(StatusError) {
        let message = try message(index)
        bytes += (index == 0 ? "[" : ",\n").utf8
        bytes += message
    }

    /// Writes the list, and ends the response. A message that can't be made is told of in its place, and is the last one.
    fileprivate func write(to writer: inout any ResponseBodyWriter, on eventLoop: any EventLoop) async throws {
        var chunk: [UInt8] = []
        for index in 0..<count {
            do throws(StatusError) {
                try append(index, to: &chunk)
            } catch {
                chunk += (index == 0 ? "[" : ",\n").utf8
                chunk += HTTPFailure(firestore: error).firestoreJSON(inStream: false)
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
