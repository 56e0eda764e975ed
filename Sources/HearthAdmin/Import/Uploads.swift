import DocumentModel
import StrictJSON
import Synchronization

/// Files that were sent to be imported, from when they were checked until they are.
///
/// They are held in memory, a few at a time: the oldest makes room for another.
final class Uploads: Sendable {
    /// A file, and how it becomes documents.
    struct Upload: Sendable {
        let id: UTF8Key
        let visitor: UTF8Key
        let file: MultipartForm.File
        let plan: ImportPlan
    }

    private let uploads = Mutex<[Upload]>([])

    /// How many bytes are held, over all files.
    private static let limit = 64 << 20

    /// Keeps a file, and gives the word by which it is had.
    func keep(_ file: MultipartForm.File, _ plan: ImportPlan, for visitor: UTF8Key) -> UTF8Key {
        let upload = Upload(id: UTF8Key(Nonce.make()), visitor: visitor, file: file, plan: plan)
        uploads.withLock { uploads in
            uploads.append(upload)
            while uploads.count > 1, uploads.reduce(0, { $0 + $1.file.bytes.count }) > Self.limit { uploads.removeFirst() }
        }
        return upload.id
    }

    /// A file of a visitor's.
    func upload(_ id: UTF8Key, for visitor: UTF8Key) -> Upload? {
        uploads.withLock { $0.first { $0.id == id && $0.visitor == visitor } }
    }

    /// Forgets a file.
    func remove(_ id: UTF8Key) {
        uploads.withLock { uploads in uploads.removeAll { $0.id == id } }
    }
}
