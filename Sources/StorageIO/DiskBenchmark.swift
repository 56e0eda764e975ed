package import DocumentModel
internal import UTF8Text

/// A measurement of how fast a disk makes data durable, by the operations of a store.
package enum DiskBenchmark {
    /// The durations of operations of one kind.
    package struct Series: Sendable {
        private var durations: [Duration] = []
        private var total = Duration.zero

        /// The rate of operations made one after the other.
        package var operationsPerSecond: Double {
            total == .zero ? 0 : Double(durations.count) / (total / .seconds(1))
        }

        /// Returns the duration that a percentage of the operations did not exceed.
        package func percentile(_ percent: Int) -> Duration {
            let sorted = durations.sorted()
            return sorted.isEmpty ? .zero : sorted[min(sorted.count - 1, sorted.count * percent / 100)]
        }

        fileprivate mutating func measure(_ body: () throws(FileSystemError) -> Void) throws(FileSystemError) {
            let start = ContinuousClock.now
            try body()
            let duration = ContinuousClock.now - start
            durations.append(duration)
            total += duration
        }
    }

    /// The result of a measurement.
    package struct Result: Sendable {
        /// Records that are appended and synced one by one.
        package internal(set) var syncs = Series()
        /// Small files that are written and get their name.
        package internal(set) var files = Series()
    }

    private static let recordBytes = 2_048
    private static let segmentBytes = 16 << 20
    private static let documentBytes = 512
    private static let folderName = TemporaryName.fixed("bench")

    /// Measures a disk. Nothing remains in the folder; if the process is killed, at most an empty folder and a file of 512 bytes do.
    ///
    /// - Parameters:
    ///   - path: A folder on the disk, which the operator chose.
    ///   - duration: The duration, three quarters of it for syncs.
    /// - Throws: The errors of opening and writing files.
    package static func run(inFolder path: String, for duration: Duration) async throws(StatusError) -> Result {
        try await WorkQueue(label: "hearth.bench", width: 1).run { () throws(StatusError) in
            do throws(FileSystemError) {
                return try measure(FileDescriptor.folder(atPath: path), for: duration)
            } catch {
                throw StatusError(
                    error.isNotFound ? .notFound : error.status("write", ".").code,
                    "Could not measure the disk of \(Excerpt(path, maximumBytes: 1_000)): \(error).",
                    cause: error
                )
            }
        }
    }

    private static func measure(
        _ folder: borrowing FileDescriptor,
        for duration: Duration
    ) throws(FileSystemError) -> Result {
        var result = Result()
        let start = ContinuousClock.now
        let record = [UInt8](repeating: UInt8(ascii: "x"), count: recordBytes)
        let journal = try folder.createUnnamedFile()
        try journal.allocate(segmentBytes)
        try journal.synchronize()
        var offset = 0
        while ContinuousClock.now - start < duration * 3 / 4 {
            try result.syncs.measure { () throws(FileSystemError) in
                try journal.write(record, at: offset)
                try journal.synchronizeData()
            }
            offset = (offset + recordBytes) % segmentBytes
        }
        _ = try folder.createFolder(folderName)
        let documents = try folder.openFolder(folderName)
        _ = try documents.removeFile("document.json")
        let document = [UInt8](repeating: UInt8(ascii: "x"), count: documentBytes)
        while ContinuousClock.now - start < duration {
            try result.files.measure { () throws(FileSystemError) in
                let file = try documents.createUnnamedFile()
                try file.write(document)
                try documents.link(file, as: "document.json")
            }
            _ = try documents.removeFile("document.json")
        }
        _ = try folder.removeFolder(folderName)
        return result
    }
}
