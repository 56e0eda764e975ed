import DocumentModel

/// The file system operations with which the store is compared.
enum DiskBaseline {
    static let unsynced = "create and rename without sync"
    static let durable = "write, fsync, rename, fsync folder"
    static let journalSync = "append and sync 1 KiB"

    /// Measures the minimum cost of a commit: one sync.
    static func measureSync(count: Int, in folder: String, into report: inout Report) async throws {
        let block = [UInt8](repeating: 0x68, count: 1_024)
        report.add(
            try await Measurement.run(journalSync, operations: count, unit: "sync") {
                try RawFileIO.appendAndSync(block, count: count, to: folder + "/journal")
            }
        )
    }

    /// Measures the cost of replacing files without sync, the minimum, and with a sync per file.
    static func measureFiles(_ documents: [Document], in folder: String, into report: inout Report) async throws {
        let files = documents.map { DocumentFile.encode($0, storesID: false) }
        report.add(
            try await Measurement.run(unsynced, operations: files.count, unit: "document") {
                for (index, file) in files.enumerated() { try RawFileIO.replace(folder + "/raw-\(index).json", with: file) }
            }
        )
        let sample = files.prefix(files.count / 20)
        report.add(
            try await Measurement.run(durable, operations: sample.count, unit: "document") {
                for (index, file) in sample.enumerated() {
                    try RawFileIO.replaceDurably("durable-\(index).json", in: folder, with: file)
                }
            }
        )
    }
}
