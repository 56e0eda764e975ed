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
            let listener = Listener(requests, responses, sharing: documents)
            guard try await listener.open(in: context) else { return }
            try await listener.run()
        }
    }
}

/// A stream of `Listen`: its session, and what moves between it and its client. Used by one task at a time.
///
/// Most of the time it waits for commits, whose messages are sent without its task. All else is done by separate tasks: a task keeps the
/// stack memory of its deepest call, and the stream's task lives as long as the stream.
private final class Listener {
    private let requests: StreamInbox<ProtoListenRequest>
    private var responses: any StreamWriter<ListenResponse>
    private let live: (any LiveStreamWriter<ListenResponse>)?
    private let documents: EncodedDocumentCache
    private var target: (database: DatabaseName, session: ListenSession)?
    /// Messages that could not be sent without the task.
    private var unsent: [ListenMessage] = []

    init(
        _ requests: StreamInbox<ProtoListenRequest>,
        _ responses: any StreamWriter<ListenResponse>,
        sharing documents: EncodedDocumentCache
    ) {
        self.requests = requests
        self.responses = responses
        self.documents = documents
        live = responses.live
    }

    /// Waits for the first request, and opens the session in its database. Returns false if there is no request.
    func open(in context: ServiceContext) async throws -> Bool {
        try await inSeparateTask { listener in
            guard let first = try await listener.requests.next() else { return false }
            let database = try StatusError.locating(in: "database") { () throws(StatusError) in
                try DatabaseName(first.database)
            }
            let session = ListenSession(in: try await context.inDatabase(database.id))
            listener.target = (database, session)
            try await listener.write(try session.respond(to: first, in: database))
            return true
        }
    }

    /// Listens until the client ends the stream.
    func run() async throws {
        while try await inSeparateTask({ try await $0.continueUntilLive() }) {
            if let live { await waitLive(live) }
        }
    }

    /// Performs a part of the stream's work in a task of its own.
    @inline(never)
    private func inSeparateTask(_ body: @escaping @Sendable (Listener) async throws -> Bool) async throws -> Bool {
        // Safe: this task waits for the other, so only one task uses the listener at a time.
        nonisolated(unsafe) let listener = self
        return try await withTaskGroup(of: Result<Bool, any Error>.self) { group in
            group.addTask {
                do {
                    return .success(try await body(listener))
                } catch {
                    return .failure(error)
                }
            }
            return await group.next() ?? .success(false)
        }.get()
    }

    /// Processes requests and sends messages until the session waits for a commit. Returns false at the end of the stream.
    private func continueUntilLive() async throws -> Bool {
        guard let (database, session) = target else { return false }
        // Otherwise the wait has ended for a reason that the session knows, such as a heartbeat.
        var hasContinued = !unsent.isEmpty
        try await write(unsent)
        unsent = []
        while true {
            switch try requests.take() {
            case .request(let request): try await write(try session.respond(to: request, in: database))
            case .nothing where hasContinued && live != nil && session.canWaitLive: return true
            case .nothing: try await write(try await session.nextForClient(orUntil: requests.setWaiter))
            case .end: return false
            }
            hasContinued = true
        }
    }

    /// Waits while the messages of new commits are sent on an event loop; see
    /// ``HearthHTTP/WatchStreamService/deliverLive(_:to:on:orUntil:)``.
    @inline(never)
    private func waitLive(_ live: some LiveStreamWriter<ListenResponse>) async {
        guard let (database, session) = target else { return }
        let writer = ListenMessageWriter(live, database: database, documents: documents)
        unsent = await live.streams.deliverLive(session, to: writer, on: live.eventLoop, orUntil: requests.setWaiter)
    }

    /// Writes messages, some at a time, so that no more of them are encoded than the client reads.
    private func write(_ messages: [ListenMessage]) async throws {
        guard let (database, _) = target, !messages.isEmpty else { return }
        let messages = ListenResponse.responses(to: messages, in: database, sharing: documents)
        var (start, byteCount) = (0, 0)
        for (index, response) in messages.enumerated() {
            if case .changed(let document, _, _) = response.message { byteCount += document.fieldsJSON.count }
            guard byteCount > Self.maximumWrittenBytes || index - start + 1 == Self.maximumWrittenCount else { continue }
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
    /// Returns the responses for messages. Documents of commits are shared, as many as the cache holds. Those of a large part of an
    /// initial state are not: they would displace all others.
    static func responses(
        to messages: [ListenMessage],
        in database: DatabaseName,
        sharing documents: EncodedDocumentCache
    ) -> [ListenResponse] {
        let isShared = messages.count <= EncodedDocumentCache.maximumCount / 4 || messages.areOfCommits
        let sharedCount = isShared ? EncodedDocumentCache.maximumCount : 0
        return messages.enumerated().compactMap { index, message in
            ListenResponse(message: message, database: database, documents: index < sharedCount ? documents : nil)
        }
    }
}

extension [ListenMessage] {
    /// True if the messages end a commit, and are no part of the state of a target that has been added.
    fileprivate var areOfCommits: Bool {
        guard case .snapshot? = last else { return false }
        return !contains { if case .current = $0 { true } else { false } }
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
    init(_ message: ProtoTarget, in database: DatabaseName) throws(StatusError) {
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
            isRemovedWhenCurrent: message.once,
            byteCount: try message.encoded().count
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
