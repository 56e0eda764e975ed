import ArgumentParser
import CLinux
import DocumentModel
import DocumentStore
import FileStore
import Foundation
import UTF8Text

/// Edits of document files by other programs: how soon watchers see them, and what many at once cost, compared with `git checkout` of the
/// same files in a folder that nobody watches.
struct EditBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edits",
        abstract: "Edits of document files that become commits. Needs git."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Number of documents that a checkout changes.")
    var documents = 100_000

    @Option(help: "Number of single saves.")
    var saves = 200

    @Option(help: "Number of folders that are watched, each with one document.")
    var folders = 100_000

    private static let collections = 100
    private static let baseline = "git checkout"

    func run() async throws {
        var report = Report()
        let folder = options.folder + "/hearth-bench-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var configuration = FileStoreConfiguration(folder: folder + "/data")
        configuration.takesFolderEdits = true
        let store = try await FileStore.open(configuration, logger: .benchmark)
        try await measureSaves(in: store, folder + "/data/documents", &report)
        try await measureWriters(in: store, folder + "/data/documents", &report)
        try await measureCheckouts(in: store, folder, &report)
        await store.close()
        try await measureFolders(folder + "/folders", &report)
        if let path = options.json { try report.write(to: path) }
    }

    // MARK: Saves

    private func measureSaves(in store: FileStore, _ documents: String, _ report: inout Report) async throws {
        let path = try DocumentPath("saves/one")
        _ = try await store.commit([.set(path, ["n": .integer(0)])])
        var delays: [Double] = []
        var measurement = try await Measurement.run("save a file, until a watcher sees it", operations: saves, unit: "save") {
            var commits = store.commits(after: store.position.lastSequence).makeAsyncIterator()
            for number in 1...saves {
                let start = ContinuousClock.now
                try Self.write("{\"n\": \(number)}\n", to: documents + "/saves/one.json")
                while let commit = try await commits.next() {
                    if commit.change(to: path)?.after != nil { break }
                }
                delays.append((.now - start) / .milliseconds(1))
            }
        }
        delays.sort()
        measurement.quantities = [
            .init(name: "latency, p50", value: delays.percentile(50), unit: "ms"),
            .init(name: "latency, p99", value: delays.percentile(99), unit: "ms", maximum: 400),
        ]
        report.add(measurement)
    }

    // MARK: Writers

    private func measureWriters(in store: FileStore, _ documents: String, _ report: inout Report) async throws {
        let count = 20_000
        func write() async throws {
            try await withThrowingTaskGroup { group in
                for writer in 0..<8 {
                    group.addTask {
                        for number in 0..<count / 8 {
                            _ = try await store.commit([
                                .set(DocumentPath("w\(writer)/d\(number % 200)"), ["n": .integer(Int64(number))])
                            ])
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        try await write()
        report.add(try await Measurement.run("commits alone", operations: count, unit: "commit") { try await write() })
        let measurement = try await withThrowingTaskGroup { group in
            group.addTask {
                var number = 0
                while !Task.isCancelled {
                    try Self.write("{\"n\": \(number)}\n", to: documents + "/saves/s\(number % 1_000).json")
                    number += 1
                    try? await Task.sleep(for: .milliseconds(2))
                }
            }
            let measurement = try await Measurement.run(
                "commits next to 500 edits/s",
                operations: count,
                unit: "commit",
                target: Measurement.Target(baseline: "commits alone", ratio: 0.7)
            ) { try await write() }
            group.cancelAll()
            try await group.waitForAll()
            return measurement
        }
        report.add(measurement)
    }

    // MARK: Folders

    /// Compares a store that watches many folders with one that does not: memory, and reads of cached documents.
    private func measureFolders(_ folder: String, _ report: inout Report) async throws {
        let paths = try (0..<folders).map { try DocumentPath("f\($0)/d") }
        var configuration = FileStoreConfiguration(folder: folder)
        let store = try await FileStore.open(configuration, logger: .benchmark)
        for start in stride(from: 0, to: folders, by: 500) {
            _ = try await store.commit(paths[start..<min(start + 500, folders)].map { try .set($0, ["n": .integer(1)]) })
        }
        try await store.waitUntilIndexed()
        await store.close()
        // Without the memory of a first start.
        _ = try await measureReads("", of: paths, in: configuration, watching: false)
        var plain = try await measureReads("gets without edits of files", of: paths, in: configuration, watching: false)
        configuration.takesFolderEdits = true
        var watching = try await measureReads("gets beside watched folders", of: paths, in: configuration, watching: true)
        let difference = watching.processorMicroseconds - plain.processorMicroseconds
        watching.quantities += [
            .init(name: "more processor time a get", value: difference, unit: "µs", maximum: 1),
            .init(
                name: "more memory a folder",
                value: (watching.quantities[0].value - plain.quantities[0].value) / Double(folders),
                unit: "bytes",
                maximum: 1_024
            ),
        ]
        for index in plain.quantities.indices { plain.quantities[index].value /= 1_048_576 }
        watching.quantities[0].value /= 1_048_576
        report.add(plain)
        report.add(watching)
    }

    /// Measures reads of 1,000 documents, after the first scan of all folders, and the memory that is allocated then.
    private func measureReads(
        _ name: String,
        of paths: [DocumentPath],
        in configuration: FileStoreConfiguration,
        watching: Bool
    ) async throws -> Measurement {
        let store = try await FileStore.open(configuration, logger: .benchmark)
        let start = ContinuousClock.now
        if watching, let path = paths.last {
            let sequence = store.position.lastSequence
            let file = "\(configuration.folder)/documents/\(path.string).json"
            try Self.write("{\"n\": \(Int.random(in: 2...1_000_000))}", to: file)
            var commits = store.commits(after: sequence).makeAsyncIterator()
            _ = try await commits.next()
        }
        let scanTime = ContinuousClock.now - start
        let read = paths.prefix(1_000)
        for path in read { _ = try await store.document(at: path) }
        let rounds = 200
        let idleTime = Measurement.ownProcessorTime()
        try await Task.sleep(for: .seconds(1))
        let idle = Measurement.ownProcessorTime() - idleTime
        var measurement = try await Measurement.run(name, operations: rounds * read.count, unit: "get") {
            for _ in 0..<rounds {
                for path in read { _ = try await store.document(at: path) }
            }
        }
        measurement.quantities = [.init(name: "memory in use", value: Double(mallinfo2().uordblks), unit: "MiB")]
        if watching {
            measurement.quantities += [
                .init(name: "first scan, and the commit of an edit", value: scanTime / .seconds(1), unit: "s"),
                .init(name: "processor time of an idle second", value: idle / .milliseconds(1), unit: "ms"),
            ]
        }
        await store.close()
        return measurement
    }

    // MARK: Checkouts

    private func measureCheckouts(in store: FileStore, _ folder: String, _ report: inout Report) async throws {
        let plain = folder + "/plain"
        try git(in: folder, "init", "-q", plain)
        for version in 1...2 {
            for number in 0..<documents { try Self.write(Self.text(number, version), to: plain + "/" + Self.file(number)) }
            try git(in: plain, "add", "-A")
            try git(in: plain, "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "\(version)")
            try git(in: plain, "tag", "v\(version)")
        }
        try git(in: plain, "checkout", "-q", "v1")
        report.add(
            try await Measurement.run(Self.baseline, operations: documents, unit: "file") {
                try git(in: plain, "checkout", "-q", "v2")
            }
        )
        let tree = ["--git-dir=\(plain)/.git", "--work-tree=\(folder)/data/documents"]
        for (version, name) in [(1, "checkout that creates documents"), (2, "checkout that changes documents")] {
            let start = store.position.lastSequence
            var commitCount = 0
            var measurement = try await Measurement.run(
                name,
                operations: documents,
                unit: "file",
                target: version == 1 ? nil : Measurement.Target(baseline: Self.baseline, ratio: 1.0 / 3)
            ) {
                try git(in: folder, tree + ["checkout", "-qf", "v\(version)", "--", "."])
                var count = 0
                for try await commit in store.commits(after: start) {
                    commitCount += 1
                    count += commit.changes.count { $0.path.collection.id.key.string.hasPrefix("c") }
                    if count >= documents { break }
                }
            }
            measurement.quantities = [.init(name: "commits", value: Double(commitCount), unit: "")]
            report.add(measurement)
            try await store.waitUntilIndexed()
        }
    }

    private func git(in folder: String, _ arguments: String...) throws {
        try git(in: folder, arguments)
    }

    private func git(in folder: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["git", "-C", folder] + arguments
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ValidationError("git \(arguments.joined(separator: " ")) failed with status \(process.terminationStatus).")
        }
    }

    private static func file(_ number: Int) -> String { "c\(number % collections)/d\(number).json" }

    private static func text(_ number: Int, _ version: Int) -> String {
        let text = String(repeating: "x", count: 120)
        return
            "{\n  \"n\": \(number),\n  \"text\": \"\(text)\",\n  \"title\": \"document \(number)\",\n  \"version\": \(version)\n}\n"
    }

    /// Writes a file as editors and git do: without a sync, which would make them wait for the disk.
    private static func write(_ text: String, to path: String) throws {
        do {
            try RawFileIO.write(Array(text.utf8), to: path)
        } catch {
            let folder = URL(filePath: path).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try RawFileIO.write(Array(text.utf8), to: path)
        }
    }
}
