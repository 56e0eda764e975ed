internal import Glibc

/// Reads the changes of a run from its file, one after the other.
final class EntryRunReader {
    /// The change that it is at, until the next step: it points into the buffer.
    private(set) var change = EntryChange(space: 0, prefix: 0, value: .empty, name: .empty, isAddition: false)
    /// Where in the file that is which was not read yet.
    private var rest: Range<Int>
    private var buffer: UnsafeMutableRawBufferPointer
    /// Where in the buffer that is which was not given yet.
    private var unread = 0..<0

    init(_ run: Range<Int>, bufferBytes: Int) {
        rest = run
        buffer = .allocate(byteCount: bufferBytes, alignment: 8)
    }

    deinit {
        buffer.deallocate()
    }

    /// Goes to the next change; false at the end.
    func step(in file: borrowing FileDescriptor) throws(SystemError) -> Bool {
        if unread.isEmpty && rest.isEmpty { return false }
        try fill(EntryChange.Header.byteCount, from: file)
        let header = EntryChange.Header(UnsafeRawBufferPointer(buffer), at: unread.lowerBound)
        try fill(EntryChange.Header.byteCount + header.valueBytes + header.nameBytes, from: file)
        let value = unread.lowerBound + EntryChange.Header.byteCount
        let name = value + header.valueBytes
        let end = name + header.nameBytes
        let bytes = UnsafeRawBufferPointer(buffer)
        let valueBytes = UnsafeRawBufferPointer(rebasing: bytes[value..<name])
        change = EntryChange(
            space: header.space,
            prefix: EntryChange.prefix(of: valueBytes),
            value: valueBytes,
            name: UnsafeRawBufferPointer(rebasing: bytes[name..<end]),
            isAddition: header.isAddition
        )
        unread = end..<unread.upperBound
        return true
    }

    /// Makes sure that so much is in the buffer.
    private func fill(_ byteCount: Int, from file: borrowing FileDescriptor) throws(SystemError) {
        guard unread.count < byteCount else { return }
        let kept = UnsafeRawBufferPointer(rebasing: buffer[unread])
        if byteCount > buffer.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * byteCount, alignment: 8)
            larger.copyMemory(from: kept)
            buffer.deallocate()
            buffer = larger
        } else {
            buffer.copyMemory(from: kept)
        }
        let room = buffer[kept.count...].prefix(rest.count)
        let read = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: room), at: rest.lowerBound)
        rest = rest.lowerBound + read..<rest.upperBound
        unread = 0..<kept.count + read
        guard unread.count >= byteCount else { throw SystemError("pread", code: EIO) }
    }
}

extension UnsafeRawBufferPointer {
    fileprivate static var empty: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}
