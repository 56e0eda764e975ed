import DocumentModel
import Foundation
import HearthClient
import HearthWire
import StrictJSON
import Synchronization
import TestSupport
import Testing
import UTF8Text

/// A whole server, to which more calls come than it can do.
@Suite("Overload", .tags(.slow), .timeLimit(.minutes(10)))
struct OverloadTests {
    /// The time that a call may wait, on this server.
    private static let queueTime = Duration.milliseconds(500)
    /// The duration of a measurement.
    private static let seconds = 5.0
    /// The vectors among which each call finds the nearest one: enough for a call to cost the server far more than the client.
    private static let documentCount = 1_500
    private static let dimensions = 64

    @Test
    func `At three times its capacity, a server answers in time or refuses, does nearly as much as before, and takes commits`()
        async throws
    {
        try await withServer(arguments: ["--queue-ms", "500"]) { server in
            try await Self.fill(server)
            var found: [String] = []
            // A machine that does something else in between says nothing about the server.
            for _ in 0..<4 {
                let peak = try await Self.saturate(server)
                #expect(peak.violations == [])
                let overloaded = try await Self.overload(server, callsPerSecond: 3 * peak.rate)
                #expect(overloaded.violations == [])
                let goodput = overloaded.rate / peak.rate
                // A call waits for the queue time at most, and then takes as long as beside the others.
                let bound: Duration = Self.queueTime + Duration.milliseconds(500) + peak.longest * 3
                found.append(
                    "peak \(peak.rate)/s, \(peak.longest); goodput \(goodput), \(overloaded.longest) of \(bound), "
                        + "\(overloaded.refusedCount) refused, late commits \(overloaded.lateCommitCount), "
                        + "interruptions \(peak.interruptions + overloaded.interruptions)"
                )
                let isWhole = peak.interruptions.isEmpty && overloaded.interruptions.isEmpty && peak.doneCount > 0
                let isServed = overloaded.refusedCount > 0 && overloaded.lateCommitCount > 0
                if isWhole, isServed, goodput >= 0.6, overloaded.longest <= bound { return }
            }
            Issue.record("\(found)")
        }
    }

    // MARK: - Load

    private static func vector(_ number: Int) -> Value {
        var generator = SeededGenerator(seed: UInt64(number))
        return .vector((0..<dimensions).map { _ in Double.random(in: -1...1, using: &generator) })
    }

    private static func fill(_ server: EndToEndServer) async throws {
        for first in stride(from: 0, to: documentCount, by: 250) {
            let writes = try (first..<first + 250).map { number in
                try Write.set(DocumentPath("vectors/v\(number)"), ["v": vector(number)])
            }
            _ = try await server.connection.commit(writes)
        }
    }

    /// The outcomes of the calls of a measurement.
    private struct Outcomes {
        var doneCount = 0
        var refusedCount = 0
        /// The commits that were made in the second half of the measurement, when the load had long been there.
        var lateCommitCount = 0
        var longest = Duration.zero
        /// The answers that are neither results nor refusals with a delay.
        var violations: [String] = []
        /// The calls without an answer, as on a machine that had no time for a connection.
        var interruptions: [String] = []

        /// Records the failure of a call.
        mutating func fail(_ error: StatusError, isCommit: Bool = false) {
            let isOverload = [.unavailable, .resourceExhausted].contains(error.code)
            switch error.isExecuted {
            case false? where isOverload && error.retryAfter != nil: if !isCommit { refusedCount += 1 }
            case nil where error.code == .unavailable && error.retryAfter == nil: interruptions.append("\(error)")
            default: violations.append("\(error)")
            }
        }

        /// The calls that were done in a second.
        var rate: Double { Double(doneCount) / OverloadTests.seconds }
    }

    /// The clients of a measurement.
    private final class Load: Sendable {
        private let connections: [HearthConnection]
        private let outcomes = Mutex(Outcomes())
        private let start = ContinuousClock.now
        private let next = Atomic(0)

        init(on server: EndToEndServer, connectionCount: Int) throws {
            let address = try ServerAddress(server.address)
            connections = try (0..<connectionCount).map { _ in try HearthConnection(server: address) }
        }

        var all: Outcomes { outcomes.withLock(\.self) }
        var elapsed: Double { (ContinuousClock.now - start) / .seconds(1) }
        var isOver: Bool { elapsed >= OverloadTests.seconds }

        /// Makes a call. What ends after the measurement does not count.
        func call() async {
            let connection = connections[next.add(1, ordering: .relaxed).oldValue % connections.count]
            let time = ContinuousClock.now
            let result: Result<Void, StatusError>
            do throws(StatusError) {
                _ = try await connection.call("query.run") { params in
                    params.member("collection", "vectors")
                    params.key("findNearest")
                    params.beginObject()
                    params.member("field", "v")
                    params.key("vector")
                    params.beginObject()
                    params.key("$vector")
                    params.beginArray()
                    for _ in 0..<OverloadTests.dimensions { params.double(0.5) }
                    params.endArray()
                    params.endObject()
                    params.member("measure", "euclidean")
                    params.member("limit", 1)
                    params.endObject()
                }
                result = .success(())
            } catch {
                result = .failure(error)
            }
            let duration = ContinuousClock.now - time
            outcomes.withLock { outcomes in
                guard !isOver else { return }
                outcomes.longest = max(outcomes.longest, duration)
                switch result {
                case .success: outcomes.doneCount += 1
                case .failure(let error): outcomes.fail(error)
                }
            }
        }

        /// Makes a commit. It may be refused as other calls are, when the disk is slow.
        func commit(_ number: Int) async {
            do throws(StatusError) {
                _ = try await connections[0].set(DocumentPath("commits/c"), ["n": .integer(Int64(number))])
                guard elapsed >= OverloadTests.seconds / 2 else { return }
                outcomes.withLock { $0.lateCommitCount += 1 }
            } catch {
                outcomes.withLock { $0.fail(error, isCommit: true) }
            }
        }

        func shutdown() async {
            for connection in connections { await connection.shutdown() }
        }
    }

    /// Clients that wait for each call before the next: as many as keep the processors busy.
    private static func saturate(_ server: EndToEndServer) async throws -> Outcomes {
        let load = try Load(on: server, connectionCount: 1)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { while !load.isOver { await load.call() } }
            }
        }
        await load.shutdown()
        return load.all
    }

    /// Calls that come at a rate, whether or not earlier ones have ended, and commits beside them.
    private static func overload(_ server: EndToEndServer, callsPerSecond: Double) async throws -> Outcomes {
        let load = try Load(on: server, connectionCount: 64)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                var number = 0
                while !load.isOver {
                    number += 1
                    await load.commit(number)
                    try? await Task.sleep(for: .milliseconds(100))
                }
            }
            var count = 0.0
            while !load.isOver {
                while count < load.elapsed * callsPerSecond {
                    group.addTask { await load.call() }
                    count += 1
                }
                try? await Task.sleep(for: .milliseconds(5))
            }
        }
        await load.shutdown()
        return load.all
    }
}
