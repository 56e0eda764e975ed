import CLinux
import DocumentModel
import Foundation
import HearthClient
import Synchronization
import TestSupport
import Testing
import UTF8Text

@testable import HearthTransport
@testable import HearthWire

extension CrashTests {
    /// Random commits by calls and edits of files by other programs, while the server is killed, its clock is set back, and the folder of
    /// the documents is swapped for a link.
    ///
    /// `HEARTH_EDIT_ROUNDS` sets the number of rounds.
    @Suite("Edits of files while the server is killed", .timeLimit(.minutes(120)))
    struct EditLoopTests {
        private static let rounds = CrashRandom.environmentNumber("HEARTH_EDIT_ROUNDS") ?? 4
        private static let documents = 6
        private static let callers = 2
        /// Each edits documents of its own: two editors that save the same file at the same time lose an edit without any server.
        private static let editors = 3

        private static func path(_ number: Int) throws -> DocumentPath { try DocumentPath("c/d\(number)") }

        /// The values of the fields as the writers know them.
        private struct Known {
            /// The last values that calls have sent, and those of the last answers, by document and caller.
            var sent = Array(repeating: Array(repeating: 0, count: callers), count: documents)
            var acknowledged = Array(repeating: Array(repeating: 0, count: callers), count: documents)
            /// The values that were saved in whole files, by document.
            var saved = Array(repeating: 0, count: documents)
            /// The times at which the documents were created.
            var createTimes: [DocumentPath: Timestamp] = [:]
        }

        /// The folder of the documents, in whose place a link to other files may be put.
        private final class SwappedFolder: Sendable {
            private let data: URL
            private let isLink = Mutex(false)

            private var place: URL { data.appending(path: "documents/c") }
            private var other: URL { data.deletingLastPathComponent().appending(path: "other") }
            private var target: URL { data.deletingLastPathComponent().appending(path: "target") }

            init(data: URL) throws {
                self.data = data
                try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
                try FileManager.default.createSymbolicLink(at: other, withDestinationURL: target)
                try changeTarget()
            }

            /// Calls `body` while the folder is in its place; not while a link is there.
            func ifInPlace(_ body: () throws -> Void) rethrows {
                try isLink.withLock { if !$0 { try body() } }
            }

            /// Puts a link in the place of the folder, or the folder in the place of the link.
            func swap() throws {
                try isLink.withLock { isLink in
                    try #require(clinux_exchange(AT_FDCWD, place.path, AT_FDCWD, other.path) == 0)
                    isLink.toggle()
                }
            }

            /// Puts the folder back in its place.
            func putBack() throws {
                if isLink.withLock(\.self) { try swap() }
            }

            /// Changes the files behind the link, which are no documents.
            func changeTarget() throws {
                for name in ["d0", "d1", "behind"] {
                    try Data(#"{"behind": true}"#.utf8).write(to: target.appending(path: "\(name).json"))
                }
            }

            /// Expects that nobody has changed the files behind the link.
            func expectTarget() throws {
                let names = try FileManager.default.contentsOfDirectory(atPath: target.path)
                #expect(Set(names) == ["d0.json", "d1.json", "behind.json"])
                for name in names {
                    #expect(try Data(contentsOf: target.appending(path: name)) == Data(#"{"behind": true}"#.utf8))
                }
            }
        }

        /// The state that the writers of a round share.
        private final class Shared: Sendable {
            let known: Mutex<Known>
            private let stopped = Mutex(false)

            init(_ known: Known) {
                self.known = Mutex(known)
            }

            var isStopped: Bool { stopped.withLock(\.self) }

            func stop() {
                stopped.withLock { $0 = true }
            }
        }

        @Test func `No whole edit and no acknowledged commit is lost, and files, index, journal and watchers agree`() async throws
        {
            print("Killing a server \(Self.rounds) times: HEARTH_TEST_SEED=\(CrashRandom.seed)")
            try await withTemporaryFolder { folder in
                let data = folder.appending(path: "data")
                var known = Known()
                let swapped = try SwappedFolder(data: data)
                let clock = folder.appending(path: "clock")
                try Data().write(to: clock)
                for round in 1...Self.rounds {
                    var random = CrashRandom(stream: round)
                    // Not in two rounds after each other: the kernel does not set its clock forward.
                    let isAhead = round % 4 == 3
                    if isAhead { try Self.setClock(clock, secondsAhead: Int.random(in: 2...20, using: &random)) }
                    let server = try await EndToEndServer(
                        data: data,
                        arguments: Self.arguments(&random),
                        environment: isAhead
                            ? ["LD_PRELOAD": FaultShim.library.get().path, "HEARTH_FAULT_CLOCK": clock.path] : [:]
                    )
                    if round == 1 {
                        for number in 0..<Self.documents {
                            let path = try Self.path(number)
                            try await server.connection.set(path, [:])
                            known.createTimes[path] = try await server.connection.document(at: path).createTime
                        }
                    }
                    let swaps = round % 4 == 1 || round % 4 == 3 && random.chance(50)
                    if !swaps { try swapped.putBack() }
                    let shared = Shared(known)
                    try await withThrowingTaskGroup { group in
                        for caller in 0..<Self.callers {
                            let random = CrashRandom(stream: round * 100 + UInt64(caller))
                            group.addTask {
                                await Self.call(server, caller, random, shared)
                            }
                        }
                        for editor in 0..<Self.editors {
                            let random = CrashRandom(stream: round * 100 + 50 + UInt64(editor))
                            group.addTask {
                                try await Self.edit(server, editor, random, shared, swapped)
                            }
                        }
                        if swaps {
                            let random = CrashRandom(stream: round * 100 + 99)
                            group.addTask {
                                try await Self.swap(swapped, random, shared)
                            }
                        }
                        if isAhead, random.chance(70) {
                            try await Task.sleep(for: .milliseconds(Int.random(in: 0...800, using: &random)))
                            try Self.setClock(clock, secondsAhead: 0)
                        }
                        try await Task.sleep(for: .milliseconds(Int.random(in: 300...1_500, using: &random)))
                        if round == 2 { try Self.overflowQueue(of: server) }
                        _ = try await server.process.end(with: SIGKILL)
                        // Some edits are made while no server runs.
                        try await Task.sleep(for: .milliseconds(Int.random(in: 0...100, using: &random)))
                        shared.stop()
                        try await group.waitForAll()
                    }
                    known = shared.known.withLock(\.self)
                    await server.connection.shutdown()
                }
                try await Self.check(data, known, swapped)
            }
        }

        private static func setClock(_ file: URL, secondsAhead seconds: Int) throws {
            try #require(truncate(file.path, seconds) == 0)
        }

        /// Swaps the folder of the documents for a link, and back, at random times. The end may be either.
        private static func swap(_ folder: SwappedFolder, _ random: CrashRandom, _ shared: Shared) async throws {
            var random = random
            while !shared.isStopped {
                try await Task.sleep(for: .milliseconds(Int.random(in: 20...400, using: &random)))
                try folder.swap()
                try folder.changeTarget()
            }
        }

        private static func arguments(_ random: inout CrashRandom) -> [String] {
            let quiet = ["10", "50", "300"][Int.random(in: 0..<3, using: &random)]
            let checkpoint = random.chance(50) ? ["--checkpoint-documents", "100"] : []
            return ["--folder-edit-quiet-ms", quiet] + checkpoint + (random.chance(30) ? ["--folder-edit-keep-text"] : [])
        }

        /// Writes a field of random documents by calls.
        private static func call(
            _ server: EndToEndServer,
            _ caller: Int,
            _ random: CrashRandom,
            _ shared: Shared
        ) async {
            var random = random
            guard let address = try? ServerAddress(server.address),
                let connection = try? HearthConnection(server: address, resendTimeout: .zero)
            else { return }
            while !shared.isStopped {
                let number = Int.random(in: 0..<documents, using: &random)
                let value = shared.known.withLock { known in
                    known.sent[number][caller] += 1
                    return known.sent[number][caller]
                }
                do {
                    let fields: MapValue = [UTF8Key("call\(caller)"): .integer(Int64(value))]
                    _ = try await connection.commit([.set(path(number), fields, merge: .all)])
                    shared.known.withLock { $0.acknowledged[number][caller] = value }
                } catch {
                    try? await Task.sleep(for: .milliseconds(5))
                }
            }
            await connection.shutdown()
        }

        /// Saves the files of an editor's documents with another value of a field, with old times now and then, which other files are
        /// given as well.
        private static func edit(
            _ server: EndToEndServer,
            _ editor: Int,
            _ random: CrashRandom,
            _ shared: Shared,
            _ folder: SwappedFolder
        ) async throws {
            var random = random
            let temporary = server.folder.deletingLastPathComponent().appending(path: "editor\(editor)")
            let numbers = Array(stride(from: editor, to: documents, by: editors))
            while !shared.isStopped {
                let number = numbers[Int.random(in: 0..<numbers.count, using: &random)]
                let file = server.file("c/d\(number)")
                let value = shared.known.withLock { $0.saved[number] } + 1
                let old = Date(timeIntervalSince1970: Double(Int.random(in: 1...1_000_000_000, using: &random)))
                let (isOld, isTouched) = (random.chance(30), random.chance(10))
                try folder.ifInPlace {
                    guard let data = try? Data(contentsOf: file),
                        var json = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
                    else { return }
                    json["edit"] = value
                    try JSONSerialization.data(withJSONObject: json).write(to: temporary)
                    if isOld { try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: temporary.path) }
                    try #require(rename(temporary.path, file.path) == 0)
                    shared.known.withLock { $0.saved[number] = value }
                    if isTouched { try? FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: file.path) }
                }
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...120, using: &random)))
            }
        }

        /// Fills the queue of changes while the server does not read it, and makes a file that it has to find all the same.
        private static func overflowQueue(of server: EndToEndServer) throws {
            let limit = try? String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
            guard let limit = limit.flatMap({ Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }), limit <= 1 << 16 else {
                return
            }
            server.process.send(SIGSTOP)
            defer { server.process.send(SIGCONT) }
            let folder = server.folder.appending(path: "documents/c").path
            // Equal events that follow each other are one.
            for number in 0...limit { close(open("\(folder)/note\(number % 2)", O_CREAT | O_WRONLY, 0o600)) }
            for name in ["note0", "note1"] { unlink("\(folder)/\(name)") }
            try Data(#"{"found": true}"#.utf8).write(to: server.file("c/overflow"))
        }

        /// Starts a server, and waits until all is as the writers know it.
        private static func check(_ data: URL, _ known: Known, _ folder: SwappedFolder) async throws {
            let server = try await EndToEndServer(data: data, arguments: ["--folder-edit-quiet-ms", "20"])
            try folder.putBack()
            let seed: Comment = "HEARTH_TEST_SEED=\(CrashRandom.seed)"
            let collection = try CollectionPath("c")
            let watched = Task {
                var documents: [DocumentPath: EncodedDocument] = [:]
                for try await frame in try await server.connection.watch(.collection(collection)) {
                    if let document = try frame.document() {
                        documents[document.path] = document
                        if document.path == (try DocumentPath("c/end")) { break }
                    } else if frame.kind == .removed {
                        documents[try frame.path()] = nil
                    }
                }
                return documents
            }
            let files = FileManager.default
            let documentFolder = data.appending(path: "documents/c")
            /// Returns the values of edits that are kept beside a document.
            func kept(_ number: Int) throws -> [Int] {
                try files.contentsOfDirectory(atPath: documentFolder.path).filter { $0.hasPrefix("d\(number).json.") }.compactMap
                {
                    name in
                    let json = try JSONSerialization.jsonObject(with: Data(contentsOf: documentFolder.appending(path: name)))
                    return (json as? [String: Any])?["edit"] as? Int
                }
            }
            for number in 0..<documents {
                func hasLastEdit() async throws -> Bool {
                    let document = try? await server.connection.document(at: path(number))
                    let saved = Int64(known.saved[number])
                    if saved == 0 { return true }
                    return try document?.decoded().fields["edit"] == .integer(saved) || kept(number).contains(Int(saved))
                }
                /// Returns whether the document has the last value of a caller. Until an edit of an earlier version is merged, reads return
                /// it as it is.
                func hasLastCall(_ caller: Int) async throws -> Bool {
                    guard let document = try? await server.connection.document(at: path(number)) else { return false }
                    let value = try document.decoded().fields[UTF8Key("call\(caller)")]
                    let range = known.acknowledged[number][caller]...known.sent[number][caller]
                    return if case .integer(let value)? = value { range.contains(Int(value)) } else { range.contains(0) }
                }
                func hasLastValues() async throws -> Bool {
                    for caller in 0..<callers where try await !hasLastCall(caller) { return false }
                    return try await hasLastEdit()
                }
                let deadline = ContinuousClock.now + .seconds(120)
                while try await !hasLastValues(), .now < deadline { try await Task.sleep(for: .milliseconds(20)) }
                #expect(try await hasLastEdit(), "d\(number), \(known.saved[number]), \(seed)")
                for caller in 0..<callers {
                    #expect(try await hasLastCall(caller), "d\(number), caller \(caller), \(seed)")
                }
            }
            if files.fileExists(atPath: server.file("c/overflow").path) {
                while await (try? server.connection.document(at: DocumentPath("c/overflow"))) == nil {
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            try await expectReport(of: folder, server)
            try await server.connection.set(DocumentPath("c/end"), [:])
            let query = StructuredQuery(.collection(collection))
            let found = try await server.connection.documents(of: query, NormalizedQuery(query)).documents
            #expect(try await watched.value == Dictionary(uniqueKeysWithValues: found.map { ($0.path, $0) }), seed)
            #expect(Set(found.map(\.path.id.key.string)).isDisjoint(with: ["behind"]), seed)
            for document in found { #expect(try document.decoded().fields["behind"] == nil, "\(document.path), \(seed)") }
            // None was deleted and created again.
            for document in found where known.createTimes[document.path] != nil {
                #expect(document.createTime == known.createTimes[document.path], "\(document.path), \(seed)")
            }
            try folder.expectTarget()
            #expect(try await server.stop() == .code(0))
            // Compares files, journal and index.
            #expect(try await FolderCheck.findings(in: data) == [], seed)
        }

        /// Expects that a link in the place of the folder is reported until the folder is back.
        private static func expectReport(of folder: SwappedFolder, _ server: EndToEndServer) async throws {
            for isLink in [true, false] {
                try folder.swap()
                while true {
                    let problems = try await hearth("files", "problems", "--server", server.address)
                    if problems.output.contains("documents/c") == isLink { break }
                    try await Task.sleep(for: .milliseconds(10))
                }
            }
        }
    }
}
