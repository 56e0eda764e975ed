import DocumentModel
import DocumentStore
import StrictJSON

/// Takes a form with a file off a request: the file goes to disk as it comes, so that little of it is ever held.
struct UploadReader {
    /// Why a form with a file isn't taken.
    enum Fault: Error {
        /// The file is larger than is taken.
        case tooLarge
        /// The form isn't as browsers send it.
        case malformed
        /// Other files take all the room that there is.
        case noRoom
        /// The file can't be kept.
        case failed(StatusError)
    }

    private let uploads: Uploads
    private let visitor: UTF8Key
    private let folder: String
    private let limit: Int
    /// How many bytes have come.
    private var byteCount = 0
    private var reader: MultipartReader
    private var items: [(name: UTF8Key, value: UTF8Key)] = []
    private var file: ImportFile?

    /// - Parameters:
    ///   - contentType: The header, which names the mark between the parts; nil comes of one that doesn't.
    ///   - uploads: Where the file takes its room.
    ///   - visitor: Who sends it.
    ///   - folder: Where the file is kept, without a name.
    ///   - limit: How many bytes it may have.
    init?(
        contentType: String,
        to uploads: Uploads,
        of visitor: UTF8Key,
        folder: String,
        limit: Int = ImportFile.maximumBytes
    ) {
        guard let reader = MultipartReader(contentType: contentType) else { return nil }
        (self.reader, self.folder, self.limit) = (reader, folder, limit)
        (self.uploads, self.visitor) = (uploads, visitor)
    }

    /// How many bytes the whole form may have: what is around the file is little.
    var maximumBytes: Int { limit + 2 * MultipartReader.maximumFieldBytes }

    /// Takes the next bytes.
    mutating func take(_ bytes: [UInt8]) async throws(Fault) {
        byteCount += bytes.count
        guard byteCount <= maximumBytes else { throw .tooLarge }
        let events: [MultipartReader.Event]
        do throws(MultipartReader.Malformed) {
            events = try reader.read(bytes)
        } catch {
            throw .malformed
        }
        for event in events {
            switch event {
            case .field(let name, let value): items.append((name, value))
            case .file(let name):
                file = ImportFile(name: name, file: try await makeFile(), byteCount: 0, share: uploads.makeShare())
            case .bytes(let bytes): try await write(bytes)
            }
        }
    }

    /// The form, when all of it has come.
    func finish() throws(Fault) -> Form {
        do throws(MultipartReader.Malformed) {
            try reader.finish()
        } catch {
            throw .malformed
        }
        return Form(items: items, file: file.flatMap { $0.byteCount > 0 ? $0 : nil })
    }

    private func makeFile() async throws(Fault) -> TemporaryFile {
        do throws(StatusError) {
            return try await TemporaryFile.make(inFolder: folder)
        } catch {
            throw .failed(error)
        }
    }

    private mutating func write(_ bytes: [UInt8]) async throws(Fault) {
        guard let file else { throw .malformed }
        guard file.byteCount + bytes.count <= limit else { throw .tooLarge }
        guard uploads.take(bytes.count, for: file.share, of: visitor) else { throw .noRoom }
        do throws(StatusError) {
            try await file.file.write(bytes, at: file.byteCount)
        } catch {
            throw .failed(error)
        }
        self.file?.byteCount += bytes.count
    }
}
