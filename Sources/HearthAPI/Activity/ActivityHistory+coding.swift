package import DocumentModel
import PrometheusMetrics
import StorageIO

/// The stored form of a history, of a fixed size: `activity.samples` in the data folder.
extension ActivityHistory {
    private static let magic = Array("hearthac".utf8)
    private static let version: UInt32 = 1
    private static let headerBytes = 24
    private static let recordBytes = 8 + 4 + 4 * (5 + LatencyCounts.bucketCount) + 8 * 5
    private static let slotCount = Span.allCases.reduce(0) { $0 + $1.slotCount }
    /// The size of the stored form.
    package static let encodedBytes = headerBytes + slotCount * recordBytes + 4
    /// The stored form of an unknown gauge.
    private static let unknown = UInt64.max

    /// Returns the stored form.
    package func encoded() -> [UInt8] {
        var bytes = Self.magic
        bytes.reserveCapacity(Self.encodedBytes)
        bytes.append(littleEndian: Self.version)
        bytes.append(littleEndian: UInt32(Self.recordBytes))
        bytes.append(littleEndian: UInt32(LatencyCounts.bucketCount))
        bytes.append(littleEndian: UInt32(Self.slotCount))
        for span in Span.allCases {
            var records = [UInt8](repeating: 0, count: span.slotCount * Self.recordBytes)
            for sample in allSamples(span) {
                let start = span.position(of: sample.start) * Self.recordBytes
                records.replaceSubrange(start..<start + Self.recordBytes, with: Self.record(sample))
            }
            bytes += records
        }
        bytes.append(littleEndian: Self.checksum(bytes))
        return bytes
    }

    /// Takes over the samples of a stored form.
    ///
    /// - Throws: `.failedPrecondition` if a newer version of Hearth wrote it, `.dataLoss` if it is damaged; nothing is taken over then.
    package func restore(_ bytes: [UInt8]) throws(StatusError) {
        var reader = ByteReader(bytes[...])
        if reader.bytes(Self.magic.count).map({ $0.elementsEqual(Self.magic) }) == true,
            let version = reader.integer(UInt32.self), version > Self.version
        {
            throw StatusError(
                .failedPrecondition,
                "The file has format version \(version), but this version of Hearth reads versions up to \(Self.version). Use a newer "
                    + "version of Hearth."
            )
        }
        guard let samples = Self.samples(bytes) else {
            throw StatusError(.dataLoss, "The file has another size than its format, or its checksum does not match.")
        }
        for (span, samples) in samples { restore(samples, in: span) }
    }

    private static func samples(_ bytes: [UInt8]) -> [(Span, [ActivitySample])]? {
        guard bytes.count == encodedBytes else { return nil }
        var reader = ByteReader(bytes[...])
        let header = [version, UInt32(recordBytes), UInt32(LatencyCounts.bucketCount), UInt32(slotCount)]
        var end = ByteReader(bytes.suffix(4))
        guard reader.bytes(magic.count).map({ $0.elementsEqual(magic) }) == true,
            header.allSatisfy({ reader.integer(UInt32.self) == $0 }),
            end.integer(UInt32.self) == checksum(Array(bytes.dropLast(4)))
        else { return nil }
        var result: [(Span, [ActivitySample])] = []
        for span in Span.allCases {
            var samples: [ActivitySample] = []
            for _ in 0..<span.slotCount {
                guard var record = reader.bytes(recordBytes).map(ByteReader.init) else { return nil }
                if let sample = sample(&record) { samples.append(sample) }
            }
            result.append((span, samples))
        }
        return result
    }

    private static func record(_ sample: ActivitySample) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: UInt64(clamping: sample.start))
        bytes.append(littleEndian: UInt32(clamping: sample.milliseconds))
        for field in ActivityCounts.fields { bytes.append(littleEndian: UInt32(clamping: sample.counts[keyPath: field])) }
        for count in sample.counts.latencies.buckets { bytes.append(littleEndian: UInt32(clamping: count)) }
        for field in ActivityGauges.fields {
            bytes.append(littleEndian: sample.gauges[keyPath: field].map { UInt64(clamping: $0) } ?? unknown)
        }
        return bytes
    }

    /// Reads a record; `nil` for an empty slot.
    private static func sample(_ record: inout ByteReader) -> ActivitySample? {
        guard let start = record.integer(UInt64.self), let milliseconds = record.integer(UInt32.self), start > 0, milliseconds > 0
        else { return nil }
        var counts = ActivityCounts()
        for field in ActivityCounts.fields { counts[keyPath: field] = record.integer(UInt32.self).map(UInt64.init) ?? 0 }
        counts.latencies = LatencyCounts(
            (0..<LatencyCounts.bucketCount).map { _ in record.integer(UInt32.self).map(UInt64.init) ?? 0 }
        )
        var gauges = ActivityGauges(streams: nil, targets: nil, documentBytes: nil, journalBytes: nil, freeBytes: nil)
        for field in ActivityGauges.fields {
            gauges[keyPath: field] = record.integer(UInt64.self).flatMap { $0 == unknown ? nil : Int(clamping: $0) }
        }
        return ActivitySample(
            start: Int64(clamping: start),
            milliseconds: Int64(milliseconds),
            counts: counts,
            gauges: gauges
        )
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBytes { CRC32C.checksum($0) }
    }
}
