package import DocumentModel
package import DocumentStore
internal import StorageIO
internal import StrictJSON
internal import UTF8Text

/// A record of a journal segment: one commit, with the after-image of every document it changed and some before-images.
///
/// ```
/// offset  bytes
///      0      4   length of the data after the checksum, without padding; never 0
///      4      4   CRC-32C of that many bytes, from offset 8
///      8      8   sequence number of the commit
///     16      8   sequence number of the first commit written with the same sync
///     24      8   commit time, microseconds since 1970
///     32      4   number of changes
///     36          the changes, each:
///                   1   flags: bit 0, the document exists after the commit; bit 1, it existed before; bit 2, the before-image follows
///                   4   length of the path, and the path
///                 then the after-image when bit 0 is set, then the before-image when bit 2 is set, each:
///                   8   create time
///                   8   update time
///                   4   length of the fields, and the fields as compact JSON
///             4   only when the author is known or a receipt follows: length of the API key's ID, and the ID; 0 without an author
///             1   only when the commit has a receipt: 1, and
///            16     the ID of the client
///             8     the number of the commit
///             8     the number up to which the client had all answers
///             8     the fingerprint of the writes
///             4     length of the results, and the results as JSON; 0 when they were too large to be kept
///                 zeros up to a multiple of 8
/// ```
///
/// The before-image of a document is written by the first commit in a segment that changes it, and again by the first commit that
/// changes it after the database was opened. Each segment alone thus determines its documents at every time since its first
/// commit, even if earlier segments have been removed. The cost is one old version per updated document and segment; creations
/// cost nothing. Where another program has edited or removed the file of a document whose version was not known, there is none.
///
/// Commit 1, at 2024-01-02T03:04:05.000006Z, creates `a/b` with `{"n":1}`:
///
/// ```
/// 3f 00 00 00 9c 99 5b 88  01 00 00 00 00 00 00 00
/// 01 00 00 00 00 00 00 00  46 d3 4d c0 ed 0d 06 00
/// 01 00 00 00 01 03 00 00  00 61 2f 62 46 d3 4d c0
/// ed 0d 06 00 46 d3 4d c0  ed 0d 06 00 07 00 00 00
/// 7b 22 6e 22 3a 31 7d 00
/// ```
///
/// The batch number distinguishes a torn tail from damage: a batch is written only after the previous one has been synced. Intact
/// records after a broken one may belong to the same batch, none of which was acknowledged. A record of a later batch proves that
/// the broken one was intact once.
package struct JournalRecord: Hashable, Sendable {
    /// The commit. A change has a before-image only when the record contains one.
    package let commit: Commit
    /// The first commit written with the same sync.
    package let batch: SequenceNumber

    /// The result of decoding a record at an offset.
    package enum ReadResult: Equatable {
        /// An intact record, and its size including padding.
        case record(JournalRecord, byteCount: Int)
        /// Zeros or the end of the file: the next record will be written here.
        case end
        /// The beginning of a record of `byteCount` bytes, more than were given.
        case incomplete(byteCount: Int)
        /// Neither a record nor zeros.
        case damaged
    }
}

extension JournalRecord {
    /// The maximum size of a record: far larger than any request requires, and small enough to be read into memory.
    package static let maximumBytes = 128 << 20

    /// Records begin at multiples of this offset.
    static let alignment = 8

    private static let bodyOffset = 8
    private static let existsAfter: UInt8 = 0b01
    private static let existedBefore: UInt8 = 0b10
    private static let hasBeforeImage: UInt8 = 0b100
    /// The byte before a receipt.
    private static let receiptTag: UInt8 = 1

    /// Encodes a commit as a record of a batch.
    ///
    /// - Parameter includesBeforeImage: Decides whether the record contains a document's before-image; called once for each change,
    ///   in order.
    package static func append(
        _ commit: Commit,
        batch: SequenceNumber,
        to bytes: inout [UInt8],
        includingBeforeImage includesBeforeImage: (DocumentPath) -> Bool
    ) {
        let start = bytes.count
        bytes.append(littleEndian: UInt64(0))
        bytes.append(littleEndian: commit.sequence.rawValue)
        bytes.append(littleEndian: batch.rawValue)
        bytes.append(littleEndian: commit.time.microseconds)
        bytes.append(littleEndian: UInt32(commit.changes.count))
        for change in commit.changes {
            let before = includesBeforeImage(change.path) ? change.before : nil
            bytes.append(
                (change.after == nil ? 0 : existsAfter) | (change.existedBefore ? existedBefore : 0)
                    | (before == nil ? 0 : hasBeforeImage)
            )
            let path = change.path.string.utf8
            bytes.append(littleEndian: UInt32(path.count))
            bytes += path
            if let document = change.after { append(document, to: &bytes) }
            if let before { append(before, to: &bytes) }
        }
        if let author = commit.author {
            bytes.append(littleEndian: UInt32(author.byteCount))
            bytes += author.string.utf8
        } else if commit.receipt != nil {
            bytes.append(littleEndian: UInt32(0))
        }
        if let receipt = commit.receipt { append(receipt, to: &bytes) }
        let length = bytes.count - start - bodyOffset
        let checksum = bytes.withUnsafeBytes {
            CRC32C.checksum(UnsafeRawBufferPointer(rebasing: $0[(start + bodyOffset)...]))
        }
        bytes.overwrite(littleEndian: UInt32(length), at: start)
        bytes.overwrite(littleEndian: checksum, at: start + 4)
        bytes += repeatElement(0, count: paddedCount(length) - bodyOffset - length)
    }

    private static func append(_ receipt: CommitReceipt, to bytes: inout [UInt8]) {
        bytes.append(receiptTag)
        bytes += receipt.identity.client.bytes
        bytes.append(littleEndian: receipt.identity.number)
        bytes.append(littleEndian: receipt.identity.after)
        bytes.append(littleEndian: receipt.identity.fingerprint)
        let results = receipt.writeResults.map(CommitReceipt.encoded) ?? []
        bytes.append(littleEndian: UInt32(results.count))
        bytes += results
    }

    private static func append(_ document: EncodedDocument, to bytes: inout [UInt8]) {
        bytes.append(littleEndian: document.createTime.microseconds)
        bytes.append(littleEndian: document.updateTime.microseconds)
        bytes.append(littleEndian: UInt32(document.fieldsJSON.count))
        bytes += document.fieldsJSON
    }

    /// Decodes the record at the beginning of `bytes`.
    package static func read(_ bytes: ArraySlice<UInt8>) -> ReadResult {
        var reader = ByteReader(bytes)
        guard let length = reader.integer(UInt32.self).map(Int.init), let checksum = reader.integer(UInt32.self) else {
            return bytes.allSatisfy { $0 == 0 } ? .end : .damaged
        }
        if length == 0 { return checksum == 0 ? .end : .damaged }
        let byteCount = paddedCount(length)
        guard byteCount <= maximumBytes else { return .damaged }
        // The padding may be missing: a segment may have been truncated right after a record's body.
        guard let body = reader.bytes(length) else { return .incomplete(byteCount: byteCount) }
        guard body.withUnsafeBytes(CRC32C.checksum) == checksum, let record = JournalRecord(body: body) else { return .damaged }
        return .record(record, byteCount: byteCount)
    }

    private static func paddedCount(_ length: Int) -> Int {
        (bodyOffset + length + alignment - 1) / alignment * alignment
    }

    private init?(body: ArraySlice<UInt8>) {
        var reader = ByteReader(body)
        guard let sequence = reader.integer(UInt64.self), let batch = reader.integer(UInt64.self),
            let time = Self.timestamp(&reader), let count = reader.integer(UInt32.self)
        else { return nil }
        var changes: [CommittedChange] = []
        for _ in 0..<count {
            guard let change = Self.change(&reader) else { return nil }
            changes.append(change)
        }
        var author: UTF8Key?
        if !reader.isAtEnd {
            guard let text = reader.lengthPrefixedBytes().flatMap({ String(validating: $0, as: UTF8.self) }) else { return nil }
            if !text.isEmpty { author = UTF8Key(text) }
        }
        var receipt: CommitReceipt?
        if !reader.isAtEnd {
            receipt = Self.receipt(&reader)
            guard receipt != nil, reader.isAtEnd else { return nil }
        }
        commit = Commit(
            sequence: SequenceNumber(sequence),
            time: time,
            author: author,
            changes: changes,
            receipt: receipt
        )
        self.batch = SequenceNumber(batch)
    }

    private static func change(_ reader: inout ByteReader) -> CommittedChange? {
        guard let flags = reader.integer(UInt8.self), flags & ~(existsAfter | existedBefore | hasBeforeImage) == 0,
            let text = reader.lengthPrefixedBytes().flatMap({ String(validating: $0, as: UTF8.self) }),
            let path = try? DocumentPath(text)
        else { return nil }
        let after = flags & existsAfter == 0 ? nil : document(at: path, &reader)
        let before = flags & hasBeforeImage == 0 ? nil : document(at: path, &reader)
        guard (after == nil) == (flags & existsAfter == 0), (before == nil) == (flags & hasBeforeImage == 0) else { return nil }
        return CommittedChange(path: path, before: before, after: after, existedBefore: flags & existedBefore != 0)
    }

    private static func receipt(_ reader: inout ByteReader) -> CommitReceipt? {
        guard reader.integer(UInt8.self) == receiptTag,
            let client = reader.bytes(CommitClientID.byteCount).flatMap({ CommitClientID(bytes: $0) }),
            let number = reader.integer(UInt64.self), let after = reader.integer(UInt64.self),
            let fingerprint = reader.integer(UInt64.self), let results = reader.lengthPrefixedBytes()
        else { return nil }
        let identity = CommitIdentity(client: client, number: number, after: after, fingerprint: fingerprint)
        if results.isEmpty { return CommitReceipt(identity, writeResults: nil) }
        guard let writeResults = (try? JSONText(Array(results)).root).flatMap(CommitReceipt.results) else { return nil }
        return CommitReceipt(identity, writeResults: writeResults)
    }

    private static func document(at path: DocumentPath, _ reader: inout ByteReader) -> EncodedDocument? {
        guard let createTime = timestamp(&reader), let updateTime = timestamp(&reader), let fields = reader.lengthPrefixedBytes()
        else {
            return nil
        }
        return EncodedDocument(path: path, createTime: createTime, updateTime: updateTime, fieldsJSON: Array(fields))
    }

    private static func timestamp(_ reader: inout ByteReader) -> Timestamp? {
        reader.integer(Int64.self).flatMap { try? Timestamp(microseconds: $0) }
    }
}
