import DocumentModel
import DocumentStore
import Foundation
import HearthAPI
import JSONRPC
import Logging
import QueryEngine
import StrictJSON
import Synchronization
import Testing
import UTF8Text

@testable import DocumentIndex
@testable import FileStore

@Suite("Call deadline")
struct QueryDeadlineTests {
    /// A method that scans the index in an endless loop and counts the scans.
    private enum EndlessScan: RPCMethod {
        static let name: UTF8Key = "test.scan"
        static let summary = "Scans the index in an endless loop."
        static let requiredPermission = Permission.reader
        static let parameters: [any ParameterDescription] = []
        static let result = ResultDescription("nothing", .boolean, "Never returned.")
        static let rounds = Mutex(0)

        static func params(from arguments: Arguments) throws {}

        static func call(_ params: Void, in context: ServiceContext) async throws(StatusError) {
            guard let store = context.store as? FileStore else { throw StatusError(.internal, "Expected a file store.") }
            let scan = IndexScan(target: .all(below: nil), index: .documents)
            try await store.components.index.read(atLeast: store.position.lastSequence) { snapshot throws(StatusError) in
                while true {
                    let cursor = try snapshot.cursor(scan, probing: [])
                    while try cursor.next() {}
                    rounds.withLock { $0 += 1 }
                }
            }
        }

        static func write(_ result: Void, to writer: inout JSONWriter) {
            writer.boolean(true)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `The deadline cancels a running scan and frees its index connection`() async throws {
        try await withService { service in
            try await service.result(of: "documents.create", #"{"collection": "c", "id": "a", "fields": {}}"#)
            let server = RPCServer(
                methods: MethodTable<ServiceContext>(
                    [EndlessScan.self],
                    discoverableBy: .reader,
                    info: OpenRPCInfo(title: "Test", version: "1", description: "A test.")
                ),
                limits: RPCLimits(callTimeout: .milliseconds(20))
            ) { failure in
                Issue.record("\(failure.method) failed: \(failure.error)")
            }
            // More calls than index connections, so that each connection must be freed.
            for _ in 0..<20 {
                let body = Array(#"{"jsonrpc": "2.0", "id": 1, "method": "test.scan"}"#.utf8)
                guard case .response(let response) = await server.handle(body, context: service.context) else {
                    Issue.record("no response")
                    return
                }
                let error = try JSONText(response.joined()).root["error"]
                #expect(error?["data"]?["status"]?.string == "DEADLINE_EXCEEDED")
            }
            let end = EndlessScan.rounds.withLock { $0 }
            #expect(try await service.member("documents", of: "query.run", #"{"collection": "c"}"#)?.contains(#""c/a""#) == true)
            #expect(EndlessScan.rounds.withLock { $0 } == end)
        }
    }
}
