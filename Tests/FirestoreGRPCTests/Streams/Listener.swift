import FirestoreProto
import Foundation
import ServerTestSupport
import SwiftProtobuf

typealias Listener = OpenStream<ProtoListenRequest, ProtoListenResponse>

extension HTTP2Connection {
    /// Opens a `Listen` stream with targets.
    mutating func listen(
        to targets: ProtoTarget...,
        in database: String = databaseName,
        headers fields: [(String, String)] = []
    ) async throws -> Listener {
        let listener = try await open("Listen", ProtoListenRequest.self, ProtoListenResponse.self, fields)
        for target in targets { try await listener.send(.adding(target, in: database), on: &self) }
        return listener
    }

    /// Commits writes.
    mutating func commit(_ writes: ProtoWrite...) async throws {
        try await commit(writes)
    }

    mutating func commit(_ writes: [ProtoWrite]) async throws {
        let request = ProtoCommitRequest.make {
            $0.database = databaseName
            $0.writes = writes
        }
        let response = try await firestore("Commit", request)
        guard response.isOK else { throw UnexpectedStatus(response) }
    }
}

extension OpenStream where Request == ProtoListenRequest, Response == ProtoListenResponse {
    /// Receives messages up to the next snapshot that shows something. A slow test also gets heartbeats.
    mutating func snapshot(on connection: inout HTTP2Connection) async throws -> [String] {
        try await snapshotMessages(on: &connection).map(\.summary)
    }

    mutating func snapshotMessages(on connection: inout HTTP2Connection) async throws -> [ProtoListenResponse] {
        while true {
            let messages = try await receive(on: &connection, until: \.isSnapshot)
            if messages.count > 1 { return messages }
        }
    }

    /// Receives messages up to one with this summary.
    mutating func messages(on connection: inout HTTP2Connection, upTo last: String) async throws -> [String] {
        try await receive(on: &connection) { $0.summary == last }.map(\.summary)
    }
}

extension ProtoListenRequest {
    static func adding(_ target: ProtoTarget, in database: String = databaseName) -> ProtoListenRequest {
        .make {
            $0.database = database
            $0.addTarget = target
        }
    }

    static func removing(_ id: Int32) -> ProtoListenRequest {
        .make {
            $0.database = databaseName
            $0.removeTarget = id
        }
    }
}

extension ProtoTarget {
    static func documents(_ paths: String..., id: Int32) -> ProtoTarget {
        .make {
            $0.targetID = id
            $0.documents.documents = paths.map(resourceName)
        }
    }

    static func query(_ query: ProtoStructuredQuery, below parent: String = "", id: Int32) -> ProtoTarget {
        .make {
            $0.targetID = id
            $0.query.parent = resourceName(parent)
            $0.query.structuredQuery = query
        }
    }

    /// Returns the target with the state after a message.
    func resumed(after message: ProtoListenResponse?, count: Int32? = nil) -> ProtoTarget {
        var target = self
        target.resumeToken = message?.targetChange.resumeToken ?? .init()
        if let count { target.expectedCount = .init(count) }
        return target
    }
}

extension ProtoListenResponse {
    /// True for the message after which clients show what they have received.
    var isSnapshot: Bool {
        targetChange.targetChangeType == .noChange && targetChange.targetIds.isEmpty && targetChange.hasReadTime
            && documentPath == nil
    }

    /// The document of the message.
    private var documentPath: String? {
        switch responseType {
        case .documentChange(let change)?: change.document.name
        case .documentDelete(let deletion)?: deletion.document
        default: nil
        }
    }

    /// The message in short, such as `add 2`, `books/a in 2, not in 4`, `books/a deleted from 2`, `current 2` and `snapshot`.
    var summary: String {
        let path = documentPath.map { String($0.dropFirst(resourceName("").count + 1)) } ?? ""
        switch responseType {
        case .targetChange(let change)?:
            let ids = change.targetIds.map { " \($0)" }.joined()
            let cause = change.hasCause ? " because of \(change.cause.code)" : ""
            return isSnapshot ? "snapshot" : "\(change.targetChangeType)\(ids)\(cause)"
        case .documentChange(let change)?:
            let targets = change.targetIds.sorted().map { " \($0)" }.joined()
            let removed = change.removedTargetIds.sorted().map { " \($0)" }.joined()
            return [path, targets.isEmpty ? "" : " in\(targets)", removed.isEmpty ? "" : " not in\(removed)"].joined()
        case .documentDelete(let deletion)?:
            return "\(path) deleted from" + deletion.removedTargetIds.sorted().map { " \($0)" }.joined()
        case .documentRemove?: return "\(path) removed"
        case .filter(let filter)?: return "filter \(filter.targetID) count \(filter.count)"
        case nil: return "nothing"
        }
    }
}
