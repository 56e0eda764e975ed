import DocumentModel
import DocumentStore
import Gzip
import StorageIO
import UTF8Text

/// An uploaded file. It is unlinked on disk, so that its space is freed with the last reference.
struct UploadedFile: Sendable {
    /// The file name that the browser sent.
    let name: UTF8Key
    let file: UnlinkedFile
    var byteCount: Int
    let reservation: UploadQuota.Reservation

    /// The maximum size in bytes.
    static let maximumBytes = 1 << 30
    /// The maximum size of a compressed file after decompression.
    static let maximumDecompressedBytes = 4 << 30
}

/// Reads an uploaded file in chunks, decompressed if it is gzip, and without a byte order mark.
struct UploadedFileReader {
    private let file: UploadedFile
    private let decompressedLimit: Int
    private let chunkBytes: Int
    private let isCancelled: @Sendable () -> Bool
    private var offset = 0
    private var isFirst = true
    private var gunzip: GzipDecompressor?
    private var decompressedCount = 0
    private var isAtEnd = false

    /// - Parameters:
    ///   - decompressedLimit: The maximum size of a compressed file after decompression.
    ///   - chunkBytes: The size of reads.
    ///   - isCancelled: Checked before each read, so that cancellation does not depend on the contents of the file.
    init(
        _ file: UploadedFile,
        decompressedLimit: Int = UploadedFile.maximumDecompressedBytes,
        chunkBytes: Int = 256 << 10,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.file = file
        self.decompressedLimit = decompressedLimit
        self.chunkBytes = chunkBytes
        self.isCancelled = isCancelled
    }

    /// Returns the next chunk, which is never empty; `nil` at the end.
    ///
    /// - Throws: `invalidArgument` for damaged gzip data, `resourceExhausted` when the size limit is exceeded, `cancelled` after
    ///   cancellation.
    mutating func next() async throws(StatusError) -> [UInt8]? {
        guard var bytes = try await chunk() else { return nil }
        guard isFirst else { return bytes }
        isFirst = false
        let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]
        while bytes.count < byteOrderMark.count, let more = try await chunk() { bytes += more }
        if bytes.starts(with: byteOrderMark) { bytes.removeFirst(byteOrderMark.count) }
        return bytes.isEmpty ? try await chunk() : bytes
    }

    private mutating func chunk() async throws(StatusError) -> [UInt8]? {
        while true {
            guard !isCancelled() else { throw StatusError(.cancelled, "The import was cancelled.") }
            if let gunzip, let bytes = try decompressed(gunzip) { return bytes }
            guard !isAtEnd else { return nil }
            let isFirst = offset == 0
            let bytes = try await file.file.read(isFirst ? max(chunkBytes, 2) : chunkBytes, at: offset)
            offset += bytes.count
            isAtEnd = bytes.isEmpty || offset >= file.byteCount
            if isFirst, GzipDecompressor.isGzip(bytes) { gunzip = GzipDecompressor() }
            guard let gunzip else { return bytes.isEmpty ? nil : bytes }
            gunzip.append(bytes)
        }
    }

    private mutating func decompressed(_ gunzip: GzipDecompressor) throws(StatusError) -> [UInt8]? {
        let bytes: [UInt8]?
        do throws(GzipDecompressor.Malformed) {
            bytes = try gunzip.next()
            if bytes == nil, isAtEnd { try gunzip.finish() }
        } catch {
            throw StatusError(.invalidArgument, "The gzip data is damaged or truncated.")
        }
        decompressedCount += bytes?.count ?? 0
        guard decompressedCount <= decompressedLimit else {
            throw StatusError(
                .resourceExhausted,
                "The decompressed file exceeds \(decompressedLimit >> 20) MiB. Split it into smaller files."
            )
        }
        return bytes
    }
}
