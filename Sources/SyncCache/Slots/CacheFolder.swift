package import DocumentModel
internal import UTF8Text

/// A folder with the caches of a principal at a database of a server, in numbered slots: one for each process that uses it.
///
/// Each principal has a folder, since documents that one may read are not shown to another.
package struct CacheFolder: Hashable, Sendable {
    /// The path.
    package let path: String

    /// Creates the description of a folder. It need not exist.
    package init(path: String) {
        self.path = path
    }

    /// Creates the description of the folder for a server, a database and a principal.
    ///
    /// - Parameter base: The folder that contains those of all principals.
    package init(in base: String, server: String, database: String, principal: String) {
        self.init(path: base + "/" + Self.name(server: server, database: database, principal: principal))
    }

    /// Returns a name of a folder: a readable prefix of letters, digits and dashes, and 128 bits of hash, so that different strings
    /// have different names, also on a file system that ignores case.
    static func name(server: String, database: String, principal: String) -> String {
        let parts = [server, database, principal]
        var hashes: [UInt8] = []
        for salt in 0..<2 {
            var checksum = RowChecksum()
            checksum.add(Int64(salt))
            for part in parts { checksum.add(part) }
            // The last bytes of a text reach only some bits of the hash.
            checksum.add(Int64(salt))
            withUnsafeBytes(of: checksum.value.bigEndian) { hashes += $0 }
        }
        let readable = parts.map { part in
            String(decoding: part.utf8.prefix(24).map { isPlain($0) ? $0 : UInt8(ascii: "-") }, as: UTF8.self)
        }
        return (readable + [Hexadecimal.encode(hashes)]).joined(separator: "-")
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// Takes the first slot that nobody holds. It is created if needed.
    ///
    /// - Parameter isSuitable: Returns whether a slot can be taken; new ones can.
    package func takeSlot(where isSuitable: (CacheSlot) -> Bool = { _ in true }) throws(StatusError) -> CacheSlot {
        var number = 0
        while true {
            if let slot = try CacheSlot.take(number, in: path), isSuitable(slot) { return slot }
            number += 1
        }
    }

    /// Takes those free slots whose queues have batches or rejected ones, left by processes that have ended. The application sends
    /// what they have.
    ///
    /// A slot with a damaged queue, or one of a newer format, counts as one whose queue is not empty.
    package func takeAbandonedSlots() throws(StatusError) -> [CacheSlot] {
        var slots: [CacheSlot] = []
        for number in try slotNumbers() {
            guard let slot = try CacheSlot.take(number, in: path) else { continue }
            if PersistentCache.hasQueuedBatches(in: slot.path) { slots.append(slot) }
        }
        return slots
    }

    /// Removes all slots, with the queued batches in them, unless one is held.
    ///
    /// - Returns: The numbers of the slots that are held. If there are any, nothing is removed.
    package func clear() throws(StatusError) -> [Int] {
        var (free, held): ([CacheSlot], [Int]) = ([], [])
        for number in try slotNumbers() {
            if let slot = try CacheSlot.take(number, in: path) { free.append(slot) } else { held.append(number) }
        }
        if held.isEmpty { for slot in free { try slot.clear() } }
        return held
    }

    private func slotNumbers() throws(StatusError) -> [Int] {
        try PrivateFile.names(in: path).compactMap { Int($0) }.filter { $0 >= 0 }.sorted()
    }
}
