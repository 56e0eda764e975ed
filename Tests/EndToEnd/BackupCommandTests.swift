import DocumentModel
import Foundation
import HearthClient
import TestSupport
import Testing
import UTF8Text

@Suite("hearth backup and restore", .timeLimit(.minutes(10)))
struct BackupCommandTests {
    @Test func `A backup of a running server is listed, verified, restored and served`() async throws {
        try await withTemporaryFolder { folder in
            let (data, backups) = (folder.appending(path: "data"), folder.appending(path: "backups"))
            let server = try await EndToEndServer(data: data, arguments: ["--backups", backups.path])
            _ = try await server.connection.set(DocumentPath("books/kept"), ["n": .integer(1)])
            let created = try await hearth("backup", "create", "--server", server.address)
            #expect(created.status == .code(0), "\(created)")
            let name = try #require(created.output.first)
            _ = try await server.connection.set(DocumentPath("books/later"), ["n": .integer(2)])
            let token = try await Self.token(of: server)

            let listed = try await hearth("backup", "list", backups.path)
            #expect(listed.output.first?.hasPrefix("\(name)  1 database, ") == true, "\(listed)")
            #expect(try await hearth("backup", "verify", backups.path + "/\(name)").status == .code(0))
            try await Self.expectMetrics(of: server)
            #expect(try await server.stop() == .code(0))
            try FileManager.default.moveItem(at: data, to: folder.appending(path: "old"))
            let old = folder.appending(path: "old").path
            let restored = try await hearth(
                "restore",
                backups.path + "/\(name)",
                "--data",
                data.path,
                "--previous",
                old
            )
            #expect(restored.output.count == 1)
            #expect(restored.output.first?.hasPrefix("hearth/(default): 1 document as of commit 1, ") == true, "\(restored)")

            let next = try await EndToEndServer(data: data)
            let documents = try await hearth("list", "books", "--server", next.address)
            #expect(documents.output == ["books/kept"])
            // A watcher is not left with what the backup does not have.
            var kinds: [WatchFrame.Kind] = []
            for try await frame in try await next.connection.watch(.collection(CollectionPath("books")), resume: token) {
                kinds.append(frame.kind)
                if frame.kind == .current { break }
            }
            #expect(kinds.contains(.reset), "\(kinds)")
            #expect(try await next.stop() == .code(0))
        }
    }

    /// Waits until the metrics of a server show a backup and its verification, which are sampled at an interval.
    private static func expectMetrics(of server: EndToEndServer) async throws {
        var values: [Substring: Double] = [:]
        repeat {
            let metrics = try await shell("curl -s \(server.address)/metrics | grep '^hearth_backup'").output
            values = Dictionary(
                uniqueKeysWithValues: metrics.map { line in
                    let parts = line.split(separator: " ")
                    return (parts[0], Double(parts[1]) ?? .nan)
                }
            )
            try await Task.sleep(for: .milliseconds(200))
        } while values["hearth_backup_verified_timestamp_seconds", default: 0] == 0
        #expect(values["hearth_backup_last_success_timestamp_seconds", default: 0] > 1_700_000_000)
        #expect(values["hearth_backup_bytes", default: 0] > 0 && values["hearth_backup_failures_total"] == 0)
    }

    private static func token(of server: EndToEndServer) async throws -> String? {
        for try await frame in try await server.connection.watch(.collection(CollectionPath("books"))) {
            if frame.kind == .current { return frame.token }
        }
        return nil
    }

    @Test func `A server without a folder for backups says how to give it one`() async throws {
        try await withServer { server in
            let result = try await hearth("backup", "create", "--server", server.address)
            #expect(result.status == .code(1))
            #expect(result.errorText.contains("--backups DIR"), "\(result)")
        }
    }

    @Test func `A folder that no server has open is backed up, and damage is named`() async throws {
        try await withTemporaryFolder { folder in
            let (data, backups) = (folder.appending(path: "data"), folder.appending(path: "backups"))
            let server = try await EndToEndServer(data: data)
            for number in 0..<3 {
                _ = try await server.connection.set(DocumentPath("books/b\(number)"), ["n": .integer(Int64(number))])
            }
            let locked = try await hearth("backup", "create", "--data", data.path, "--to", backups.path)
            #expect(locked.errorText.contains("in use by another Hearth server"), "\(locked)")
            #expect(try await server.stop() == .code(0))
            let created = try await hearth("backup", "create", "--data", data.path, "--to", backups.path)
            let backup = backups.path + "/" + (try #require(created.output.first))
            let summed = try await shell("cd '\(backup)' && sha256sum --check --strict --quiet SHA256SUMS")
            #expect(summed.status == .code(0), "\(summed)")

            try Data("{}".utf8).write(to: URL(filePath: backup + "/documents/books/b1.json"), options: .atomic)
            let verified = try await hearth("backup", "verify", backup)
            #expect(verified.status == .code(1))
            #expect(verified.output.first?.contains("documents/books/b1.json") == true, "\(verified)")
            let restored = try await hearth("restore", backup, "--data", folder.path + "/restored")
            #expect(restored.status == .code(1))
            #expect(restored.errorText.contains("documents/books/b1.json"), "\(restored)")
            #expect(!FileManager.default.fileExists(atPath: folder.path + "/restored"))

            let rest = try await hearth("restore", backup, "--data", folder.path + "/rest", "--skip-damaged")
            #expect(rest.status == .code(1))
            #expect(rest.output.first?.hasPrefix("hearth/(default): 2 documents") == true, "\(rest)")
            #expect(rest.errorText.contains("documents/books/b1.json"), "\(rest)")
            #expect(try await hearth("check", "--data", folder.path + "/rest").status == .code(0))
            let inside = try await hearth("restore", backup, "--data", backups.path + "/data", "--skip-damaged")
            #expect(inside.status == .code(1) && inside.errorText.contains("folder for backups"), "\(inside)")
        }
    }

    @Test func `A verification by a restore opens and checks the databases, and leaves nothing behind`() async throws {
        try await withTemporaryFolder { folder in
            let (data, backups) = (folder.appending(path: "data"), folder.appending(path: "backups"))
            let server = try await EndToEndServer(data: data)
            _ = try await server.connection.set(DocumentPath("books/a"), ["n": .integer(1)])
            #expect(try await hearth("set", "c/d", "{}", "--database", "other", "--server", server.address).status == .code(0))
            #expect(try await server.stop() == .code(0))
            let created = try await hearth("backup", "create", "--data", data.path, "--to", backups.path)
            let backup = backups.path + "/" + (try #require(created.output.first))
            let scratch = folder.appending(path: "scratch")
            try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: false)
            let verified = try await hearth("backup", "verify", backup, "--restore-in", scratch.path)
            #expect(verified.status == .code(0), "\(verified)")
            #expect(verified.output.last == "restored, opened and checked, 2 documents: no findings", "\(verified)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == [])
        }
    }

    /// Returns a manifest of a backup that was made long ago, in the format of that time, which has no digest.
    private static func antedated(_ manifest: String) -> String {
        manifest.replacing(/"startTime":"20\d\d/, with: #""startTime":"2001"#)
            .replacing(#"{"format":2"#, with: #"{"format":1"#).replacing(/,"digest":"[0-9a-f]+"/, with: "")
    }

    @Test func `A server makes the backup that is due when it starts, and keeps as many as it is told`() async throws {
        try await withTemporaryFolder { folder in
            let (data, backups) = (folder.appending(path: "data"), folder.appending(path: "backups"))
            let arguments = ["--backups", backups.path, "--backup-hours", "24", "--keep-backups", "2"]
            let first = try await EndToEndServer(data: data, arguments: arguments)
            while try Self.names(in: backups).isEmpty { try await Task.sleep(for: .milliseconds(20)) }
            for _ in 0..<2 {
                #expect(try await hearth("backup", "create", "--server", first.address).status == .code(0))
            }
            #expect(try await first.stop() == .code(0))
            let made = try Self.names(in: backups)
            #expect(made.count == 3)

            // As if they had been made long ago.
            for name in made {
                let manifest = backups.appending(path: "\(name)/backup.json")
                let text = try String(contentsOf: manifest, encoding: .utf8)
                try Self.antedated(text).write(to: manifest, atomically: true, encoding: .utf8)
            }
            let second = try await EndToEndServer(data: data, arguments: arguments)
            while try Self.names(in: backups).count != 2 { try await Task.sleep(for: .milliseconds(20)) }
            #expect(try await second.stop() == .code(0))
            #expect(try !Self.names(in: backups).isSubset(of: made))
        }
    }

    @Test(.enabled(if: TmpfsVolume.isAvailable))
    func `On a disk that holds the backups to keep and no more, the oldest one gives way to the new one`() async throws {
        try await TmpfsVolume.with(size: "96m") { volume in
            try await withTemporaryFolder { folder in
                let (data, backups) = (folder.appending(path: "data"), volume.folder.appending(path: "backups"))
                let first = try await EndToEndServer(data: data, arguments: ["--backups", backups.path])
                /// Makes a backup that shares no document with earlier ones, and returns its name and its size in KiB.
                func makeBackup() async throws -> (name: String, size: Int) {
                    for number in 0..<3 {
                        let text = Hexadecimal.random(byteCount: 400_000)
                        _ = try await first.connection.set(DocumentPath("books/b\(number)"), ["text": .string(text)])
                    }
                    let name = try #require(try await hearth("backup", "create", "--server", first.address).output.first)
                    return (name, try await Self.number("du -sk '\(backups.path)/\(name)'"))
                }
                let (oldest, second, third) = (try await makeBackup(), try await makeBackup(), try await makeBackup())
                #expect(try await first.stop() == .code(0))
                // The third one lacks half of what the oldest takes.
                try FileManager.default.removeItem(at: backups.appending(path: third.name))
                let free = try await Self.number("df -k --output=avail '\(backups.path)' | tail -1")
                let ballast = free - third.size + oldest.size / 2
                #expect(
                    try await shell("head -c \(ballast)K /dev/zero > '\(volume.folder.path)/ballast'").status == .code(0)
                )
                let failed = try await hearth("backup", "create", "--data", data.path, "--to", backups.path)
                #expect(failed.errorText.contains("RESOURCE_EXHAUSTED"), "\(failed)")
                #expect(try Self.names(in: backups) == [oldest.name, second.name])
                for name in [oldest.name, second.name] {
                    let manifest = backups.appending(path: "\(name)/backup.json")
                    let text = try String(contentsOf: manifest, encoding: .utf8)
                    try Self.antedated(text).write(to: manifest, atomically: true, encoding: .utf8)
                }
                let arguments = ["--backups", backups.path, "--backup-hours", "24", "--keep-backups", "2"]
                let server = try await EndToEndServer(data: data, arguments: arguments)
                try await eventually { try !Self.names(in: backups).isSubset(of: [oldest.name, second.name]) }
                let left = try Self.names(in: backups)
                #expect(left.count == 2 && left.contains(second.name), "\(left)")
                #expect(try await server.stop() == .code(0))
            }
        }
    }

    /// Returns the number at the beginning of the output of a command.
    private static func number(_ command: String) async throws -> Int {
        let line = try await shell(command).output.first
        return try #require(line?.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) })
    }

    @Test func `After the loss of the machine, a restore has all but the last seconds`() async throws {
        try await withTemporaryFolder { folder in
            let (data, backups) = (folder.appending(path: "data"), folder.appending(path: "backups"))
            let server = try await EndToEndServer(data: data, arguments: ["--backups", backups.path, "--archive-seconds", "1"])
            let created = try await hearth("backup", "create", "--server", server.address)
            let backup = try backups.path + "/" + #require(created.output.first)
            _ = try await server.connection.set(DocumentPath("books/later"), ["n": .integer(1)])
            // Until the commit is in the archive.
            let journals = backups.appending(path: "journals")
            while Self.size(of: journals) == 0 { try await Task.sleep(for: .milliseconds(20)) }
            _ = try await server.stop(with: SIGKILL)
            try FileManager.default.removeItem(at: data)
            let restored = try await hearth("restore", backup, "--data", data.path, "--to", "2100-01-01T00:00:00Z")
            #expect(restored.output.first?.hasPrefix("hearth/(default): 1 document as of commit 1, ") == true, "\(restored)")
            #expect(restored.errorText.contains("no later commit is known"), "\(restored)")
        }
    }

    private static func size(of folder: URL) -> Int {
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.fileSizeKey])
        return (files?.allObjects as? [URL] ?? []).reduce(0) { total, file in
            total + (file.pathExtension == "journal" ? (try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0 : 0)
        }
    }

    private static func names(in backups: URL) throws -> Set<String> {
        Set(
            try FileManager.default.contentsOfDirectory(atPath: backups.path).filter { name in
                FileManager.default.fileExists(atPath: backups.appending(path: "\(name)/backup.json").path)
                    && !name.hasPrefix(".")
            }
        )
    }
}
