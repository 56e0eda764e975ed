import DocumentModel
import DocumentStore
import Gzip
import StrictJSON

/// A file that was sent to be imported; it is on disk, without a name, and gone with this.
struct ImportFile: Sendable {
    /// What the browser calls it.
    let name: UTF8Key
    let file: TemporaryFile
    var byteCount: Int
    /// The room that it takes on the disk.
    let share: UploadRoom.Share

    /// How many bytes a file may have that is sent.
    static let maximumBytes = 1 << 30
    /// How many bytes a compressed file may come to.
    static let maximumUncompressedBytes = 4 << 30
}

/// The bytes of a file, part by part, uncompressed where they are in the format of gzip, and without a mark of their order.
struct ImportBytes {
    private let file: ImportFile
    private let limit: Int
    private let partBytes: Int
    private let isStopping: @Sendable () -> Bool
    private var offset = 0
    private var isFirst = true
    private var gunzip: GunzipStream?
    private var uncompressedCount = 0
    private var isAtEnd = false

    /// - Parameters:
    ///   - limit: How many bytes a compressed file may come to.
    ///   - partBytes: How much is read at once.
    ///   - isStopping: Whether to read no more; asked before each part, so that it is soon known whatever the file holds.
    init(
        _ file: ImportFile,
        uncompressedLimit limit: Int = ImportFile.maximumUncompressedBytes,
        partBytes: Int = 256 << 10,
        isStopping: @escaping @Sendable () -> Bool = { false }
    ) {
        self.file = file
        self.limit = limit
        self.partBytes = partBytes
        self.isStopping = isStopping
    }

    /// The next bytes, at least one; nil at the end.
    ///
    /// - Throws: `invalidArgument` for damaged compression, `resourceExhausted` for what comes to too much, `cancelled` when it is stopped.
    mutating func next() async throws(StatusError) -> [UInt8]? {
        guard var bytes = try await part() else { return nil }
        guard isFirst else { return bytes }
        isFirst = false
        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        while bytes.count < mark.count, let more = try await part() { bytes += more }
        if bytes.starts(with: mark) { bytes.removeFirst(mark.count) }
        return bytes.isEmpty ? try await part() : bytes
    }

    private mutating func part() async throws(StatusError) -> [UInt8]? {
        while true {
            guard !isStopping() else { throw StatusError(.cancelled, "The file is read no further.") }
            if let gunzip, let bytes = try uncompressed(gunzip) { return bytes }
            guard !isAtEnd else { return nil }
            let isFirst = offset == 0
            let bytes = try await file.file.read(isFirst ? max(partBytes, 2) : partBytes, at: offset)
            offset += bytes.count
            isAtEnd = bytes.isEmpty || offset >= file.byteCount
            if isFirst, GunzipStream.isGzip(bytes) { gunzip = GunzipStream() }
            guard let gunzip else { return bytes.isEmpty ? nil : bytes }
            gunzip.append(bytes)
        }
    }

    private mutating func uncompressed(_ gunzip: GunzipStream) throws(StatusError) -> [UInt8]? {
        let bytes: [UInt8]?
        do throws(GunzipStream.Malformed) {
            bytes = try gunzip.next()
            if bytes == nil, isAtEnd { try gunzip.finish() }
        } catch {
            throw StatusError(.invalidArgument, "The compression of the file is damaged, or the file is not all there.")
        }
        uncompressedCount += bytes?.count ?? 0
        guard uncompressedCount <= limit else {
            throw StatusError(
                .resourceExhausted,
                "The file comes to more than \(limit >> 20) MiB when it is uncompressed, as much as is taken. Divide it."
            )
        }
        return bytes
    }
}
