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
            lines += Self.line(client, receipts)
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
            guard let json = try? JSONText(Array(line)).root, let (client, answers) = Self.client(json) else {
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

// MARK: - Clients

extension StoredReceipts {
    private static func line(_ client: CommitClientID, _ receipts: ClientReceipts) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("client")
        writer.string(client.text)
        writer.key("last")
        writer.integer(Int64(clamping: receipts.lastCommitted))
        writer.key("lastUse")
        writer.string(receipts.lastUse.rfc3339)
        writer.key("answers")
        writer.beginArray()
        for answer in receipts.answers {
            // Refusals are kept in memory only: nothing has happened.
            if case .success(let result) = answer.outcome { write(answer, result, to: &writer) }
        }
        writer.endArray()
        writer.endObject()
        return writer.finish()
    }

    private static func write(_ answer: ClientReceipts.Answer, _ result: CommitResult, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("number")
        writer.integer(Int64(clamping: answer.number))
        writer.key("fingerprint")
        writer.integer(Int64(bitPattern: answer.fingerprint))
        if let sequence = result.sequence {
            writer.key("sequence")
            writer.integer(Int64(clamping: sequence.rawValue))
        }
        writer.key("commitTime")
        writer.string(result.commitTime.rfc3339)
        if !result.hasDroppedResults {
            writer.key("results")
            CommitReceipt.write(result.writeResults, to: &writer)
        }
        writer.endObject()
    }

    private static func client(_ json: JSONNode) -> (CommitClientID, ClientReceipts)? {
        guard let client = json["client"]?.string.flatMap({ CommitClientID($0) }), let last = json[integer: "last"], last > 0,
            let lastUse = json[time: "lastUse"], let elements = json["answers"]?.elements
        else { return nil }
        var receipts = ClientReceipts(last: UInt64(last), lastUse: lastUse)
        for element in elements {
            guard let number = element[integer: "number"], number > 0, let fingerprint = element[integer: "fingerprint"],
                let commitTime = element[time: "commitTime"]
            else { return nil }
            var results: [WriteResult]?
            if let json = element["results"] {
                guard let known = CommitReceipt.results(json) else { return nil }
                results = known
            }
            receipts.restore(
                number: UInt64(number),
                fingerprint: UInt64(bitPattern: fingerprint),
                CommitResult(
                    sequence: element[integer: "sequence"].map { SequenceNumber(UInt64(clamping: $0)) },
                    commitTime: commitTime,
                    writeResults: results ?? [],
                    hasDroppedResults: results == nil
                )
            )
        }
        return (client, receipts)
    }
}

extension JSONNode {
    fileprivate subscript(integer key: UTF8Key) -> Int64? {
        guard case .integer(let value) = self[key]?.number else { return nil }
        return value
    }

    fileprivate subscript(time key: UTF8Key) -> Timestamp? {
        self[key]?.string.flatMap { try? Timestamp(rfc3339: $0) }
    }
}
