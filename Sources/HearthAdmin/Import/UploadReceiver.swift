import DocumentModel
import DocumentStore
import StorageIO
import UTF8Text

/// Receives a multipart form and writes its file to disk as the body arrives, in bounded memory.
struct UploadReceiver {
    typealias Failure = UploadFailure

    private let uploads: UploadStore
    private let owner: UTF8Key
    private let fileLimit: Int
    private var receivedBytes = 0
    private var parser: MultipartParser
    private var items: [(name: UTF8Key, value: UTF8Key)] = []
    private var file: UploadedFile?

    /// Fails when the `Content-Type` header has no valid boundary.
    ///
    /// - Parameters:
    ///   - uploads: The store with the folder in which the file is created, and the quota that it counts against.
    ///   - fileLimit: The maximum size of the file in bytes.
    init?(
        contentType: String,
        to uploads: UploadStore,
        of owner: UTF8Key,
        fileLimit: Int = UploadedFile.maximumBytes
    ) {
        guard let parser = MultipartParser(contentType: contentType) else { return nil }
        (self.parser, self.fileLimit) = (parser, fileLimit)
        (self.uploads, self.owner) = (uploads, owner)
    }

    /// The maximum size of the body: the file, the fields and the delimiters.
    var maximumBytes: Int { fileLimit + 2 * MultipartParser.maximumFieldBytes }

    /// Appends bytes of the body.
    mutating func append(_ bytes: [UInt8]) async throws(Failure) {
        receivedBytes += bytes.count
        guard receivedBytes <= maximumBytes else { throw .fileTooLarge }
        let events: [MultipartParser.Event]
        do throws(MultipartParser.SyntaxError) {
            events = try parser.parse(bytes)
        } catch {
            throw .malformedForm
        }
        for event in events {
            switch event {
            case .field(let name, let value): items.append((name, value))
            case .fileStart(let name):
                let reservation = uploads.makeReservation()
                file = UploadedFile(name: name, file: try await makeFile(), byteCount: 0, reservation: reservation)
            case .fileBytes(let bytes): try await write(bytes)
            }
        }
    }

    /// Returns the form once the whole body has been appended. If it has no file, pasted text takes its place.
    mutating func finish() async throws(Failure) -> Form {
        do throws(MultipartParser.SyntaxError) {
            try parser.finish()
        } catch {
            throw .malformedForm
        }
        if file?.byteCount ?? 0 == 0, let pasted = items.first(where: { $0.name == "pasted" })?.value, pasted.byteCount > 0 {
            file = UploadedFile(name: "", file: try await makeFile(), byteCount: 0, reservation: uploads.makeReservation())
            try await write(Array(pasted.utf8))
        }
        return Form(items: items, file: file.flatMap { $0.byteCount > 0 ? $0 : nil })
    }

    private func makeFile() async throws(Failure) -> UnlinkedFile {
        do throws(StatusError) {
            return try await UnlinkedFile.create(inFolder: uploads.folder)
        } catch {
            throw .storageFailed(error)
        }
    }

    private mutating func write(_ bytes: [UInt8]) async throws(Failure) {
        guard let file else { throw .malformedForm }
        guard file.byteCount + bytes.count <= fileLimit else { throw .fileTooLarge }
        guard uploads.reserve(bytes.count, in: file.reservation, for: owner) else { throw .quotaExceeded }
        do throws(StatusError) {
            try await file.file.write(bytes, at: file.byteCount)
        } catch {
            throw .storageFailed(error)
        }
        self.file?.byteCount += bytes.count
    }
}
