internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import Logging
internal import StorageIO
internal import StrictJSON
internal import UTF8Text

/// The receipts of identified commits in their file, `receipts.ndjson`: a header, then one client per line.
///
/// ```json
/// {"version":1,"sequence":17,"crc32c":"1c291ca3"}
/// {"client":"…","last":4,"lastUse":"2024-01-02T03:04:05.000006Z","answers":[{"number":4,"fingerprint":-3750763034362895579,"sequence":17,"commitTime":"…","results":[[1704164645000006]]}]}
/// ```
///
/// Each checkpoint writes the file before the manifest, so it has all commits up to the manifest's. The journal has those after it.
/// There is no file when no client has identified a commit.
struct StoredReceipts {
    /// The name of the file at the top level of the data folder.
    static let fileName = "receipts.ndjson"
    private static let version: Int64 = 1

    /// The last commit that is included.
    private(set) var sequence: SequenceNumber
    /// The receipts of all clients.
    private(set) var receipts: CommitReceipts

    /// Creates receipts that include the commits up to `sequence`.
    init(_ receipts: CommitReceipts, through sequence: SequenceNumber) {
        self.receipts = receipts
        self.sequence = sequence
    }

    /// The last commit that the file has; `nil` if there is none.
    var storedSequence: SequenceNumber? { receipts.clients.values.contains { $0.lastCommitted > 0 } ? sequence : nil }

    /// Adds the next commit of the log; one that is included has no effect.
    mutating func record(_ commit: Commit) {
        guard commit.sequence > sequence else { return }
        receipts.record(commit)
        sequence = commit.sequence
    }
}

// MARK: - The file

extension StoredReceipts {
    /// Reads the file; empty if there is none.
    ///
    /// - Throws: `.dataLoss` if it is damaged, or of a newer version.
    static func read(in data: DataFolder) throws(StatusError) -> StoredReceipts {
        guard let bytes = try data.contents(ofFile: fileName, maximumBytes: .max) else {
            return StoredReceipts(CommitReceipts(), through: SequenceNumber(0))
        }
        return try decode(bytes)
    }

    /// Returns the error of a file that is missing, or of another data folder or time; `nil` for the right one.
    ///
    /// - Parameters:
    ///   - sequence: The last commit that the file has; `nil` if there is none.
    ///   - last: The last commit of the database.
    static func mismatch(
        of sequence: SequenceNumber?,
        with manifest: DataFolderManifest,
        last: SequenceNumber
    ) -> StatusError? {
        switch (manifest.receiptsSequence, sequence) {
        case (nil, nil): nil
        case (.some, nil): damaged("it is missing", line: 1)
        case (let known, let found?):
            found >= known ?? .zero && found <= last
                ? nil : damaged("it belongs to another data folder, or to another time", line: 1)
        }
    }

    /// Sets a damaged file aside, and returns the receipts in the journal.
    ///
    /// - Parameter last: The last commit of the database.
    static func rebuild(
        in data: DataFolder,
        after damage: StatusError,
        _ journal: Journal,
        through last: SequenceNumber,
        logger: Logger
    ) throws(StatusError) -> StoredReceipts {
        let name = try data.contains(fileName) ? try data.setAside(fileName) : "none"
        logger.error(
            "The receipts of commits cannot be used; they are set aside, and those in the journal are used instead",
            metadata: ["error": "\(damage)", "file.path": "\(fileName)", "file.set_aside": "\(name)"]
        )
        var all = StoredReceipts(CommitReceipts(), through: journal.oldest?.previous ?? last)
        // As far as they can be read.
        while all.sequence < last, let commits = try? journal.commits(after: all.sequence, through: last), !commits.isEmpty {
            for commit in commits { all.record(commit) }
        }
        return all
    }

    /// Writes the file, or removes it if there are no receipts. Durable when this returns.
    func write(in data: DataFolder) throws(StatusError) {
        if storedSequence == nil {
            if try data.contains(Self.fileName) { try data.removeFile(Self.fileName) }
        } else {
            let bytes = encoded()
            try data.usingReserve { () throws(StatusError) in try data.replaceFile(Self.fileName, with: bytes) }
        }
    }

    /// Encodes the file.
    func encoded() -> [UInt8] {
        var lines: [UInt8] = []
        for (client, receipts) in receipts.clients where receipts.lastCommitted > 0 {
            lines += receipts.encoded(of: client)
            lines.append(UInt8(ascii: "\n"))
        }
        var header = JSONWriter()
        header.beginObject()
        header.key("version")
        header.integer(Self.version)
        header.key("sequence")
        header.integer(Int64(clamping: sequence.rawValue))
        header.key("crc32c")
        header.string(Self.checksum(of: lines[...]))
        header.endObject()
        return header.finish() + [UInt8(ascii: "\n")] + lines
    }

    /// - Throws: `.dataLoss` if the file is damaged.
    private static func decode(_ bytes: [UInt8]) throws(StatusError) -> StoredReceipts {
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
        let lines = bytes.dropFirst(end + 1)
        guard let header = try? JSONText(Array(bytes[..<end])).root, let version = header[integer: "version"],
            let sequence = header[integer: "sequence"], let checksum = header["crc32c"]?.string
        else { throw damaged("its header is not valid", line: 1) }
        guard version == Self.version else {
            throw damaged("it has version \(version) instead of \(Self.version)", line: 1)
        }
        guard checksum == Self.checksum(of: lines) else { throw damaged("its checksum does not match", line: 1) }
        var receipts = CommitReceipts()
        for (index, line) in lines.split(separator: UInt8(ascii: "\n")).enumerated() {
            guard let json = try? JSONText(Array(line)).root, let (client, answers) = ClientReceipts.client(json) else {
                throw damaged("the line is not a client", line: index + 2)
            }
            receipts.update(client, answers)
        }
        return StoredReceipts(receipts, through: SequenceNumber(UInt64(clamping: sequence)))
    }

    private static func checksum(of lines: ArraySlice<UInt8>) -> String {
        let checksum = lines.withUnsafeBytes(CRC32C.checksum)
        return Hexadecimal.encode(stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: checksum >> $0) })
    }

    private static func damaged(_ reason: String, line: Int) -> StatusError {
        StatusError(
            .dataLoss,
            "\(fileName) is damaged: \(reason).",
            file: StatusError.FileLocation(path: fileName, line: line, column: 1)
        )
    }
}
