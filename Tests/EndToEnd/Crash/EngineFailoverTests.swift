import DocumentModel
import Foundation
import HearthClient
import StrictJSON
import TestSupport
import Testing
import UTF8Text

/// Servers whose engine fails over, is restored, or that stand still themselves.
@Suite("Fail-over of a shared engine", EngineServer.condition, .tags(.slow, .crash), .timeLimit(.minutes(10)))
struct EngineFailoverTests {
    @Test func `A fail-over to a synchronous standby under load loses no acknowledged commit and makes none twice`() async throws
    {
        let primary = try await EngineServer()
        let name = try await primary.makeDatabase()
        let standby = try await primary.makeSynchronousStandby()
        let url = primary.url(name, orOf: standby)
        try await withTemporaryFolder { folder in
            let load = try CommitLoad()
            let recorder = CommitRecorder(CommitHistory(groups: load.groups))
            let first = try await CrashServer(engine: url, folder: folder.appendingPathComponent("first"))
            let report = try await first.killingOnError {
                try await load.run(on: first, recorder: recorder, random: CrashRandom(stream: 1)) {
                    while recorder.history.acknowledgedCount < 150 { try await Task.sleep(for: .milliseconds(10)) }
                    try await primary.stopImmediately()
                    try await standby.promote()
                    // The server finds the new primary by itself.
                    while true {
                        do throws(StatusError) {
                            let path = try DocumentPath("after/failover")
                            try await recorder.commit(on: first) { [PlannedWrite(path: path, fields: .sample(number: $0))] }
                            break
                        } catch {
                            try await Task.sleep(for: .milliseconds(50))
                        }
                    }
                    try await first.stop(with: SIGKILL)
                }
            }
            #expect(report.inconsistencies == [])
            #expect(report.watched > 0)
            let second = try await CrashServer(engine: url, folder: folder.appendingPathComponent("second"))
            try await second.killingOnError {
                let (snapshot, violations) = try await recorder.history.check(second, data: folder, disk: false)
                #expect(violations == [])
                let inconsistencies = try await load.watchers.check(on: second.connection, against: snapshot)
                #expect(inconsistencies == [])
            }
            #expect(try await second.stop(with: SIGTERM) == .code(0))
        }
    }

    @Test func `Watchers are told that the engine was restored to an earlier state`() async throws {
        let engine = try await EngineServer()
        let url = engine.url(try await engine.makeDatabase())
        try await withTemporaryFolder { folder in
            let server = try await EndToEndServer(data: folder, engine: url)
            let (connection, collection) = (server.connection, try CollectionPath("c"))
            for number in 0..<3 as Range<Int64> {
                try await connection.set(DocumentPath("c/kept\(number)"), ["n": .integer(number)])
            }
            try await engine.copyData()
            func set(_ path: String, _ number: Int64) async throws {
                while true {
                    do throws(StatusError) {
                        try await connection.set(DocumentPath(path), ["n": .integer(number)])
                        return
                    } catch {
                        // The engine has just been started.
                        guard error.code == .unavailable || error.code == .deadlineExceeded else { throw error }
                    }
                }
            }
            for number in 0..<3 as Range<Int64> { try await set("c/lost\(number)", number) }
            // Two watchers: one has seen all that gets lost, and resumes then; the other one watches all the time.
            var token: String?
            for try await frame in try await connection.watch(.collection(collection)) where frame.kind == .current {
                token = frame.token
                break
            }
            let events = AsyncStream<WatchedEvent>.makeStream()
            let watcher = Task {
                try await connection.watchContinuously(.collection(collection)) { event throws(StatusError) in
                    guard case .frame(let frame) = event else { return }
                    if let reason = frame.resetReason { events.continuation.yield(.reset(reason)) }
                    if let document = try frame.document(), case .integer(let number)? = try document.decoded().fields["n"] {
                        events.continuation.yield(.document(document.path.string, number))
                    }
                }
            }
            var received = events.stream.makeAsyncIterator()
            var (state, resets): ([String: Int64], [String]) = ([:], [])
            func receive(until isComplete: ([String: Int64]) -> Bool) async {
                while !isComplete(state), let event = await received.next() {
                    switch event {
                    case .reset(let reason):
                        resets.append(reason)
                        state = [:]
                    case .document(let path, let number): state[path] = number
                    }
                }
            }
            await receive { $0.count == 6 }
            try await engine.restoreData()
            for number in 0..<5 as Range<Int64> { try await set("c/new\(number)", number) }
            let expected: [String: Int64] = [
                "c/kept0": 0, "c/kept1": 1, "c/kept2": 2, "c/new0": 0, "c/new1": 1, "c/new2": 2, "c/new3": 3, "c/new4": 4,
            ]
            await receive { $0 == expected }
            watcher.cancel()
            #expect(resets == ["restored"])
            var reasons: [String] = []
            for try await frame in try await connection.watch(.collection(collection), resume: token) {
                if let reason = frame.resetReason { reasons.append(reason) }
                if frame.kind == .current { break }
            }
            #expect(reasons == ["restored"])
            _ = try? await watcher.value
            #expect(try await server.stop() == .code(0))
        }
    }

    @Test func `A server that stood still past its lease goes on without it, and all commits have one order`() async throws {
        let engine = try await EngineServer.shared.value
        let name = try await engine.makeDatabase()
        func holders() async throws -> String {
            try await engine.query("SELECT term || ' ' || encode(holder, 'hex') FROM hearth.leases", in: name)
        }
        try await withTemporaryFolder { folder in
            let url = engine.url(name)
            let first = try await EndToEndServer(data: folder.appendingPathComponent("first"), engine: url)
            while try await !holders().hasPrefix("1 ") { try await Task.sleep(for: .milliseconds(50)) }
            let second = try await EndToEndServer(data: folder.appendingPathComponent("second"), engine: url)
            for server in [first, second] { try await server.connection.set(DocumentPath("c/d"), ["n": .integer(1)]) }
            // Commits are under way when it stops.
            let writers = Task {
                for number in 0..<200 as Range<Int64> {
                    try await first.connection.set(DocumentPath("c/\(number % 7)"), ["n": .integer(number)])
                }
            }
            try await Task.sleep(for: .milliseconds(50))
            first.process.send(SIGSTOP)
            while try await !holders().hasPrefix("2 ") { try await Task.sleep(for: .milliseconds(50)) }
            // Even if the first one holds the lock of the database, which the engine takes from it.
            try await second.connection.set(DocumentPath("c/d"), ["n": .integer(2)])
            let last = try await engine.query("SELECT max(seq) FROM hearth.commits", in: name)
            first.process.send(SIGCONT)
            try await writers.value
            let late = "SELECT count(*) FROM hearth.commits WHERE seq > \(last) AND term < 2"
            #expect(try await engine.query(late, in: name) == "0")
            #expect(try await engine.query("SELECT count(*) FROM hearth.commits WHERE term = 2", in: name) != "0")
            let gaps = "SELECT count(*) FROM (SELECT seq - row_number() OVER (ORDER BY seq) d FROM hearth.commits) s WHERE d <> 0"
            #expect(try await engine.query(gaps, in: name) == "0")
            let holder = try await holders()
            #expect(!holder.isEmpty && !holder.hasPrefix("1 "), "\(holder)")
            for server in [first, second] { #expect(try await server.stop() == .code(0)) }
        }
    }
}

/// An event that a watcher was told.
private enum WatchedEvent: Sendable {
    case document(String, Int64)
    case reset(String)
}

extension WatchFrame {
    /// The reason of a `reset` frame; `nil` for other frames.
    fileprivate var resetReason: String? {
        kind == .reset ? (try? JSONText(line).root)?["reason"]?.string : nil
    }
}
