import DocumentModel
import Foundation
import SyncEngine
import TestSupport
import Testing
import TransportTestSupport

@testable import HearthClient

@Suite("Clocks that are wrong", .timeLimit(.minutes(10)))
struct ServerClockTests {
    private static let hour: Int64 = 3_600 * 1_000_000
    private static let start: Int64 = 1_704_164_645_000_000

    private func time(_ hours: Int64, _ microseconds: Int64 = 0) throws -> Timestamp {
        try Timestamp(microseconds: Self.start + hours * Self.hour + microseconds)
    }

    @Test(arguments: [-5, 0, 7]) func `Times are those of the server, however wrong the local clock is`(hours: Int64) throws {
        var clock = ServerClock()
        #expect(try clock.time(at: time(hours)) == time(hours))
        clock.record(commitTime: try time(0, 123), at: try time(hours))
        #expect(try clock.time(at: time(hours + 1, 2_500)) == time(1, 2_000))
    }

    @Test func `An estimate is never before a time that the server has told`() throws {
        var clock = ServerClock()
        clock.record(try time(3, 5))
        clock.record(nil)
        clock.record(.maximum)
        #expect(try clock.time(at: time(0)) == time(3, 5))
        #expect(try clock.time(at: time(4)) == time(4))
        // The local clock was set back.
        clock.record(commitTime: try time(5), at: try time(5))
        #expect(try clock.time(at: time(1)) == time(5))
        clock.record(commitTime: .maximum, at: .minimum)
        #expect(clock.time(at: .maximum) == .maximum)
    }

    @Test(arguments: ["2001-01-01T00:00:00.000000Z", "2090-01-01T00:00:00.000000Z"])
    func `Pending server timestamps follow what the server has set`(commitTime: String) async throws {
        let server = try StubServer { _ in
            .json(status: 200, #"[{"jsonrpc":"2.0","id":0,"result":{"commitTime":"\#(commitTime)","writeResults":[{}]}}]"#)
        }
        let db = server.firestore(nil, MemoryCacheSettings())
        try await db.document("notes/a").setData(["n": 1])
        try await db.disableNetwork()
        let batch = db.batch().setData(["time": FieldValue.serverTimestamp()], forDocument: db.document("notes/a"))
        try await batch.enqueue()
        let local = try await db.document("notes/a").getDocument(source: .cache)
        let estimate = try #require(local.get("time", serverTimestampBehavior: .estimate) as? Timestamp)
        let known = try Timestamp(rfc3339: commitTime)
        #expect(estimate >= known && estimate.microseconds < known.microseconds + Self.hour)
        try await db.terminate()
    }

    @Test func `A later run that begins without the server knows its clock`() async throws {
        let commitTime = "2090-01-01T00:00:00.000000Z"
        let server = try StubServer { _ in
            .json(status: 200, #"[{"jsonrpc":"2.0","id":0,"result":{"commitTime":"\#(commitTime)","writeResults":[{}]}}]"#)
        }
        let folder = try TemporaryFolder()
        let settings = PersistentCacheSettings(sizeBytes: (100 << 20) as NSNumber, folder: URL(filePath: folder["cache"]))
        var db = server.firestore(nil, settings)
        try await db.document("notes/a").setData(["n": 1])
        try await db.terminate()
        db = server.firestore(nil, settings)
        try await db.disableNetwork()
        let batch = db.batch().setData(["time": FieldValue.serverTimestamp()], forDocument: db.document("notes/a"))
        try await batch.enqueue()
        let local = try await db.document("notes/a").getDocument(source: .cache)
        let estimate = try #require(local.get("time", serverTimestampBehavior: .estimate) as? Timestamp)
        let known = try Timestamp(rfc3339: commitTime)
        #expect(estimate >= known && estimate.microseconds < known.microseconds + Self.hour)
        try await db.terminate()
    }
}
