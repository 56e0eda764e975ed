import DocumentModel
import FirestoreProto
import HearthHTTP
import ServerTestSupport
import SwiftProtobuf
import Testing
import UTF8Text

/// Messages of new commits, which are sent on the event loops and shared by the listeners of equal targets.
@Suite("Listen delivery", .timeLimit(.minutes(10)))
struct ListenDeliveryTests {
    private static let count: Int64 = 100

    /// The targets of listeners; several have the same ones.
    private static func targets(of listener: Int) -> [ProtoTarget] {
        let books = ProtoTarget.query(.query("books"), id: 2)
        let numbered = ProtoTarget.query(.query("books") { $0.where = .field("n", .greaterThanOrEqual, 0) }, id: 2)
        return switch listener % 4 {
        case 0, 1: [books]
        case 2: [numbered]
        default: [books, .documents("other/x", id: 4)]
        }
    }

    @Test
    func `Listeners, opened while documents are written, receive each commit once and in order`() async throws {
        try await withServer { server in
            try await withThrowingTaskGroup { group in
                group.addTask {
                    for number in 0..<Self.count {
                        try await server.set("books/\(number)", ["n": .integer(number)])
                        try await server.set("other/x", ["n": .integer(number)])
                    }
                    try await server.set("books/last", ["n": .integer(Self.count)])
                }
                for _ in 0..<3 {
                    group.addTask {
                        try await withHTTP2Connection(to: server) { connection in
                            var listeners: [Listener] = []
                            for number in 0..<8 {
                                var listener = try await connection.open(
                                    "Listen",
                                    ProtoListenRequest.self,
                                    ProtoListenResponse.self
                                )
                                for target in Self.targets(of: number) {
                                    try await listener.send(.adding(target), on: &connection)
                                }
                                _ = try await listener.receive(on: &connection)
                                listeners.append(listener)
                            }
                            for var listener in listeners {
                                let messages = try await listener.messages(on: &connection)
                                Self.check(messages)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test
    func `A listener that does not read gets all commits later, and others are not kept waiting`() async throws {
        // Longer than the commits take on a slow machine.
        try await withServer(.standard.with(\.stallTimeout, .seconds(600))) { server in
            try await withHTTP2Connection(to: server, initialWindow: 64 << 10) { connection in
                var slow = try await connection.listen(to: .query(.query("books"), id: 2))
                _ = try await slow.snapshot(on: &connection)
                var other = try await connection.listen(to: .query(.query("books"), id: 2))
                _ = try await other.snapshot(on: &connection)
                connection.unreadStreams = [slow.id]
                let text = ProtoValue(stringLiteral: String(repeating: "x", count: 8_000))
                for number in 0..<Self.count { try await connection.commit(.set("books/\(number)", ["text": text])) }
                try await connection.commit(.set("books/last"))
                for var listener in [other, slow] {
                    if listener.id == slow.id {
                        connection.unreadStreams = []
                        try await connection.extendWindow(of: slow.id, by: 1 << 20)
                    }
                    Self.check(try await listener.messages(on: &connection))
                }
            }
        }
    }

    /// Checks that each document of a listener has been received once, and that the times of its snapshots increase.
    private static func check(_ messages: [ProtoListenResponse]) {
        let names = messages.map(\.documentChange.document.name).filter { $0.contains("/books/") }
        #expect(names.count == Int(count) + 1)
        #expect(Set(names).count == names.count)
        let times = messages.filter { $0.isSnapshot }.map(\.targetChange.readTime)
        #expect(
            zip(times, times.dropFirst()).allSatisfy { earlier, later in
                (earlier.seconds, earlier.nanos) <= (later.seconds, later.nanos)
            }
        )
    }
}

extension OpenStream where Request == ProtoListenRequest, Response == ProtoListenResponse {
    /// Receives messages up to the snapshot with the last document.
    fileprivate mutating func messages(on connection: inout HTTP2Connection) async throws -> [ProtoListenResponse] {
        var messages = try await receive(on: &connection) { $0.documentChange.document.name.hasSuffix("/books/last") }
        messages += try await receive(on: &connection, until: \.isSnapshot)
        return messages
    }
}
