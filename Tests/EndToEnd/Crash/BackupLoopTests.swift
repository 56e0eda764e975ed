import DocumentModel
import Foundation
import HearthClient
import HearthWire
import StrictJSON
import TestSupport
import Testing
import UTF8Text

extension CrashTests {
    /// `HEARTH_BACKUP_ROUNDS` sets the number of rounds.
    @Suite("Server killed while it makes backups", .timeLimit(.minutes(120)))
    struct BackupLoopTests {
        private static let rounds = CrashRandom.environmentNumber("HEARTH_BACKUP_ROUNDS") ?? 6

        @Test func `Complete backups are as of one commit, whatever became of the server`() async throws {
            print("Killing a server with backups \(Self.rounds) times: HEARTH_TEST_SEED=\(CrashRandom.seed)")
            try await withTemporaryFolder { folder in
                let (data, backups) = (folder.appending(path: "data"), folder.appending(path: "backups"))
                let load = try CommitLoad()
                var checked: Set<String> = []
                for round in 1...Self.rounds {
                    let random = CrashRandom(stream: round)
                    let server = try await CrashServer(data: data, arguments: ["--backups", backups.path])
                    let recorder = CommitRecorder(CommitHistory(groups: load.groups))
                    _ = try await server.killingOnError {
                        try await load.run(on: server, recorder: recorder, random: random) {
                            try await Self.makeBackups(on: server, random)
                        }
                    }
                    await server.connection.shutdown()
                    checked.formUnion(try await Self.check(backups, except: checked, folder))
                }
                print("\(checked.count) backups made")
                #expect(checked.count >= Int(Self.rounds))
            }
        }

        /// Makes one backup, and more until the server is killed after a random time.
        private static func makeBackups(on server: CrashServer, _ random: CrashRandom) async throws {
            var random = random
            try await makeBackup(on: server)
            let time = Duration.microseconds(Int.random(in: 1_000...800_000, using: &random))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    // Ends with the server.
                    while (try? await makeBackup(on: server)) != nil {}
                }
                try await Task.sleep(for: time)
                _ = try await server.process.end(with: SIGKILL)
            }
        }

        private static func makeBackup(on server: CrashServer) async throws {
            _ = try await server.connection.call("backups.create") { _ in }
            while try await server.connection.call("backups.list", { _ in })[BackupKeys.runningSince] != nil {
                try await Task.sleep(for: .milliseconds(5))
            }
        }

        /// Checks the new backups, and returns their names.
        private static func check(_ backups: URL, except checked: Set<String>, _ folder: URL) async throws -> Set<String> {
            let names = try FileManager.default.contentsOfDirectory(atPath: backups.path).filter { name in
                FileManager.default.fileExists(atPath: backups.appending(path: "\(name)/backup.json").path)
                    && !name.hasPrefix(".") && !checked.contains(name)
            }
            for name in names {
                let backup = backups.appending(path: name)
                let verified = try await hearth("backup", "verify", backup.path)
                #expect(verified.status == .code(0), "\(name), HEARTH_TEST_SEED=\(CrashRandom.seed): \(verified)")
                // Compares the documents with the commits of the journal.
                let findings = try await FolderCheck.findings(in: backup)
                #expect(findings == [], "\(name), HEARTH_TEST_SEED=\(CrashRandom.seed)")
            }
            if let name = names.max() {
                let restored = folder.appending(path: "restored")
                let result = try await hearth("restore", backups.appending(path: name).path, "--data", restored.path)
                #expect(result.status == .code(0), "\(result)")
                #expect(try await FolderCheck.findings(in: restored) == [], "\(name), HEARTH_TEST_SEED=\(CrashRandom.seed)")
                try FileManager.default.removeItem(at: restored)
            }
            return Set(names)
        }
    }
}
