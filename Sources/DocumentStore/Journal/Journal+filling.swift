extension Journal {
    /// Fills a segment with zeros that is filled as far as `start`: as far as ``segmentBytes``, so that documents can be deleted
    /// however full the disk gets, or where there is no room for that, with half of what is left, but at least up to `end`.
    ///
    /// - Returns: How far it is filled then.
    func fill(_ file: borrowing FileDescriptor, from start: Int, atLeast end: Int) throws(SystemError) -> Int {
        var target = max(end, segmentBytes)
        if let free = try? folder.freeBytes(), target - start > free { target = max(end, start + free / 2) }
        do throws(SystemError) {
            try Self.fillWithZeros(file, from: start, to: target)
        } catch {
            // A quota, or another program, may leave less than the file system says.
            guard error.isNoSpace, target > end else { throw error }
            target = end
            try Self.fillWithZeros(file, from: start, to: target)
        }
        return target
    }

    /// Writes zeros and syncs them; none where there is no room for all.
    private static func fillWithZeros(_ file: borrowing FileDescriptor, from start: Int, to end: Int) throws(SystemError) {
        let zeros = [UInt8](repeating: 0, count: min(1 << 20, max(0, end - start)))
        var offset = start
        do throws(SystemError) {
            while offset < end {
                try file.write(end - offset < zeros.count ? Array(zeros.prefix(end - offset)) : zeros, at: offset)
                offset += zeros.count
            }
            try file.synchronize()
        } catch {
            // They take the place that others may need. When this fails too they stay, which does no harm.
            if error.isNoSpace { try? file.truncate(to: start) }
            throw error
        }
    }
}

/// A segment's file.
struct JournalFile: Sendable {
    let descriptor: SharedDescriptor
    /// How far it is filled with zeros.
    let byteCount: Int
}
