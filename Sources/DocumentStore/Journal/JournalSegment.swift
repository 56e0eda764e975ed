internal import StrictJSON

/// A journal segment: the file `journal/<sequence number of its first commit, 20 digits>.journal`.
///
/// A segment is a header of 64 bytes and then frames, one a commit, without gaps in their sequence numbers; behind the
/// last frame the file is zeros, or ends. Integers have their lowest byte first.
///
/// ```
/// offset  bytes
///      0      8   magic: "HearthJ\n"
///      8      4   version of the format: 3
///     12      4   CRC-32C of bytes 16 to 63
///     16     16   epoch: the database's history
///     32      8   sequence number of the first commit
///     40     24   zeros
/// ```
///
/// The header of the first segment of a history with the epoch 000102…0f:
///
/// ```
/// 48 65 61 72 74 68 4a 0a  03 00 00 00 a4 a7 03 c1
/// 00 01 02 03 04 05 06 07  08 09 0a 0b 0c 0d 0e 0f
/// 01 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
/// 00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
/// ```
///
/// The header is on disk before the first frame is written.
enum JournalSegment {
    /// The version of the format that this code writes. It reads version 2 as well, whose frames never tell who made a commit.
    static let version: UInt32 = 3
    private static let oldestVersion: UInt32 = 2
    /// Where the first frame is.
    static let headerBytes = 64

    private static let magic = Array("HearthJ\n".utf8)
    private static let suffix = ".journal"
    private static let nameDigits = 20

    /// What a header says.
    enum Header: Equatable {
        /// The header of a segment of that history that begins with that commit.
        case segment(epoch: Epoch, first: SequenceNumber)
        /// A segment of a format that this code doesn't know.
        case version(UInt32)
        /// Nothing has been written yet.
        case empty
        /// Not the header of a segment.
        case damaged
    }

    /// The file name of the segment that begins with `first`.
    static func name(first: SequenceNumber) -> String {
        let digits = first.description
        return String(repeating: "0", count: nameDigits - digits.utf8.count) + digits + suffix
    }

    /// The first commit of the segment with that file name, or nil for a file of another kind.
    static func first(ofName name: [UInt8]) -> SequenceNumber? {
        guard name.count == nameDigits + suffix.utf8.count, name.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) else {
            return nil
        }
        var number: UInt64 = 0
        for byte in name.prefix(nameDigits) {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            let (tens, isTooMany) = number.multipliedReportingOverflow(by: 10)
            let (sum, isTooLarge) = tens.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
            guard !isTooMany, !isTooLarge else { return nil }
            number = sum
        }
        return SequenceNumber(number)
    }

    /// The bytes of a header.
    static func header(epoch: Epoch, first: SequenceNumber) -> [UInt8] {
        var bytes = magic
        bytes.append(littleEndian: version)
        bytes.append(littleEndian: UInt32(0))
        bytes += epoch.bytes
        bytes.append(littleEndian: first.rawValue)
        bytes += repeatElement(0, count: headerBytes - bytes.count)
        bytes.put(littleEndian: checksum(ofHeader: bytes), at: 12)
        return bytes
    }

    /// Reads a header.
    static func readHeader(_ bytes: [UInt8]) -> Header {
        if bytes.allSatisfy({ $0 == 0 }) { return .empty }
        guard bytes.count == headerBytes else { return .damaged }
        var reader = ByteReader(bytes[...])
        guard let magic = reader.bytes(magic.count), magic.elementsEqual(self.magic),
            let version = reader.integer(UInt32.self), let checksum = reader.integer(UInt32.self)
        else { return .damaged }
        guard (oldestVersion...self.version).contains(version) else { return .version(version) }
        guard checksum == self.checksum(ofHeader: bytes), let epoch = reader.bytes(Epoch.byteCount).flatMap(Epoch.init(bytes:)),
            let first = reader.integer(UInt64.self)
        else { return .damaged }
        return .segment(epoch: epoch, first: SequenceNumber(first))
    }

    /// Whether a header is of the version that this code writes.
    static func isCurrent(_ header: [UInt8]) -> Bool {
        var reader = ByteReader(header.dropFirst(magic.count))
        return reader.integer(UInt32.self) == version
    }

    private static func checksum(ofHeader bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBytes { CRC32C.checksum(UnsafeRawBufferPointer(rebasing: $0[16...])) }
    }
}
