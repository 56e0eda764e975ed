import FirestoreProto
import Foundation
import ServerTestSupport
import SwiftProtobuf
import TestSupport
import Testing

/// A client in the manner of the official ones: it keeps the documents of its targets, resumes them after a disconnect, and checks
/// the promises that all clients rely on.
struct ModelClient {
    private struct Target {
        var message: ProtoTarget
        var documents: Set<String> = []
        var isAcknowledged = false
        var isCurrent = false
    }

    private var listener: Listener?
    /// The messages since the last snapshot, which are lost when the stream is.
    private var unshown: [ProtoListenResponse] = []
    private var targets: [Int32: Target] = [:]
    /// The targets whose removal has not been acknowledged.
    private var removed: Set<Int32> = []
    private var contents: [String: ProtoDocument] = [:]
    private var lastReadTime = Google_Protobuf_Timestamp()
    private var lastID: Int32 = 0

    static func randomWrite(using generator: inout SeededGenerator) -> ProtoWrite {
        let path = "books/\(Int.random(in: 0..<8, using: &generator))"
        return Int.random(in: 0..<4, using: &generator) == 0
            ? .delete(path) : .set(path, ["n": ProtoValue(integerLiteral: .random(in: 0..<5, using: &generator))])
    }

    private static func randomTarget(id: Int32, using generator: inout SeededGenerator) -> ProtoTarget {
        switch Int.random(in: 0..<7, using: &generator) {
        case 0: .query(.query("books"), id: id)
        case 4: .query(.query("books") { $0.from[0].allDescendants = true }, id: id)
        case 5:
            .query(
                .query("books") {
                    $0.orderBy = [
                        .make {
                            $0.field = "n"
                            $0.direction = .descending
                        }
                    ]
                    $0.limit = .init(2)
                    $0.where = .field("n", .lessThanOrEqual, 3)
                },
                id: id
            )
        case 6: .query(.query("books") { $0.offset = 2 }, id: id)
        case 1: .query(.query("books") { $0.where = .field("n", .greaterThan, 2) }, id: id)
        case 2:
            .query(
                .query("books") {
                    $0.orderBy = [.make { $0.field = "n" }]
                    $0.limit = .init(3)
                },
                id: id
            )
        default: .documents("books/1", "books/2", id: id)
        }
    }

    mutating func addTarget(using generator: inout SeededGenerator, on connection: inout HTTP2Connection) async throws {
        lastID += 2
        let target = Self.randomTarget(id: lastID, using: &generator)
        targets[lastID] = Target(message: target)
        try await listener?.send(.adding(target), on: &connection)
    }

    mutating func removeTarget(using generator: inout SeededGenerator, on connection: inout HTTP2Connection) async throws {
        guard let id = targets.keys.sorted().randomElement(using: &generator) else { return }
        targets[id] = nil
        guard let listener else { return }
        removed.insert(id)
        try await listener.send(.removing(id), on: &connection)
    }

    /// Closes the stream, perhaps between two messages.
    mutating func disconnect(using generator: inout SeededGenerator, on connection: inout HTTP2Connection) async throws {
        if var open = listener {
            // At least three messages follow: ADD, CURRENT and NO_CHANGE.
            try await addTarget(using: &generator, on: &connection)
            for _ in 0..<Int.random(in: 0...3, using: &generator) { receive(try await open.receive(on: &connection)) }
            try await connection.send(connection.reset(open.id))
        }
        listener = nil
        unshown = []
        removed = []
        for id in targets.keys {
            targets[id]?.isCurrent = false
            targets[id]?.isAcknowledged = false
        }
    }

    /// Opens a stream if needed, receives what has been committed, and compares it with the results of the queries.
    mutating func verify(on connection: inout HTTP2Connection) async throws {
        if listener == nil {
            listener = try await connection.listen()
            for target in targets.values.sorted(by: { $0.message.targetID < $1.message.targetID }) {
                try await listener?.send(.adding(target.message), on: &connection)
            }
        }
        // A last target, which is current after all commits and all requests before it.
        lastID += 2
        let last = lastID
        targets[last] = Target(message: .documents("markers/x", id: last))
        try await connection.commit(.set("markers/x"))
        if let target = targets[last]?.message { try await listener?.send(.adding(target), on: &connection) }
        while targets[last]?.isCurrent != true {
            guard let messages = try await listener?.snapshotMessages(on: &connection) else { return }
            for message in messages { receive(message) }
        }
        #expect(removed.isEmpty)
        targets[last] = nil
        removed.insert(last)
        try await listener?.send(.removing(last), on: &connection)
        for target in targets.values {
            let expected = try await Self.result(of: target.message, on: &connection)
            #expect(target.isCurrent)
            #expect(target.documents == Set(expected.keys))
            for (name, document) in expected { #expect(contents[name] == document) }
        }
    }

    private static func result(
        of target: ProtoTarget,
        on connection: inout HTTP2Connection
    ) async throws -> [String: ProtoDocument] {
        var documents: [ProtoDocument] = []
        if case .query(let query)? = target.targetType {
            let run = ProtoRunQueryRequest.run(query.structuredQuery)
            documents = try await connection.firestore("RunQuery", run, returning: ProtoRunQueryResponse.self)
                .filter(\.hasDocument).map(\.document)
        } else {
            let get = ProtoBatchGetDocumentsRequest.make {
                $0.database = databaseName
                $0.documents = target.documents.documents
            }
            documents = try await connection.firestore(
                "BatchGetDocuments",
                get,
                returning: ProtoBatchGetDocumentsResponse.self
            ).filter { !$0.found.name.isEmpty }.map(\.found)
        }
        return Dictionary(uniqueKeysWithValues: documents.map { ($0.name, $0) })
    }

    private mutating func receive(_ message: ProtoListenResponse) {
        unshown.append(message)
        guard message.isSnapshot else { return }
        for message in unshown { show(message) }
        unshown = []
    }

    private mutating func show(_ message: ProtoListenResponse) {
        switch message.responseType {
        case .targetChange(let change)?: show(change)
        case .documentChange(let change)?:
            contents[change.document.name] = change.document
            for id in change.targetIds { targets[id]?.documents.insert(change.document.name) }
            for id in change.removedTargetIds { targets[id]?.documents.remove(change.document.name) }
        case .documentDelete(let deletion)?:
            contents[deletion.document] = nil
            for id in deletion.removedTargetIds { targets[id]?.documents.remove(deletion.document) }
        case .documentRemove?, .filter?, nil:
            Issue.record("Unexpected message: \(message.summary)")
        }
    }

    private mutating func show(_ change: ProtoTargetChange) {
        switch change.targetChangeType {
        case .add:
            #expect(change.targetIds.count == 1)
            for id in change.targetIds where !removed.contains(id) {
                #expect(targets[id]?.isAcknowledged == false)
                targets[id]?.isAcknowledged = true
            }
        case .remove:
            #expect(change.targetIds.count == 1 && !change.hasCause)
            for id in change.targetIds { #expect(removed.remove(id) != nil) }
        case .current:
            for id in change.targetIds { targets[id]?.isCurrent = true }
            keepToken(of: change, in: change.targetIds)
        case .reset:
            for id in change.targetIds { targets[id]?.documents = [] }
        case .noChange:
            let time = change.readTime
            #expect((time.seconds, time.nanos) >= (lastReadTime.seconds, lastReadTime.nanos))
            lastReadTime = time
            // Clients keep it for all targets that have been acknowledged, current or not.
            keepToken(of: change, in: targets.filter(\.value.isAcknowledged).map(\.key))
        case .UNRECOGNIZED:
            Issue.record("Unexpected change")
        }
    }

    private mutating func keepToken(of change: ProtoTargetChange, in ids: [Int32]) {
        guard !change.resumeToken.isEmpty else { return }
        for id in ids { targets[id]?.message.resumeToken = change.resumeToken }
    }
}
