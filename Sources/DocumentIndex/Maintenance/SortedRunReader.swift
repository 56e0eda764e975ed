internal import Glibc
internal import StorageIO

/// A buffered reader of a sorted run.
final class SortedRunReader {
    /// The current change. It points into the buffer and is valid until the next step.
    private(set) var change = EntryChange(space: 0, prefix: 0, value: .empty, name: .empty, isAddition: false, isDouble: false)
    /// The range of the file that is not in the buffer yet.
    private var unreadFileRange: Range<Int>
    private var buffer: UnsafeMutableRawBufferPointer
    /// The range of the buffer after the current change.
    private var unreadBufferRange = 0..<0

    init(_ run: Range<Int>, bufferBytes: Int) {
        unreadFileRange = run
        buffer = .allocate(byteCount: bufferBytes, alignment: 8)
    }

    deinit {
        buffer.deallocate()
    }

    /// Advances to the next change; `false` at the end.
    func step(in file: borrowing FileDescriptor) throws(FileSystemError) -> Bool {
        if unreadBufferRange.isEmpty && unreadFileRange.isEmpty { return false }
        try fill(EntryChange.Header.byteCount, from: file)
        let header = EntryChange.Header(UnsafeRawBufferPointer(buffer), at: unreadBufferRange.lowerBound)
        try fill(EntryChange.Header.byteCount + header.valueBytes + header.nameBytes, from: file)
        let value = unreadBufferRange.lowerBound + EntryChange.Header.byteCount
        let name = value + header.valueBytes
        let end = name + header.nameBytes
        let bytes = UnsafeRawBufferPointer(buffer)
        let valueBytes = UnsafeRawBufferPointer(rebasing: bytes[value..<name])
        change = EntryChange(
            space: header.space,
            prefix: EntryChange.prefix(of: valueBytes),
            value: valueBytes,
            name: UnsafeRawBufferPointer(rebasing: bytes[name..<end]),
            isAddition: header.isAddition,
            isDouble: header.isDouble
        )
        unreadBufferRange = end..<unreadBufferRange.upperBound
        return true
    }

    /// Reads until the buffer has a number of unread bytes.
    ///
    /// - Throws: `EIO` when the file is shorter.
    private func fill(_ byteCount: Int, from file: borrowing FileDescriptor) throws(FileSystemError) {
        guard unreadBufferRange.count < byteCount else { return }
        let kept = UnsafeRawBufferPointer(rebasing: buffer[unreadBufferRange])
        if byteCount > buffer.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * byteCount, alignment: 8)
            larger.copyMemory(from: kept)
            buffer.deallocate()
            buffer = larger
        } else {
            buffer.copyMemory(from: kept)
        }
        let free = buffer[kept.count...].prefix(unreadFileRange.count)
        let read = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: free), at: unreadFileRange.lowerBound)
        unreadFileRange = unreadFileRange.lowerBound + read..<unreadFileRange.upperBound
        unreadBufferRange = 0..<kept.count + read
        guard unreadBufferRange.count >= byteCount else { throw FileSystemError("pread", code: EIO) }
    }
}

extension UnsafeRawBufferPointer {
    fileprivate static var empty: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}
