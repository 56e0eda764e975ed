package import DocumentStore
internal import StorageIO

/// A journal segment: the file `journal/<sequence number of its first commit, 20 digits>.journal`.
///
/// A segment consists of a 64-byte header and records, one per commit, without gaps in their sequence numbers. After the last
/// record, the file contains zeros or ends. Integers are little-endian.
///
/// ```
/// offset  bytes
///      0      8   magic: "HearthJ\n"
///      8      4   format version: 4
///     12      4   CRC-32C of bytes 16 to 63
///     16     16   epoch of the database's history
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
/// The header is synced before the first record is written.
package enum JournalSegment {
    /// The format version of new segments.
    static let version: UInt32 = 4
    /// The oldest format version that is read. Its records have no author; those of version 3 have no receipt.
    static let oldestVersion: UInt32 = 2
    /// The header's size, and so the offset of the first record.
    package static let headerBytes = 64

    private static let magic = Array("HearthJ\n".utf8)
    private static let suffix = ".journal"
    private static let nameDigits = 20

    /// A decoded header.
    package enum Header: Equatable {
        /// The header of a segment of the history `epoch` whose first commit is `first`.
        case segment(epoch: Epoch, first: SequenceNumber)
        /// The header of a segment in an unsupported format version.
        case unsupportedVersion(UInt32)
        /// Zeros: the header has not been written.
        case empty
        /// Not a valid header.
        case damaged
    }

    /// The file name of the segment whose first commit is `first`.
    package static func name(first: SequenceNumber) -> String {
        let digits = first.description
        return String(repeating: "0", count: nameDigits - digits.utf8.count) + digits + suffix
    }

    /// The first commit of the segment with a file name; `nil` if the name is not a segment's.
    package static func first(ofName name: [UInt8]) -> SequenceNumber? {
        guard name.count == nameDigits + suffix.utf8.count, name.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) else {
            return nil
        }
        var number: UInt64 = 0
        for byte in name.prefix(nameDigits) {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            let (tens, overflowsProduct) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflowsSum) = tens.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
            guard !overflowsProduct, !overflowsSum else { return nil }
            number = sum
        }
        return SequenceNumber(number)
    }

    /// Encodes a header.
    static func header(epoch: Epoch, first: SequenceNumber) -> [UInt8] {
        var bytes = magic
        bytes.append(littleEndian: version)
        bytes.append(littleEndian: UInt32(0))
        bytes += epoch.bytes
        bytes.append(littleEndian: first.rawValue)
        bytes += repeatElement(0, count: headerBytes - bytes.count)
        bytes.overwrite(littleEndian: checksum(ofHeader: bytes), at: 12)
        return bytes
    }

    /// Decodes a header.
    package static func readHeader(_ bytes: [UInt8]) -> Header {
        if bytes.allSatisfy({ $0 == 0 }) { return .empty }
        guard bytes.count == headerBytes else { return .damaged }
        var reader = ByteReader(bytes[...])
        guard let magic = reader.bytes(magic.count), magic.elementsEqual(self.magic),
            let version = reader.integer(UInt32.self), let checksum = reader.integer(UInt32.self)
        else { return .damaged }
        guard (oldestVersion...self.version).contains(version) else { return .unsupportedVersion(version) }
        guard checksum == self.checksum(ofHeader: bytes), let epoch = reader.bytes(Epoch.byteCount).flatMap(Epoch.init(bytes:)),
            let first = reader.integer(UInt64.self)
        else { return .damaged }
        return .segment(epoch: epoch, first: SequenceNumber(first))
    }

    /// Returns whether a header has the format version of new segments.
    static func isCurrent(_ header: [UInt8]) -> Bool {
        var reader = ByteReader(header.dropFirst(magic.count))
        return reader.integer(UInt32.self) == version
    }

    private static func checksum(ofHeader bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBytes { CRC32C.checksum(UnsafeRawBufferPointer(rebasing: $0[16...])) }
    }
}
