package import DocumentModel
package import StrictJSON

/// The record of a commit with an identity, by which a store answers it again.
package struct CommitReceipt: Hashable, Sendable {
    /// The identity of the commit.
    package let identity: CommitIdentity
    /// The results of the writes, in order; `nil` if they are too large to be kept.
    package let writeResults: [WriteResult]?

    /// Creates a receipt.
    package init(_ identity: CommitIdentity, writeResults: [WriteResult]?) {
        self.identity = identity
        self.writeResults = writeResults
    }

    /// The maximum memory of results that are kept, in bytes.
    package static let maximumResultBytes = 4 << 10

    /// Creates the receipt of a commit; without the results if these are too large.
    package init(_ identity: CommitIdentity, keeping writeResults: [WriteResult]) {
        self.init(
            identity,
            writeResults: Self.byteCount(of: writeResults) <= Self.maximumResultBytes ? writeResults : nil
        )
    }

    /// The approximate memory of results, which is also the maximum size of their JSON.
    static func byteCount(of results: [WriteResult]) -> Int {
        let byteCount = results.count * MemoryLayout<WriteResult>.stride
        guard byteCount <= maximumResultBytes, results.contains(where: { !$0.transformResults.isEmpty }) else { return byteCount }
        return byteCount + encoded(results).count
    }

    /// The maximum size of a receipt in the log.
    package static let maximumBytes = maximumResultBytes + 64
}

extension CommitReceipt {
    /// Encodes results as JSON: for each write an array of its update time in microseconds, or null, and the results of its
    /// transforms, such as `[[1704164645000006,5],[null]]`.
    package static func encoded(_ results: [WriteResult]) -> [UInt8] {
        var writer = JSONWriter()
        write(results, to: &writer)
        return writer.finish()
    }

    /// Writes results as ``encoded(_:)`` encodes them.
    package static func write(_ results: [WriteResult], to writer: inout JSONWriter) {
        writer.beginArray()
        for result in results {
            writer.beginArray()
            if let time = result.updateTime { writer.integer(time.microseconds) } else { writer.null() }
            for value in result.transformResults { value.write(to: &writer) }
            writer.endArray()
        }
        writer.endArray()
    }

    /// Decodes results; `nil` for any other value.
    package static func results(_ json: JSONNode) -> [WriteResult]? {
        guard let elements = json.elements else { return nil }
        var results: [WriteResult] = []
        for element in elements {
            guard let parts = element.elements.map(Array.init), let first = parts.first else { return nil }
            var time: Timestamp?
            if !first.isNull {
                guard case .integer(let microseconds) = first.number, let known = try? Timestamp(microseconds: microseconds)
                else {
                    return nil
                }
                time = known
            }
            var values: [Value] = []
            for part in parts.dropFirst() {
                guard let value = try? Value(json: part) else { return nil }
                values.append(value)
            }
            results.append(WriteResult(updateTime: time, transformResults: values))
        }
        return results
    }
}
