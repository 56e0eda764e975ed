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
    func `Cancelled calls do not count as failed, and streams only by faults of the server`() async throws {
        let metrics = ServerMetrics()
        let methods = ["GetDocument", "Listen", "Write"]
        let grpc = CallMetrics(metrics.registry, prefix: "hearth_grpc", api: "gRPC", methods: methods)
        let activity = ActivityMetrics(metrics.registry)
        func record(_ method: Int, _ codes: [StatusCode]) {
            for code in codes { grpc.record(method: method, status: code.rawValue, duration: nil) }
        }
        record(0, [.cancelled])
        for stream in [1, 2] { record(stream, [.cancelled, .unavailable, .deadlineExceeded, .permissionDenied]) }
        #expect(activity.reading().counts.failures == 0)
        #expect(activity.reading().counts.serverErrors == 0)
        record(0, [.unavailable, .permissionDenied])
        record(1, [.internal])
        record(2, [.dataLoss])
        #expect(activity.reading().counts.failures == 4)
        #expect(activity.reading().counts.serverErrors == 3)
    }

    @Test
    func `The last interval is recorded at shutdown`() async throws {
        try await withFile { file, _ in
            let registry = ServerMetrics().registry
            let recorder = ActivityRecorder(ActivityHistory(), of: registry, in: file, logger: Self.logger)
            let (start, clock) = (Int64(1_767_330_000), ContinuousClock.now)
            for number in 0...6 {
                let time = try Timestamp(microseconds: (start + Int64(number) * 10) * 1_000_000)
                await recorder.record(at: time, clock: clock + .seconds(number * 10))
            }
            let end = try Timestamp(microseconds: (start + 67) * 1_000_000)
            await recorder.finish(at: end, clock: clock + .seconds(67))
            let history = ActivityHistory()
            try history.restore(#require(try await file.snapshot().bytes))
            let samples = history.samples(.hour, until: end).compactMap(\.self)
            #expect(samples.map(\.milliseconds).suffix(2) == [10_000, 7_000])
        }
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
            let log = RecentLog()
            let logger = Logger(label: "test") { _ in log.handler }
            let recorder = ActivityRecorder(history, of: ServerMetrics().registry, in: file, logger: logger)
            await recorder.restore()
            #expect(log.entries.map(\.message) == ["The stored activity is damaged and begins anew"])
            #expect(log.entries.first?.details.contains { $0.name == "file.path" && $0.value == "activity.samples" } == true)
            try await Self.record(30, in: recorder)
            #expect(try await file.snapshot().bytes?.count == ActivityHistory.encodedBytes)
            try FileManager.default.removeItem(at: folder)
            try await Self.record(40, in: recorder, from: 31)
            #expect(history.sampleCount >= 70)
        }
    }

    @Test
    func `The file of a newer version stays as it is`() async throws {
        try await withFile { file, _ in
            let newer = Array("hearthac".utf8) + [2, 0, 0, 0, 1, 2, 3]
            _ = try await file.update { _ in newer }
            let (history, log) = (ActivityHistory(), RecentLog())
            let recorder = ActivityRecorder(
                history,
                of: ServerMetrics().registry,
                in: file,
                logger: Logger(label: "test") { _ in log.handler }
            )
            await recorder.restore()
            #expect(log.entries.map(\.message) == ["The stored activity cannot be read; new activity is kept in memory only"])
            try await Self.record(60, in: recorder)
            await recorder.finish()
            #expect(history.sampleCount >= 60)
            #expect(try await file.snapshot().bytes == newer)
        }
    }

    @Test
    func `A file that cannot be read stays as it is`() async throws {
        try await withFile { file, folder in
            let path = folder.appending(path: "activity.samples").path
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            let recorder = ActivityRecorder(ActivityHistory(), of: ServerMetrics().registry, in: file, logger: Self.logger)
            await recorder.restore()
            try FileManager.default.removeItem(atPath: path)
            try await Self.record(60, in: recorder)
            #expect(try await file.snapshot().bytes == nil)
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
