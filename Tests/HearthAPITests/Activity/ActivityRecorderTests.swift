import DocumentModel
import FileStore
import Foundation
import HearthAPI
import JSONRPC
import Logging
import PrometheusMetrics
import StorageIO
import Testing
import UTF8Text

@Suite("Recording of the activity", .timeLimit(.minutes(10)))
struct ActivityRecorderTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Calls `body` with a file in a temporary data folder.
    private func withFile(_ body: (LockedAtomicFile, URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hearth-activity-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(.open(.activity, inFolder: folder.path, creatingFolder: true), folder)
    }

    private static func record(_ count: Int, in recorder: ActivityRecorder, from second: Int = 0) async throws {
        let clock = ContinuousClock.now
        for number in second...second + count {
            let time = try Timestamp(microseconds: (1_767_330_000 + Int64(number) * 10) * 1_000_000)
            await recorder.record(at: time, clock: clock + .seconds(number * 10))
        }
    }

    @Test
    func `Calls of all APIs are counted by kind`() async throws {
        let metrics = ServerMetrics()
        let grpc = CallMetrics(metrics.registry, prefix: "hearth_grpc", api: "gRPC", methods: ["GetDocument", "RunQuery"])
        let rest = CallMetrics(metrics.registry, prefix: "hearth_rest", api: "REST", methods: ["RunQuery"])
        let rpc = HearthMethods.table.methods.map(\.name.string)
        metrics.registry.sampledValue("hearth_watch_streams", "Streams.") { 3 }
        let activity = ActivityMetrics(metrics.registry)
        #expect(activity.reading().counts == ActivityCounts())
        metrics.calls.record(method: rpc.firstIndex(of: "documents.get"), status: 0, duration: nil)
        metrics.calls.record(method: rpc.firstIndex(of: "query.run"), status: StatusCode.internal.rawValue, duration: nil)
        metrics.calls.record(method: nil, status: StatusCode.notFound.rawValue, duration: nil)
        grpc.record(method: 0, status: StatusCode.notFound.rawValue, duration: nil)
        grpc.record(method: 1, status: 0, duration: nil)
        rest.record(method: 0, status: 0, duration: nil)
        for api in ["rpc", "grpc", "rest"] {
            metrics.registry.histograms(named: "hearth_\(api)_call_seconds")[0].record(Duration.milliseconds(1))
        }
        metrics.store.didCommit(writeCount: 5, period: .now..<(.now), sync: nil)
        let reading = activity.reading()
        #expect(reading.counts.reads == 2)
        #expect(reading.counts.queries == 3)
        #expect(reading.counts.writes == 5)
        #expect(reading.counts.failures == 3)
        #expect(reading.counts.serverErrors == 1)
        #expect(reading.counts.latencies.buckets.reduce(0, +) == 3)
        #expect(reading.gauges.streams == 3)
        #expect(reading.gauges.freeBytes == nil)
    }

    @Test
    func `The history is stored every five minutes, and at shutdown if it is worth it`() async throws {
        try await withFile { file, folder in
            let recorder = ActivityRecorder(ActivityHistory(), of: ServerMetrics().registry, in: file, logger: Self.logger)
            try await Self.record(29, in: recorder)
            #expect(try await file.snapshot().bytes == nil)
            try await Self.record(1, in: recorder, from: 29)
            let stored = try #require(try await file.snapshot().bytes)
            #expect(stored.count == ActivityHistory.encodedBytes)
            try await Self.record(2, in: recorder, from: 30)
            await recorder.finish()
            #expect(try await file.snapshot().bytes == stored)
            try await Self.record(8, in: recorder, from: 32)
            await recorder.finish()
            #expect(try await file.snapshot().bytes != stored)
            let history = ActivityHistory()
            let next = ActivityRecorder(history, of: ServerMetrics().registry, in: file, logger: Self.logger)
            await next.restore()
            let end = try Timestamp(microseconds: (1_767_330_000 + 410) * 1_000_000)
            #expect(history.samples(.hour, until: end).compactMap(\.self).count > 35)
        }
    }

    @Test
    func `A damaged file begins anew, and one that cannot be written does no harm`() async throws {
        try await withFile { file, folder in
            _ = try await file.update { _ in [1, 2, 3] }
            let history = ActivityHistory()
            let recorder = ActivityRecorder(history, of: ServerMetrics().registry, in: file, logger: Self.logger)
            await recorder.restore()
            try await Self.record(30, in: recorder)
            #expect(try await file.snapshot().bytes?.count == ActivityHistory.encodedBytes)
            try FileManager.default.removeItem(at: folder)
            try await Self.record(40, in: recorder, from: 31)
            #expect(history.sampleCount >= 70)
        }
    }

    @Test
    func `Nothing is written to a disk that is nearly full`() async throws {
        try await withFile { file, _ in
            let registry = ServerMetrics().registry
            registry.sampledValue("hearth_disk_free_bytes", "Free.") { 1_000_000 }
            let recorder = ActivityRecorder(ActivityHistory(), of: registry, in: file, logger: Self.logger)
            try await Self.record(60, in: recorder)
            await recorder.finish()
            #expect(try await file.snapshot().bytes == nil)
        }
    }
}
