internal import DocumentModel
internal import SyncEngine
internal import UTF8Text

/// A reader of the rows of the table `batch` in pages that no other page leads to any more, since one above them is damaged.
///
/// The checksum of a row tells it from anything else in a page. Pages that are no longer in use may have rows that were deleted, so
/// the caller must know what is decided. The format of pages and records is that of https://www.sqlite.org/fileformat2.html.
struct BatchPageReader {
    private let bytes: [UInt8]
    private static let pageBytes = CacheSchema.pageBytes

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Calls `body` with each row that is found.
    func readBatches(_ body: (UserID, MutationBatch) -> Void) {
        for page in stride(from: 0, to: bytes.count, by: Self.pageBytes) where byte(page) == 0x0d {
            for cell in 0..<integer(page + 3, 2) {
                let offset = page + integer(page + 8 + 2 * cell, 2)
                guard offset > page, offset < page + Self.pageBytes, let row = row(at: offset) else { continue }
                body(row.user, row.batch)
            }
        }
    }

    private func row(at offset: Int) -> (user: UserID, batch: MutationBatch)? {
        var offset = offset
        guard let size = varint(&offset), varint(&offset) != nil, let payload = payload(Int(clamping: size), at: offset),
            let columns = columns(of: payload), columns.count == 8
        else { return nil }
        guard case .text(let user) = columns[1], case .integer(let number) = columns[2], case .integer(let time) = columns[3],
            case .integer(let checksum) = columns[5], case .text(let writes) = columns[7],
            let userText = String(validating: user, as: UTF8.self), let userID = try? UserID(columnText: userText)
        else { return nil }
        var base: [UInt8] = []
        if case .text(let text) = columns[6] { base = text }
        guard let number = UInt64(exactly: number), let time = try? Timestamp(microseconds: time),
            let batch = try? MutationBatch(number, time, base: base, writes: writes, checksum: checksum, user: userID)
        else { return nil }
        return (userID, batch)
    }

    /// Returns the payload of a cell, with that on overflow pages.
    private func payload(_ size: Int, at offset: Int) -> [UInt8]? {
        let usable = Self.pageBytes
        guard size > 0, size <= bytes.count else { return nil }
        guard size > usable - 35 else { return slice(offset, size) }
        let minimum = (usable - 12) * 32 / 255 - 23
        let preferred = minimum + (size - minimum) % (usable - 4)
        let local = preferred <= usable - 35 ? preferred : minimum
        guard var payload = slice(offset, local) else { return nil }
        var next = integer(offset + local, 4)
        while payload.count < size {
            let page = (next - 1) * usable
            guard next > 1, let part = slice(page + 4, min(usable - 4, size - payload.count)) else { return nil }
            payload += part
            next = integer(page, 4)
        }
        return payload
    }

    private enum Column {
        case null
        case integer(Int64)
        case text([UInt8])
    }

    /// Returns the columns of a record; `nil` if it has others than those of the table.
    private func columns(of payload: [UInt8]) -> [Column]? {
        let record = BatchPageReader(payload)
        var offset = 0
        guard let headerSize = record.varint(&offset), headerSize <= payload.count else { return nil }
        var types: [Int64] = []
        while offset < headerSize {
            guard let type = record.varint(&offset) else { return nil }
            types.append(type)
        }
        var columns: [Column] = []
        for type in types {
            switch type {
            case 0: columns.append(.null)
            case 8, 9: columns.append(.integer(type - 8))
            case 1...6:
                let length = [1, 2, 3, 4, 6, 8][Int(type) - 1]
                guard let part = record.slice(offset, length) else { return nil }
                var value: Int64 = part[0] >= 0x80 ? -1 : 0
                for byte in part { value = value << 8 | Int64(byte) }
                columns.append(.integer(value))
                offset += length
            case 13... where type % 2 == 1:
                guard let part = record.slice(offset, Int(clamping: (type - 13) / 2)) else { return nil }
                columns.append(.text(part))
                offset += part.count
            default: return nil
            }
        }
        return columns
    }

    // MARK: Bytes

    /// Returns a byte; 0 beyond the end.
    private func byte(_ offset: Int) -> UInt8 {
        bytes.indices.contains(offset) ? bytes[offset] : 0
    }

    private func integer(_ offset: Int, _ count: Int) -> Int {
        (0..<count).reduce(0) { $0 << 8 | Int(byte(offset + $1)) }
    }

    private func slice(_ offset: Int, _ count: Int) -> [UInt8]? {
        guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else { return nil }
        return Array(bytes[offset..<offset + count])
    }

    /// Reads an integer of one to nine bytes that is not negative.
    private func varint(_ offset: inout Int) -> Int64? {
        var value: Int64 = 0
        for index in 0..<9 {
            guard bytes.indices.contains(offset) else { return nil }
            let byte = bytes[offset]
            offset += 1
            if index == 8 { return nil }
            value = value << 7 | Int64(byte & 0x7f)
            if byte < 0x80 { return value }
        }
        return nil
    }
}
