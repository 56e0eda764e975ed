import DocumentModel
import HearthService
import StrictJSON

/// Reads the documents of a file, and says of each that can't be read which line it is on and what is wrong.
///
/// It holds a few hundred KiB and one document, however large the file is.
struct ImportReader {
    /// Takes a document or what is wrong with it; gives whether to go on.
    typealias Body = (Result<ImportPlan.Entry, ImportPlan.Fault>) async throws(StatusError) -> Bool

    let plan: ImportPlan
    private let name: UTF8Key
    /// The rest of the file.
    var bytes: ImportBytes

    /// - Parameters:
    ///   - plan: How the file becomes documents; where it leaves the format open, that is known by the file's name or by what the file
    ///     begins with.
    ///   - isStopping: Whether to read no more.
    init(_ file: ImportFile, plan: ImportPlan, isStopping: @escaping @Sendable () -> Bool) {
        self.init(ImportBytes(file, isStopping: isStopping), name: file.name, plan: plan)
    }

    init(_ bytes: ImportBytes, name: UTF8Key, plan: ImportPlan) {
        (self.bytes, self.name, self.plan) = (bytes, name, plan)
    }

    /// Gives all documents, in the order of the file.
    ///
    /// - Throws: What keeps the file from being read; what is wrong with the file itself goes to `body`.
    mutating func read(_ body: Body) async throws(StatusError) {
        guard let first = try await next(at: 1, body) else { return }
        let format = plan.format == .automatic ? ImportFormat.format(ofName: name, first) : plan.format
        switch format {
        case .json: try await forEachPiece(from: first, body)
        case .csv: try await forEachRow(from: first, body)
        case .ndjson, .automatic: try await forEachLine(from: first, body)
        }
    }

    /// The next bytes; nothing at the end, and nil when there is something wrong with them, which is said, or reading is stopped: then
    /// what has come of a document is none.
    mutating func next(at line: Int, _ body: Body) async throws(StatusError) -> [UInt8]? {
        do throws(StatusError) {
            return try await bytes.next() ?? []
        } catch {
            if error.code == .cancelled { return nil }
            guard error.code == .invalidArgument || error.code == .resourceExhausted else { throw error }
            _ = try await body(.failure(.init(line: line, error: error)))
            return nil
        }
    }

    /// A document of the file, or what is wrong with it.
    func entry(
        line: Int,
        byteCount: Int,
        _ document: () throws(StatusError) -> (path: DocumentPath, fields: MapValue)
    ) -> Result<ImportPlan.Entry, ImportPlan.Fault> {
        do throws(StatusError) {
            let document = try document()
            return .success(.init(line: line, path: document.path, fields: document.fields, byteCount: byteCount))
        } catch {
            return .failure(.init(line: line, error: error))
        }
    }
}
