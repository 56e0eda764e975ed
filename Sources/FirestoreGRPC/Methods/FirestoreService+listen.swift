import Concurrency
import DocumentModel
import FirestoreAPI
import FirestoreMessages
import FirestoreProto
import Foundation
import HearthAPI
import HearthHTTP
import SwiftProtobuf
import UTF8Text

// The stream by which clients listen to documents and queries.
extension FirestoreService {
    /// `Listen`: each request adds or removes a target.
    ///
    /// - Parameter documents: The encoded documents that all listeners share.
    static func listen(sharing documents: EncodedDocumentCache) -> StreamMethod<ProtoListenRequest, ListenResponse> {
        StreamMethod(requiredPermission: .readDocuments) { requests, responses, context in
            guard let first = try await requests.next() else { return }
            let database = try StatusError.locating(in: "database") { () throws(StatusError) in
                try DatabaseName(first.database)
            }
            let session = ListenSession(in: try await context.inDatabase(database.id))
            let live = responses.live
            var item = StreamInbox.Item.request(first)
            while true {
                let messages: [ListenMessage]
                switch item {
                case .request(let request): messages = try session.respond(to: request, in: database)
                case .nothing:
                    var unsent: [ListenMessage] = []
                    if let live, session.canWaitLive {
                        unsent = await deliverLive(
                            session,
                            in: database,
                            sharing: documents,
                            to: live,
                            orUntil: requests.setWaiter
                        )
                    }
                    messages = unsent.isEmpty ? try await session.nextForClient(orUntil: requests.setWaiter) : unsent
                case .end: return
                }
                try await write(ListenResponse.responses(to: messages, in: database, sharing: documents), to: &responses)
                item = try requests.take()
            }
        }
    }

    /// Sends the messages of new commits on an event loop while the session's task waits; see
    /// ``HearthHTTP/WatchStreamService/deliverLive(_:to:on:orUntil:)``.
    private static nonisolated(nonsending) func deliverLive(
        _ session: ListenSession,
        in database: DatabaseName,
        sharing documents: EncodedDocumentCache,
        to responses: some LiveStreamWriter<ListenResponse>,
        orUntil setWaiter: (Waiter) -> Void
    ) async -> [ListenMessage] {
        let writer = ListenMessageWriter(responses, database: database, documents: documents)
        return await responses.streams.deliverLive(session, to: writer, on: responses.eventLoop, orUntil: setWaiter)
    }

    /// Writes messages, some at a time, so that no more of them are encoded than the client reads.
    private static func write(
        _ messages: [ListenResponse],
        to responses: inout any StreamWriter<ListenResponse>
    ) async throws {
        var (start, byteCount) = (0, 0)
        for (index, response) in messages.enumerated() {
            if case .changed(let document, _, _) = response.message { byteCount += document.fieldsJSON.count }
            guard byteCount > maximumWrittenBytes || index - start + 1 == maximumWrittenCount else { continue }
            try await responses.write(messages[start...index])
            (start, byteCount) = (index + 1, 0)
        }
        if start < messages.count { try await responses.write(messages[start...]) }
    }

    /// The size of the documents, and the number of messages, that are encoded at a time.
    private static let (maximumWrittenBytes, maximumWrittenCount) = (32 << 10, 256)
}

/// Writes the messages of a session as responses.
private struct ListenMessageWriter<Responses: LiveStreamWriter<ListenResponse>>: LiveMessageWriter {
    let responses: Responses
    let database: DatabaseName
    let documents: EncodedDocumentCache
    let encoding: UTF8Key

    init(_ responses: Responses, database: DatabaseName, documents: EncodedDocumentCache) {
        self.responses = responses
        self.database = database
        self.documents = documents
        encoding = UTF8Key("\(Responses.encoding) \(database.text)")
    }

    func encode(_ messages: [ListenMessage]) throws(StatusError) -> Responses.Content {
        try responses.encode(ListenResponse.responses(to: messages, in: database, sharing: documents))
    }

    func writeIfWritable(_ content: Responses.Content) -> Bool {
        responses.writeIfWritable(content)
    }
}

extension ListenResponse {
    /// Returns the responses for messages.
    fileprivate static func responses(
        to messages: [ListenMessage],
        in database: DatabaseName,
        sharing documents: EncodedDocumentCache
    ) -> [ListenResponse] {
        messages.compactMap { ListenResponse(message: $0, database: database, documents: documents) }
    }
}

extension ListenSession {
    /// Returns the next messages.
    ///
    /// - Throws: ``StatusCode/unavailable`` for a deleted database as well: it exists again for the next stream, which clients open.
    fileprivate nonisolated(nonsending) func nextForClient(
        orUntil setWaiter: (Waiter) -> Void
    ) async throws(StatusError) -> [ListenMessage] {
        do throws(StatusError) {
            return try await next(orUntil: setWaiter)
        } catch  where error.code == .notFound {
            throw StatusError(.unavailable, error.message, cause: error)
        }
    }

    /// Adds or removes the target of a request.
    fileprivate func respond(
        to request: ProtoListenRequest,
        in database: DatabaseName
    ) throws(StatusError) -> [ListenMessage] {
        guard request.database.utf8.isEmpty || request.database.utf8.elementsEqual(database.text.utf8) else {
            throw StatusError(.invalidArgument, "The stream is for the database \(database.text); use another for others.")
        }
        switch request.targetChange {
        case .addTarget(let message)?:
            guard !hasTarget(message.targetID) else { throw .duplicateTarget(message.targetID) }
            let target: ListenTarget
            do throws(StatusError) {
                target = try ListenTarget(message, in: database)
            } catch {
                // The other targets of the stream are not affected.
                return [.removed(target: message.targetID, cause: error)]
            }
            return try add(target)
        case .removeTarget(let id)?:
            return remove(id)
        case nil:
            throw .missing("addTarget or removeTarget")
        }
    }
}

extension ListenTarget {
    /// Decodes a target.
    fileprivate init(_ message: ProtoTarget, in database: DatabaseName) throws(StatusError) {
        let resume: Resume? =
            switch message.resumeType {
            case .resumeToken(let token)?: token.isEmpty ? nil : .token(ResumeToken(bytes: Array(token)))
            case .readTime(let time)?: .time(try Timestamp(readTime: time))
            case nil: nil
            }
        self.init(
            id: message.targetID,
            try StatusError.locating(in: "addTarget") { () throws(StatusError) in try Source(message.targetType, in: database) },
            resume: resume,
            expectedCount: resume != nil && message.hasExpectedCount ? Int(message.expectedCount.value) : nil,
            isRemovedWhenCurrent: message.once
        )
    }
}

extension ListenTarget.Source {
    fileprivate init(_ target: ProtoTarget.OneOf_TargetType?, in database: DatabaseName) throws(StatusError) {
        switch target {
        case .query(let message)?:
            let parent = try StatusError.locating(in: "query.parent") { () throws(StatusError) in
                let parent = try ResourceName(message.parent)
                guard parent.database == database else {
                    throw StatusError(.invalidArgument, "Expected a parent in \(database.text), the database of the stream.")
                }
                return parent
            }
            guard case .structuredQuery(let query)? = message.queryType else { throw .missing("query.structuredQuery") }
            self = .query(
                try StatusError.locating(in: "query") { () throws(StatusError) in
                    let query = try StructuredQuery(inRequest: query, below: parent)
                    return try StatusError.locating(in: "structuredQuery") { () throws(StatusError) in
                        try PreparedWatchQuery(
                            listener: NormalizedQuery(firestore: query),
                            text: message.encoded()
                        )
                    }
                }
            )
        case .documents(let message)?:
            guard !message.documents.isEmpty else { throw .missing("documents.documents") }
            self = .documents(
                try StatusError.locating(elementsOf: message.documents, in: "documents.documents") { name throws(StatusError) in
                    try database.document(named: name)
                }
            )
        case nil:
            throw .missing("query or documents")
        }
    }
}
