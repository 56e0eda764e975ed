internal import DocumentModel
internal import StrictJSON

/// One commit in a journal segment: its changes as the documents are afterwards, and some also as they were before.
///
/// ```
/// offset  bytes
///      0      4   length of what follows the checksum, padding not counted; never 0
///      4      4   CRC-32C of so many bytes from offset 8 on
///      8      8   sequence number of the commit
///     16      8   sequence number of the first commit that was written with the same sync
///     24      8   commit time, microseconds since 1970
///     32      4   number of changes
///     36          the changes, one after another:
///                   1   bit 0: the document exists afterwards; bit 1: it existed before; bit 2: it follows as it was before
///                   4   length of the path, and the path
///                 and when the document exists afterwards, and again when it follows as it was before
///                   8   create time
///                   8   update time
///                   4   length of the fields, and the fields as compact JSON
///             4   where it is known who made the commit: length of the ID of the key, and the ID
///                 zeros up to a multiple of 8
/// ```
///
/// A document that existed before is carried as it was then by the first commit of a segment that changes it, and by the first
/// after the database was opened. So each segment tells by itself what its documents were at any time from its beginning on,
/// whichever segments before it are gone. That costs an update the old document once a segment, and a creation nothing.
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
/// The commits that are synced together tell a torn end from damage: a batch is only written when the one before it is on
/// disk. Intact frames behind a broken one may be of the same batch, none of which was acknowledged; a frame of a later
/// batch proves that the broken one was whole once.
struct JournalFrame: Hashable, Sendable {
    /// The commit; its changes know what was before only where the frame carries that.
    let commit: Commit
    /// The first commit written with the same sync.
    let batch: SequenceNumber

    /// What stands at a place in a segment.
    enum Reading: Equatable {
        /// A frame, and how many bytes it takes with its padding.
        case frame(JournalFrame, byteCount: Int)
        /// Zeros, or nothing: here the next frame will be written.
        case end
        /// The beginning of a frame for which more bytes are needed: so many in all.
        case incomplete(byteCount: Int)
        /// Neither.
        case damaged
    }
}

extension JournalFrame {
    /// The longest frame: far more than the largest request makes, little enough to be read into memory.
    static let maximumBytes = 128 << 20

    /// Frames begin at multiples of this.
    static let alignment = 8

    private static let bodyOffset = 8
    private static let existsAfter: UInt8 = 0b01
    private static let existedBefore: UInt8 = 0b10
    private static let carriesBefore: UInt8 = 0b100

    /// Appends the frame of a commit to a batch.
    ///
    /// - Parameter carries: Whether a document is carried as it was before; asked of each change once, in order.
    static func append(
        _ commit: Commit,
        batch: SequenceNumber,
        to bytes: inout [UInt8],
        carryingBefore carries: (DocumentPath) -> Bool
    ) {
        let start = bytes.count
        bytes.append(littleEndian: UInt64(0))
        bytes.append(littleEndian: commit.sequence.rawValue)
        bytes.append(littleEndian: batch.rawValue)
        bytes.append(littleEndian: commit.time.microseconds)
        bytes.append(littleEndian: UInt32(commit.changes.count))
        for change in commit.changes {
            let before = carries(change.path) ? change.before : nil
            bytes.append(
                (change.after == nil ? 0 : existsAfter) | (change.existedBefore ? existedBefore : 0)
                    | (before == nil ? 0 : carriesBefore)
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
        }
        let length = bytes.count - start - bodyOffset
        let checksum = bytes.withUnsafeBytes {
            CRC32C.checksum(UnsafeRawBufferPointer(rebasing: $0[(start + bodyOffset)...]))
        }
        bytes.put(littleEndian: UInt32(length), at: start)
        bytes.put(littleEndian: checksum, at: start + 4)
        bytes += repeatElement(0, count: paddedCount(length) - bodyOffset - length)
    }

    private static func append(_ document: EncodedDocument, to bytes: inout [UInt8]) {
        bytes.append(littleEndian: document.createTime.microseconds)
        bytes.append(littleEndian: document.updateTime.microseconds)
        bytes.append(littleEndian: UInt32(document.fieldsJSON.count))
        bytes += document.fieldsJSON
    }

    /// Reads what stands at the beginning of `bytes`.
    static func read(_ bytes: ArraySlice<UInt8>) -> Reading {
        var reader = ByteReader(bytes)
        guard let length = reader.integer(UInt32.self).map(Int.init), let checksum = reader.integer(UInt32.self) else {
            return bytes.allSatisfy { $0 == 0 } ? .end : .damaged
        }
        if length == 0 { return checksum == 0 ? .end : .damaged }
        let byteCount = paddedCount(length)
        guard byteCount <= maximumBytes else { return .damaged }
        // A segment may have been cut off right behind a frame's body.
        guard let body = reader.bytes(length) else { return .incomplete(byteCount: byteCount) }
        guard body.withUnsafeBytes(CRC32C.checksum) == checksum, let frame = JournalFrame(body: body) else { return .damaged }
        return .frame(frame, byteCount: byteCount)
    }

    private static func paddedCount(_ length: Int) -> Int {
        (bodyOffset + length + alignment - 1) / alignment * alignment
    }

    private init?(body: ArraySlice<UInt8>) {
        var reader = ByteReader(body)
        guard let sequence = reader.integer(UInt64.self), let batch = reader.integer(UInt64.self),
            let time = Self.timestamp(&reader), let count = reader.integer(UInt32.self)
        else { return nil }
        var changes: [DocumentChange] = []
        for _ in 0..<count {
            guard let change = Self.change(&reader) else { return nil }
            changes.append(change)
        }
        var author: UTF8Key?
        if !reader.isAtEnd {
            guard let text = reader.countedBytes().flatMap({ String(validating: $0, as: UTF8.self) }), reader.isAtEnd else {
                return nil
            }
            author = UTF8Key(text)
        }
        commit = Commit(sequence: SequenceNumber(sequence), time: time, author: author, changes: changes)
        self.batch = SequenceNumber(batch)
    }

    private static func change(_ reader: inout ByteReader) -> DocumentChange? {
        guard let flags = reader.integer(UInt8.self), flags & ~(existsAfter | existedBefore | carriesBefore) == 0,
            let text = reader.countedBytes().flatMap({ String(validating: $0, as: UTF8.self) }),
            let path = try? DocumentPath(text)
        else { return nil }
        let after = flags & existsAfter == 0 ? nil : document(at: path, &reader)
        let before = flags & carriesBefore == 0 ? nil : document(at: path, &reader)
        guard (after == nil) == (flags & existsAfter == 0), (before == nil) == (flags & carriesBefore == 0) else { return nil }
        return DocumentChange(path: path, before: before, after: after, existedBefore: flags & existedBefore != 0)
    }

    private static func document(at path: DocumentPath, _ reader: inout ByteReader) -> EncodedDocument? {
        guard let createTime = timestamp(&reader), let updateTime = timestamp(&reader), let fields = reader.countedBytes() else {
            return nil
        }
        return EncodedDocument(path: path, createTime: createTime, updateTime: updateTime, fieldsJSON: Array(fields))
    }

    private static func timestamp(_ reader: inout ByteReader) -> Timestamp? {
        reader.integer(Int64.self).flatMap { try? Timestamp(microseconds: $0) }
    }
}
