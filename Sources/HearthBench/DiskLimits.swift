import DocumentModel
import StrictJSON

/// What the file system can do with the documents' files: the limits that the store is measured against.
enum DiskLimits {
    static let unsynced = "create and rename, no sync"
    static let naive = "write, fsync, rename, fsync folder"
    static let journalSync = "append and sync 1 KiB"

    /// The least that a commit costs: one sync.
    static func measureSync(count: Int, in folder: String, into report: inout Report) async throws {
        let block = [UInt8](repeating: 0x68, count: 1_024)
        report.add(
            try await Measurement.run(journalSync, operations: count, unit: "sync") {
                try RawFile.appendAndSync(block, count: count, to: folder + "/journal")
            }
        )
    }

    /// The least that files cost, and what they cost in the naive durable way.
    static func measureFiles(_ documents: [Document], in folder: String, into report: inout Report) async throws {
        let files = documents.map { DocumentFile.encode($0, storesID: false) }
        report.add(
            try await Measurement.run(unsynced, operations: files.count, unit: "document") {
                for (index, file) in files.enumerated() { try RawFile.replace(folder + "/raw-\(index).json", with: file) }
            }
        )
        let few = files.prefix(files.count / 20)
        report.add(
            try await Measurement.run(naive, operations: few.count, unit: "document") {
                for (index, file) in few.enumerated() {
                    try RawFile.replaceDurably("naive-\(index).json", in: folder, with: file)
                }
            }
        )
    }
}
